"""The kernel's automaton of substrings: against all runs of chunks spelled out, as rules, and of long texts."""

from __future__ import annotations

import itertools
import json
import random
import re

import numpy as np
import pytest

import maskwright
from maskwright import Grammar, GrammarCompiler, GrammarError, GrammarMatcher, LimitError, TokenizerInfo
from maskwright.frontends import substrings as front_end
from maskwright.ir import (
    EMPTY,
    OP_SUBSTRINGS,
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    capture,
    literal,
    not_,
    optional,
    postorder,
    ref,
    repeat,
    seq,
    star,
    substrings,
    text,
)
from oracle.comparing import compile_fresh, mask_of, scaled, seeded, walk
from oracle.model import Language
from oracle.vocabularies import of, strings

VOCAB = of(*strings(b"ab", 3), b"c", b"\xc3", b"\xa9", "é", "éa", b"<", b">", b"", b"abab", b"aaaaa")
BYTES = TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), b"ab", b"</s>"], stop_token_ids=[257])

CHUNKS = {
    "characters": ["a", "b", "a", "b", "c"],
    "one character again and again": ["a"] * 7,
    "periodic": ["a", "b", "b"] * 3,
    "equal chunks": ["ab", "ab", "a", "ab"],
    "prefixes of each other": ["a", "ab", "aba", "b", "a"],
    "read in several ways": ["a", "aa", "a", "aaa"],
    "all different, all alike in the beginning": ["aa", "ab", "aab", "aac", "aaab"],
    "of several bytes": ["é", "a", "é", "éa", "\u00ea"],
    "long ones": ["a", "a", "a", "abababab", "a"],
    "words": ["ab", " ", "ba", " ", "ab", " ", "c"],
    "two": ["a", "b"],
    "empty ones between": ["", "a", "", "", "b", "a", ""],
}

CONTEXTS = {
    "alone": lambda x: x,
    "between": lambda x: seq(text("<"), x, text(">")),
    "what follows may look alike": lambda x: seq(x, star(text("a")), text("c")),
    "one after the other": lambda x: seq(x, x),
    "in a loop": lambda x: star(seq(x, text("<"))),
    "counted": lambda x: repeat(seq(text("<"), x), 2, 30),
    "beside others": lambda x: alt(x, text("aac"), seq(text("b"), x, text(">"))),
    "recursive": lambda x: seq(x, optional(seq(text("<"), ref(0), text(">")))),
    "left-recursive": lambda x: alt(x, seq(ref(0), text("<"), x)),
    "captured": lambda x: seq(text("<"), capture("x", x), text(">")),
}


def runs(chunks: list[str]) -> Expr:
    """The definition: all runs, written out."""
    found = {"".join(chunks[i:j]) for i, j in itertools.combinations(range(len(chunks) + 1), 2)}
    return alt(EMPTY, *map(text, sorted(found)))


def grammar(body: Expr) -> GrammarIR:
    return GrammarIR((Rule("root", body),), 0)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", CHUNKS)
def test_against_the_definition(name: str, context: str) -> None:
    leaf, within = substrings([chunk.encode() for chunk in CHUNKS[name]]), CONTEXTS[context]
    compiled, language = compile_fresh(grammar(within(leaf)), VOCAB), Language(grammar(within(runs(CHUNKS[name]))))
    walk(compiled, language, VOCAB, seeded(name + context), steps=scaled(3))


def test_random_chunks() -> None:
    rng = seeded("substrings")
    for _ in range(scaled(40)):
        chunks = ["".join(rng.choices("ab", k=rng.choice((1, 1, 1, 2, 3)))) for _ in range(rng.randint(1, 9))]
        within = CONTEXTS[rng.choice(list(CONTEXTS))]
        leaf = substrings([chunk.encode() for chunk in chunks])
        walk(compile_fresh(grammar(within(leaf)), VOCAB), Language(grammar(within(runs(chunks)))), VOCAB, rng, steps=3)


def test_chunks_may_be_parts_of_characters() -> None:
    leaf = seq(literal(b"a"), substrings([b"\xc3", b"\xa9", b"\xc3"]))
    plain = seq(literal(b"a"), alt(EMPTY, *map(literal, (b"\xc3\xa9\xc3", b"\xa9\xc3", b"\xc3\xa9", b"\xc3", b"\xa9"))))
    walk(compile_fresh(grammar(leaf), VOCAB), Language(grammar(plain)), VOCAB, seeded("parts"), steps=6)


def test_few_chunks_are_plain_expressions() -> None:
    assert substrings([]) == EMPTY
    assert substrings([b"", b"ab", b""]).dump() == '"ab"?'
    assert substrings([b"a", b"", b'"b']).dump() == r'substrings("a", "\"b")?'
    assert substrings([b"a", b"b"]) == substrings((b"a", b"b", b""))


@pytest.mark.parametrize(
    "operand", [and_(optional(text("x")), substrings([b"a", b"b"])), not_(substrings([b"a", b"b"]))]
)
def test_operands_of_and_and_not_have_none(operand: Expr) -> None:
    with pytest.raises(LimitError) as caught:
        compile_fresh(grammar(operand), VOCAB)
    assert caught.value.limit == "regular_operands"


@pytest.mark.parametrize("fields", [(), ((),), ([b"a"],), ((b"a", b""),), ((b"a", "b"),), (b"ab",)])
def test_malformed_leaves_are_refused(fields: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, IndexError)):
        compile_fresh(grammar(Expr((OP_SUBSTRINGS, *fields))), VOCAB)


