"""Where engines of this kind broke: each case once with its exact vocabulary, compared with the model all the way."""

from __future__ import annotations

import bisect
from typing import NamedTuple

import pytest

import maskwright
from maskwright.ir import (
    ANY_BYTE,
    EMPTY,
    GrammarIR,
    alt,
    and_,
    byte_range,
    literal,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
    tokens,
)
from oracle import vocabularies
from oracle.comparing import check_state, compile_fresh, compile_ir, mask_of, scaled, seeded, walk
from oracle.grammars import A, B, grammar
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import SMALL, Vocab


class Case(NamedTuple):
    """A grammar, a vocabulary, and token texts that must be accepted one after the other, up to completion."""

    grammar: GrammarIR
    vocab: Vocab
    accepted: tuple[str, ...]


def pieces(*texts: str) -> Vocab:
    """These texts and all their single bytes."""
    singles = sorted({bytes((b,)) for t in texts for b in t.encode()} - {t.encode() for t in texts})
    return vocabularies.of(*texts, *singles)


LETTERS = plus(byte_range(ord("a"), ord("z")))
SENTENCE = seq(optional(ref(1)), ref(0), A)

CASES = {
    "a prefix is no substring": Case(grammar(text("xxa")), vocabularies.of("xa", "xxa"), ("xxa",)),
    "luluk": Case(grammar(plus(text("luluk"))), pieces("luluk", "luk", "lu", "kl"), ("lu", "luk", "luluk")),
    "carriage returns": Case(grammar(star(text("\r\r\n"))), pieces("\r\r\n", "\r\n", "\n\r"), ("\r", "\r\n", "\r\r\n")),
    "letters then b": Case(grammar(seq(LETTERS, B)), pieces("aab", "ab", "bb"), ("a", "ab", "b", "bb")),
    "aaa or a+b+z or b+x": Case(
        grammar(plus(alt(text("aaa"), seq(plus(A), plus(B), text("z")), seq(plus(B), text("x"))))),
        pieces("aa", "ab", "bbx", "aaab"),
        ("aa", "ab", "b", "x"),
    ),
    "a b or ab d": Case(
        grammar(alt(seq(A, ref(1)), text("abd")), text("bc")), pieces("ab", "bc", "abd", "abc"), ("ab", "c")
    ),
    "int!": Case(
        grammar(alt(seq(ref(1), text("t"), text("!")), seq(ref(2), text("?"))), text("in"), text("int")),
        pieces("in", "int", "t!", "int!", "nt?"),
        ("int", "!"),
    ),
    "think ends anywhere": Case(
        grammar(seq(text("<think>"), plus(ANY_BYTE), text("</think>"), text("X"))),
        pieces("<think>", "</think>", "</", "think>X", ">X", "XX"),
        ("<think>", "</think>", "</", "think>X"),
    ),
    "half a character": Case(
        grammar(alt(text("é"), text("ê"))), vocabularies.of(b"\xc3", b"\xa9", b"\xaa", "é", b"\xc3\xa9\xaa"), ("é",)
    ),
    "a character in two tokens": Case(
        grammar(plus(text("日本"))),
        vocabularies.of("日", b"\xe6\x9c", b"\xac", b"\xac\xe6", b"\x97\xa5", "本"),
        ("日", "本"),
    ),
    "the stop token is needed as text": Case(
        grammar(seq(A, text("\n"), A)),
        Vocab((b"a", b"\n", b"a\n"), special=(), stop=(1,), vocab_size=3),
        ("a", "\n", "a"),
    ),
    "the text of a special token": Case(
        grammar(text("</s>")), vocabularies.of("<", "/", "s>", "</", "</s>"), ("<", "/", "s>")
    ),
    "left recursion": Case(grammar(alt(seq(ref(0), A), B)), SMALL, ("b", "aaa", "a")),
    "hidden left recursion": Case(grammar(alt(seq(star(A), ref(0), B), A)), SMALL, ("a", "a", "bb", "b")),
    "mutual left recursion": Case(grammar(alt(seq(ref(1), A), B), alt(seq(ref(0), B), A)), SMALL, ("aa", "ba")),
    "left recursion through a nullable rule": Case(grammar(alt(SENTENCE, B), alt(EMPTY, A)), SMALL, ("aab", "aa")),
    "nullable cycle": Case(grammar(alt(ref(1), seq(ref(0), ref(0)), A), alt(ref(0), EMPTY)), SMALL, ("a", "aaa")),
    "doubling": Case(grammar(alt(seq(ref(0), ref(0)), A)), SMALL, ("a", "aa", "aaa")),
    "ambiguous at every depth": Case(
        grammar(alt(seq(ref(0), ref(0), ref(0)), seq(ref(0), ref(0)), A, EMPTY)), SMALL, ("aaa", "aaa")
    ),
    "balanced": Case(grammar(alt(seq(A, ref(0), B, ref(0)), EMPTY)), SMALL, ("aa", "ba", "bb")),
    "palindromes": Case(grammar(alt(seq(A, ref(0), A), seq(B, ref(0), B), A, B, EMPTY)), SMALL, ("ab", "aba")),
    "as many b as a": Case(grammar(alt(seq(A, ref(0), B), EMPTY)), SMALL, ("aaa", "bb", "b")),
    "counted": Case(grammar(seq(repeat(A, 3, 70), B)), SMALL, ("aaa", "aaa", "ab")),
    "counted twice": Case(grammar(repeat(seq(repeat(A, 2, 3), B), 2, 70)), SMALL, ("aab", "aaa", "b")),
    "counted, with ambiguous items": Case(
        grammar(seq(repeat(alt(A, text("aa")), 3, 5), B)), SMALL, ("aaa", "aaa", "b")
    ),
    "counted rule": Case(
        grammar(repeat(ref(1), 3, 70), alt(seq(A, ref(1), B), B)), SMALL, ("ab", "b", "b", "aa", "bbb")
    ),
    "complement": Case(grammar(seq(A, not_(seq(star(ANY_BYTE), text("ab"), star(ANY_BYTE))))), SMALL, ("ab", "ba")),
    "intersection": Case(
        grammar(seq(and_(repeat(alt(A, B), 2, 5), not_(alt(text("aa"), text("bb")))), text("c"))),
        SMALL,
        ("aa", "bb", "c"),
    ),
    "empty intersection is no way": Case(grammar(alt(seq(A, and_(plus(A), plus(B))), seq(A, B))), SMALL, ("a", "b")),
    "a rule without a word is no way": Case(grammar(alt(seq(A, ref(1)), B), seq(A, ref(1))), SMALL, ("b",)),
    "a count of items that no text satisfies": Case(
        grammar(seq(A, repeat(and_(text("ab"), text("ac")), 0, 30), text("c"))), pieces("ac", "ab"), ("ac",)
    ),
    "a count of items without an end": Case(
        grammar(seq(repeat(ref(1), 0, 30), text("c")), seq(B, ref(1))), pieces("b", "c"), ("c",)
    ),
    "a count of items that are all empty": Case(
        grammar(seq(repeat(and_(star(A), star(B)), 2, 30), text("c"))), pieces("a", "bc", "ac"), ("c",)
    ),
    "token edges": Case(
        grammar(seq(tokens(SMALL.special[:1]), star(A), tokens((1, *SMALL.special[:1])))), SMALL, ("<x>", "aa", "<x>")
    ),
}


