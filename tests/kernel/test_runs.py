"""Runs of characters that keep a rule going: masks are those of a walk that skips nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import pytest

import maskwright
from maskwright import _kernel
from oracle.comparing import mask_of, scaled

_T = TypeVar("_T")
RNG = random.Random("runs")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALPHABET = [*LETTERS, *"ABRYZ", *"0159", *'-.:_/ "\\\n', "é", "漢", "\u2028", "😀"]


def words() -> Iterator[bytes]:
    """Tokens of many lengths: words, words with everything in them, pieces of characters."""
    for n in range(1, 40):
        for _ in range(12):
            yield "".join(RNG.choices(LETTERS, k=n)).encode()
            yield "".join(RNG.choices([*LETTERS, "-", ".", "9"], k=n)).encode()
            yield "".join(RNG.choices(ALPHABET, k=min(n, 8))).encode()
    for _ in range(8_000):  # below so many tokens, runs are sought
        yield "".join(RNG.choices(LETTERS, k=RNG.randint(2, 39))).encode()
    for word in ("red", "blue", "json", "after_", "created", '"', '",', '"}', "\\", "\\u00", "\\n", 'json"', 'red"'):
        yield word.encode()
        yield b"x" + word.encode()
        yield word.encode() + b"yz"
    yield from (bytes([b]) for b in range(256))
    yield from (b"ab\xe6", b"\xbc\xa2c", b"\xe6\xbc", b"a\xff", b"\xffa", b"a\xc3")


TEXTS = list(dict.fromkeys(words()))
STOP = len(TEXTS)
INFO = maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP])

SCHEMAS = {
    "a letter is sought": {"type": "string", "pattern": "a"},
    "a word is sought": {"type": "string", "pattern": "after_"},
    "a word that overlaps itself": {"type": "string", "pattern": "after_[a]"},
    "a letter again and again": {"type": "string", "pattern": "aaaa"},
    "words are sought": {"type": "string", "pattern": "red|blue|json"},
    "an end": {"type": "string", "pattern": "^[a-z].*json$"},
    "two places": {"type": "string", "pattern": "^.+:.+$"},
    "no line ends": {"type": "string", "pattern": "^[^a\\n]*b[^\\n]*$"},
    "words apart": {"type": "string", "pattern": "^([a-z]+-)*[a-z]+$"},
    "pairs": {"type": "string", "pattern": "^(..)*$"},
    "threes of letters": {"type": "string", "pattern": "^([a-z]{3})*$"},
    "labels": {
        "type": "string",
        "pattern": "^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?)*$",
    },
    "a long word": {"type": "string", "pattern": "^[a-z]{60}[0-9]$"},
    "a host name": {"type": "string", "format": "hostname"},
    "an address": {"type": "string", "format": "email"},
    "counted pairs": {"type": "string", "pattern": "^([a-z][a-z0-9])*$", "maxLength": 30},
    "a counted word": {"type": "string", "pattern": "json", "maxLength": 24},
    "counted from": {"type": "string", "pattern": "^([a-z]-?)*[a-z]$", "minLength": 12, "maxLength": 40},
    "a letter among so many": {"type": "string", "pattern": "[x-z]", "minLength": 16, "maxLength": 16},
    "words among so many": {
        "type": "string",
        "allOf": [{"pattern": "red"}, {"pattern": "[ab][yz].*q"}, {"pattern": "9"}],
        "minLength": 14,
        "maxLength": 30,
    },
    # Letters always go on, but with some of them not every number may follow.
    "blocks of two sizes": {"type": "string", "pattern": "^([a-m].|[n-z]..)*$", "minLength": 20, "maxLength": 20},
    "not a word": {"type": "string", "not": {"pattern": "red"}},
    "names": {
        "type": "object",
        "patternProperties": {"^x.*y": {"type": "null"}},
        "additionalProperties": {"type": "string"},
    },
}
PATTERNS = {
    "anything with a word": ".*red.*",
    "bytes": "(?:[a-z]|é)*z",
    "evenly": "(?:(?:[^a]*a){2})*[^a]*",
    "words": "(?:[a-z]{1,5} )*",
}


def grammars() -> Iterator[tuple[str, maskwright.Grammar]]:
    for name, schema in SCHEMAS.items():
        yield name, maskwright.Grammar.from_json_schema(schema)
    for name, pattern in PATTERNS.items():
        yield name, maskwright.Grammar.from_regex(pattern)


def masks_along(grammar: maskwright.Grammar, tokens: list[int]) -> list[set[int]]:
    matcher = fresh_matcher(grammar)
    out = [mask_of(matcher, STOP + 1)]
    for token in tokens:
        assert matcher.accept_token(token)
        out.append(mask_of(matcher, STOP + 1))
    return out


def fresh_info() -> maskwright.TokenizerInfo:
    """Nothing that earlier masks left behind is known to its kernel vocabulary."""
    return maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP])


def random_walk(grammar: maskwright.Grammar, rng: random.Random, steps: int) -> list[int]:
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_grammar(grammar))
    out: list[int] = []
    for _ in range(steps):
        allowed = sorted(mask_of(matcher, STOP + 1) - {STOP})
        if not allowed:
            break
        out.append(rng.choice(allowed))
        matcher.accept_token(out[-1])
    return out


@pytest.mark.parametrize(("name", "grammar"), [pytest.param(n, g, id=n) for n, g in grammars()])
def test_masks(name: str, grammar: maskwright.Grammar) -> None:
    rng = random.Random(name)
    for _ in range(scaled(4)):
        tokens = random_walk(grammar, rng, 12)
        with_runs, walked = with_runs_and_without(partial(masks_along, grammar, tokens))
        assert with_runs == walked


def with_runs_and_without(masks: Callable[[], _T]) -> tuple[_T, _T]:
    """What a function returns that makes masks."""
    with_runs = masks()
    _kernel.set_optimisations(subtree_skipping=False)
    try:
        return with_runs, masks()
    finally:
        _kernel.set_optimisations()


def fresh_matcher(grammar: maskwright.Grammar) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(
        maskwright.GrammarCompiler(fresh_info(), cache_enabled=False).compile_grammar(grammar)
    )


def masks_after(grammar: maskwright.Grammar, text: bytes) -> tuple[set[int], set[int]]:
    """The mask behind the text, with runs and without."""

    def mask() -> set[int]:
        matcher = fresh_matcher(grammar)
        mask_of(matcher, STOP + 1)
        assert matcher.accept_string(text)
        return mask_of(matcher, STOP + 1)

    return with_runs_and_without(mask)


@pytest.mark.parametrize("length", [1, 20, 21, 22, 23, 24, 25, 26, 40, 58, 59])
def test_near_the_end_of_a_chain(length: int) -> None:
    with_runs, walked = masks_after(maskwright.Grammar.from_json_schema(SCHEMAS["a long word"]), b'"' + b"x" * length)
    assert with_runs == walked
    # There are words that would go past the end of the chain.
    assert any(len(TEXTS[i]) > 60 - length for i in range(STOP) if TEXTS[i].isalpha()) == (length > 21)


@pytest.mark.parametrize("length", [0, 1, 2, 5, 8, 10, 14, 15, 19, 20, 21, 25, 28, 29, 30])
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("counted pairs", 30),
        ("a counted word", 20),
        ("a letter among so many", 16),
        ("words among so many", 23),
        ("blocks of two sizes", 18),
    ],
)
def test_near_the_end_of_a_count(name: str, most: int, length: int) -> None:
    """A run may go on for as many characters as leave what its states still need, whatever is needed in between."""
    text = b'"' + b"x" * min(length, most)
    with_runs, walked = masks_after(maskwright.Grammar.from_json_schema(SCHEMAS[name]), text)
    assert with_runs == walked


@pytest.mark.parametrize("length", [1, 10, 30, 35, 40, 45, 50, 55])
def test_what_a_run_reaches_knows_how_long_it_goes_on(length: int) -> None:
    """Masks are asked for all along a chain, so that each state has what the searches of those before it left there."""
    grammar = maskwright.Grammar.from_json_schema({"type": "string", "pattern": f"^{'[a-z]' * (length + 25)}[0-9]$"})

    def masks() -> list[set[int]]:
        matcher = fresh_matcher(grammar)
        seen = []
        for byte in b'"' + b"x" * (length + 24):
            assert matcher.accept_string(bytes((byte,)))
            seen.append(mask_of(matcher, STOP + 1))
        return seen

    with_runs, walked = with_runs_and_without(masks)
    assert with_runs == walked