def in_both_ways(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Grammar, Grammar]:
    in_rules = Grammar.from_lark(source)
    monkeypatch.setattr(front_end, "MAX_IN_RULES", 0)
    made = Grammar.from_lark(source)
    assert [is_leaf(g) for g in (in_rules, made)] == [False, True]
    return in_rules, made


def is_leaf(g: Grammar) -> bool:
    return any(node[0] == OP_SUBSTRINGS for rule in g.ir.rules for node in postorder(rule.body))


@pytest.mark.parametrize(
    "source",
    [
        'start: %regex {"substring_chars": "abcabxabcd"}',
        'start: %regex {"substring_words": "to be, or not to be"} "."',
        'start: (x ";")*\nx[capture]: %regex {"substring_chunks": ["ab", "", "a", "ab", "abc"]}',
        'start: x "c"\nx[max_tokens=2]: %regex {"substring_chars": "abcabxabcd"}',
        'start: x "c"\nx[max_tokens=0]: %regex {"substring_chars": "abcabxabcd"}',
        'start: A "b" A\nA: "x" %regex {"substring_chars": "abcab"} "y"\n%ignore " "',
        'start: A B\nA: %regex {"substring_chars": "abcab"}\nB: "b"\n%ignore /#[^\\n]*/',
    ],
)
def test_as_with_rules(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matchers = [GrammarMatcher(GrammarCompiler(BYTES).compile_grammar(g)) for g in in_both_ways(source, monkeypatch)]
    rng = seeded(source)
    for _ in range(200):
        masks = [mask_of(matcher, BYTES.vocab_size) for matcher in matchers]
        assert masks[0] == masks[1]
        token = rng.choice(sorted(masks[0]))
        assert all(matcher.accept_token(token) for matcher in matchers)
        if matchers[0].is_terminated():
            for matcher in matchers:
                matcher.reset()


def test_printed_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = in_both_ways('start: "<" x\nx: %regex {"substring_chunks": ["a\\n", "é\\"", "b", "a"]}', monkeypatch)
    for again in (Grammar.from_ebnf(made.to_ebnf()), Grammar.from_lark(made.to_lark())):
        assert is_leaf(again)
        for output, is_complete in (('<é"ba', True), ("<a\n", True), ("<", True), ("<bé", False), ("<aa", False)):
            matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_grammar(again))
            assert (matcher.accept_string(output) and matcher.is_completed()) == is_complete
    with pytest.raises(GrammarError, match="a text that is too long"):
        made.to_regex()
    with pytest.raises(GrammarError, match="not characters"):
        Grammar(grammar(substrings([b"\xc3", b"\xa9"]))).to_ebnf()


WORDS = [f"{'abcdefghij'[i % 10]}{'klmno' * (i % 3)}{i % 700:x}" for i in range(40_000)]
LONG = {
    "characters": ("substring_chars", "".join(WORDS)[:200_000]),
    "words": ("substring_words", " ".join(WORDS)[:200_000]),
    "chunks": ("substring_chunks", [" ".join(WORDS[i : i + 10]) + "\n" for i in range(0, 30_000, 10)]),
    "one character": ("substring_chars", "a" * 200_000),
    "periodic": ("substring_chars", "abc" * 66_000),
    "a long chunk after many": ("substring_chunks", ["a"] * 100_000 + ["b" * 100_000]),
    "equal in the beginning": ("substring_chunks", ["a" * 90 + f"{i % 2_000}" for i in range(10_000)]),
    "read in many ways": ("substring_chunks", ["a" * (1 + i * i % 7 % 2) for i in range(50_000)]),
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts(name: str) -> None:
    kind, content = LONG[name]
    g = Grammar.from_lark(f"start: %regex {json.dumps({kind: content})}")
    assert is_leaf(g)
    compiled = GrammarCompiler(BYTES).compile_grammar(g)
    chunks = re.findall(r"\s+|\w+|[^\w\s]+", content) if kind == "substring_words" else content
    rng = random.Random(name)
    for _ in range(20):
        begin = rng.randrange(len(chunks))
        end = min(len(chunks), begin + rng.choice((1, 5, 40)))
        run = "".join(chunks[begin:end]).encode()[:2_000]
        matcher = GrammarMatcher(compiled)
        assert all(is_next(matcher, byte) and matcher.accept_token(byte) for byte in run)
        assert not is_next(matcher, ord("!"))
        assert not matcher.accept_token(ord("!"))
        assert matcher.is_completed() or len(run) == 2_000
    assert compiled.stats().shared_memory_bytes < 40_000_000


def is_next(matcher: GrammarMatcher, token: int) -> bool:
    bitmask = maskwright.allocate_token_bitmask(1, BYTES.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return bool(np.asarray(bitmask)[0, token // 32] >> (token % 32) & 1)


def test_limits() -> None:
    many, large = "a" * (front_end.MAX_CHUNKS + 1), ["b" * (front_end.MAX_BYTES // 1000 + 1)] * 1000
    for content, limit in (({"substring_chars": many}, "chunks"), ({"substring_chunks": large}, "bytes")):
        with pytest.raises(LimitError) as caught:
            Grammar.from_lark(f"start: %regex {json.dumps(content)}")
        assert caught.value.limit == f"substring {limit}"
    longest = ["ab"] * (front_end.MAX_BYTES // 2)  # the limits are below the kernel's
    compiled = GrammarCompiler(BYTES).compile_grammar(
        Grammar.from_lark(f"start: %regex {json.dumps({'substring_chunks': longest})}")
    )
    assert GrammarMatcher(compiled).accept_string("abab")