def token_id(vocab: Vocab, token_text: str, model: ModelMatcher) -> int:
    """The allowed token with this text."""
    return next(t for t in sorted(model.allowed()) if vocab.token_bytes[t] == token_text.encode())


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case, rng = CASES[name], seeded(name)
    language = Language(case.grammar)
    compiled = compile_fresh(case.grammar, case.vocab)
    matcher, model = maskwright.GrammarMatcher(compiled), ModelMatcher(language, case.vocab)
    for token_text in case.accepted:
        check_state(matcher, model, rng)
        token = token_id(case.vocab, token_text, model)
        assert matcher.accept_token(token)
        assert model.accept_token(token)
    check_state(matcher, model, rng)
    assert matcher.is_completed()
    walk(compiled, language, case.vocab, rng, scaled(6))


def test_nothing_but_the_longer_token() -> None:
    """The vocabulary ["xa", "xxa"] with grammar "xxa": a search for substrings finds nothing here."""
    case = CASES["a prefix is no substring"]
    assert mask_of(maskwright.GrammarMatcher(compile_fresh(case.grammar, case.vocab)), 6) == {1}


def test_jump_forward_between_the_halves_of_a_character() -> None:
    """What is forced begins in the middle of a character: no text can say that, least of all the rest without it."""
    vocab = vocabularies.of(b"\xc3", b"\xa9", "a", "é")
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(text("éab")), vocab))
    assert matcher.find_jump_forward_string() == "éab"
    assert matcher.accept_token(0)
    assert matcher.find_jump_forward_string() == ""
    assert matcher.accept_token(1)
    assert matcher.find_jump_forward_string() == "ab"
    assert matcher.accept_string("ab")
    assert matcher.is_completed()


