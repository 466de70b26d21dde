"""Masks over vocabularies large enough for the ways that small ones never take.

Whole subtrees accepted as ranges, dense masks, masks derived from a similar state's, lengths counted per token: every
bit is compared with `accept_token`, which knows nothing of all that.
"""

from __future__ import annotations

import itertools
import random
import string

import numpy as np
import pytest

import maskwright as mw

LETTERS = string.ascii_letters + string.digits + "_- .,:;!?/"


def vocabulary() -> list[bytes]:
    """Some 9,000 tokens: bytes, pairs of characters, words, and what ends or escapes a JSON string within a token."""
    rng = random.Random(0)
    tokens = [bytes([b]) for b in range(256)]
    tokens += [(a + b).encode() for a, b in itertools.product(LETTERS, repeat=2)]
    tokens += ["".join(rng.choices(LETTERS + "éß漢🎉", k=rng.randint(3, 12))).encode() for _ in range(3000)]
    tokens += [("x" * n).encode() for n in range(3, 90, 7)]
    ends = ['"', '",', '"}', '":', '": "', '"]', "\\n", '\\"', "\\u00", "\\u0061", "\\", "\n", "\t"]
    tokens += [("".join(rng.choices(LETTERS, k=rng.randint(0, 4))) + end).encode() for end in ends for _ in range(40)]
    tokens += [s.encode()[:cut] for s in ("é", "漢", "🎉", "a漢", '漢"') for cut in range(1, len(s.encode()))]
    tokens += [b"\xc3\x28", b"\xed\xa0\x80", b"\xf8", b"a\xff", b"\x80a"]
    tokens += [b"name", b"nam", b"na", b'name"', b'name":', b'names"', b"ame", b'me"', b'\\u006eame"']
    return [*tokens, b"</s>"]


TOKENS = vocabulary()
STOP = len(TOKENS) - 1
INFO = mw.TokenizerInfo.from_vocab(TOKENS, stop_token_ids=[STOP], special_token_ids=[STOP])
COMPILER = mw.GrammarCompiler(INFO)

SCHEMAS = {
    "free string": {"type": "string"},
    "extra names": {"type": "object", "properties": {"name": {"type": "string"}, "names": {"type": "integer"}}},
    "many extra names": {
        "type": "object",
        "properties": {a + b: {} for a in LETTERS[:40] for b in ("", "a", '"', "é")},
    },
    "names by pattern": {"type": "object", "patternProperties": {"e_[ab]": {"type": "integer"}}},
    "one or more": {"type": "array", "items": {"type": "string", "minLength": 1}},
    "words and length": {"type": "string", "pattern": "^\\S+( \\S+)*$", "maxLength": 14},
    "within and length": {"type": "string", "pattern": "ab", "minLength": 4, "maxLength": 70},
    "short string": {"type": "string", "maxLength": 3},
    "counted string": {"type": "string", "minLength": 5, "maxLength": 90},
    "at least": {"type": "string", "minLength": 70},
    "exact length": {"type": "string", "minLength": 66, "maxLength": 66},
    "pattern": {"type": "string", "pattern": "^[a-z]+-[0-9]{2,}"},
    "pattern and length": {"type": "string", "pattern": "a.*b", "minLength": 3, "maxLength": 12},
    "anything": {},
    "list of strings": {"type": "array", "items": {"type": "string", "maxLength": 9}},
}
REGEXES = {
    "lines": r"([^\n]{0,20}\n){0,3}",
    "open text": r"<.*>x",
    "counted open": r"[a-z]{2,80}[0-9é]?",
    "not a word": r"(?!name$)[a-z]*",
    "no space": r"\S*!",
    "bytes apart": r"[^a]*漢.{3,70}!",
}
EBNF = {
    "text then tag": 'root ::= text "\\"" text\ntext ::= [^"]*',
    "counted rule": "root ::= (word){2,70} [.]\nword ::= [a-z]+ [ ]",
}


def grammars() -> dict[str, mw.CompiledGrammar]:
    out = {name: COMPILER.compile_json_schema(schema) for name, schema in SCHEMAS.items()}
    out |= {name: COMPILER.compile_regex(pattern) for name, pattern in REGEXES.items()}
    return out | {name: COMPILER.compile_grammar(text) for name, text in EBNF.items()}


def allowed_by_accept(matcher: mw.GrammarMatcher) -> np.ndarray:
    probe = matcher.fork()
    bits = np.zeros(INFO.vocab_size, dtype=bool)
    for token in range(INFO.vocab_size):
        if probe.accept_token(token):
            bits[token] = True
            probe.rollback()
    return bits


def allowed_by_mask(matcher: mw.GrammarMatcher) -> np.ndarray:
    mask = mw.allocate_token_bitmask(1, INFO.vocab_size)
    matcher.fill_next_token_bitmask(mask)
    return np.unpackbits(mask.view(np.uint8), bitorder="little")[: INFO.vocab_size].astype(bool)


@pytest.mark.parametrize("name", [*SCHEMAS, *REGEXES, *EBNF])
def test_every_bit_agrees_with_accept(name: str) -> None:
    grammar = grammars()[name]
    rng = random.Random(name)
    for _ in range(4):
        matcher = mw.GrammarMatcher(grammar)
        for _ in range(12):
            by_mask = allowed_by_mask(matcher)
            differing = np.flatnonzero(by_mask != allowed_by_accept(matcher))
            assert not differing.size, [(TOKENS[t], bool(by_mask[t])) for t in differing[:5]]
            choices = np.flatnonzero(by_mask)
            if not choices.size or not matcher.accept_token(int(rng.choice(choices))):
                break


@pytest.mark.parametrize("length", [1, 2, 30, 63, 64, 65, 66])
def test_every_bit_near_the_bounds_of_a_count(length: int) -> None:
    matcher = mw.GrammarMatcher(grammars()["exact length"])
    assert matcher.accept_string('"' + "x" * length)
    assert np.array_equal(allowed_by_mask(matcher), allowed_by_accept(matcher))


@pytest.mark.parametrize(
    ("name", "before"),
    [
        *(("extra names", before) for before in ('{"', '{"n', '{"name', '{"names', '{"x', '{"n\\u00e9')),
        *(("many extra names", before) for before in ('{"', '{"a', '{"a"', '{"é')),
        *(("names by pattern", before) for before in ('{"', '{"e', '{"e_', '{"e_a')),
        *(("one or more", before) for before in ('["', '["a', '["a", "')),
        *(("words and length", '"' + "a" * n) for n in (0, 1, 5, 11, 12, 13, 14)),
        *(("within and length", '"' + "b" * n) for n in (0, 1, 30, 66, 67, 68)),
        *(("within and length", '"' + "ab" * n) for n in (1, 2, 30, 34, 35)),
        *(("short string", '"' + "é" * n) for n in range(4)),
        *(("no space", before) for before in ("", "é", "!")),
    ],
)
def test_every_bit_after(name: str, before: str) -> None:
    matcher = mw.GrammarMatcher(grammars()[name])
    assert matcher.accept_string(before)
    differing = np.flatnonzero(allowed_by_mask(matcher) != allowed_by_accept(matcher))
    assert not differing.size, [TOKENS[t] for t in differing[:5]]