def test_token_edges_do_not_share_masks() -> None:
    """Grammars that differ only in token ids, on one compiler."""
    compiler = maskwright.GrammarCompiler(SMALL.info())
    for token in (1, 2, *SMALL.special):
        matcher = maskwright.GrammarMatcher(compile_ir(grammar(seq(tokens([token]), A)), compiler))
        assert mask_of(matcher, SMALL.vocab_size) == {token}


def test_grammars_that_differ_late_do_not_share_masks() -> None:
    """The same rule body, called from two grammars in which other rules follow it."""
    compiler = maskwright.GrammarCompiler(SMALL.info())
    rng = seeded("late")
    grammars = [grammar(seq(ref(1), tail), star(A)) for tail in (B, text("bb"), text("c"), tokens([1]), A)]
    for g in grammars * 2:
        walk(compile_ir(g, compiler), Language(g), SMALL, rng, 3)


@pytest.mark.parametrize("count", [3_000, 100_000])
def test_choice_of_many_strings(count: int) -> None:
    choices = sorted(f"{(n * 2654435761) % 2**32:x}-{n}".encode() for n in range(count))
    vocab = vocabularies.of(*[format(n, "x") for n in range(256)], "-", "-1", "0-")
    plain = {t: vocab.token_bytes[t] for t in range(len(vocab.token_bytes)) if t not in vocab.special}

    def begins_some(prefix: bytes) -> bool:
        i = bisect.bisect_left(choices, prefix)
        return i < count and choices[i].startswith(prefix)

    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(alt(*map(literal, choices))), vocab))
    target, done = choices[count // 2], b""
    while done != target:
        allowed = {t for t, text in plain.items() if begins_some(done + text)}
        assert mask_of(matcher, vocab.vocab_size) == allowed | (set(vocab.stop) if done in choices else set())
        fitting = [t for t in allowed if target.startswith(done + plain[t])]
        token = max(fitting, key=lambda t: len(plain[t]))
        assert matcher.accept_token(token)
        done += plain[token]
    assert matcher.is_completed()


@pytest.mark.parametrize("levels", [2_000, 20_000])
@pytest.mark.parametrize(
    ("g", "closing"),
    [
        (grammar(alt(seq(A, ref(0)), B)), b"b"),
        (grammar(alt(seq(A, ref(0), B), text("c"))), b"c"),
        (grammar(alt(seq(ref(0), A), EMPTY)), b""),
        (grammar(alt(seq(A, ref(1)), B), alt(seq(A, ref(0)), B)), b"b"),
    ],
    ids=["right", "nested", "left", "mutual"],
)
def test_deep_recursion(g: GrammarIR, closing: bytes, levels: int) -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(g, SMALL))
    a, b, bbb = (SMALL.token_bytes.index(t) for t in (b"a", b"b", b"bbb"))
    for level in range(levels):
        assert matcher.accept_token(a)
        if level % 500 == 0:
            assert a in mask_of(matcher, SMALL.vocab_size)
    assert matcher.accept_string(closing)
    if closing == b"c":
        while matcher.accept_token(bbb):
            assert matcher.is_completed() or b in mask_of(matcher, SMALL.vocab_size)
        while matcher.accept_token(b):
            pass
    assert matcher.is_completed()
