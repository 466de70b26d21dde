"""The way to go on that explanations show: it completes the output by the oracle, and is a shortest one."""

from __future__ import annotations

import random

import pytest

import maskwright
from maskwright import _kernel
from maskwright.errors import UnsatisfiableError
from maskwright.ir import GrammarIR
from oracle.comparing import compile_fresh, scaled, seeded
from oracle.grammars import random_grammar
from oracle.model import Language, Word
from oracle.vocabularies import BYTES, SMALL

EDGE_IDS = (3, SMALL.special[0])  # an ordinary token and a special one
MOST = 5  # symbols that the oracle looks ahead


def symbols(pieces: list[int | bytes]) -> Word:
    """What the kernel returns, as the oracle reads it."""
    return tuple(s for piece in pieces for s in ([("token", piece)] if isinstance(piece, int) else piece))


def shortest(language: Language, before: Word) -> int | None:
    """The number of symbols of a shortest end, by trying all; None if it has more than `MOST`."""
    bytes_ = [group[0] for group in language.byte_groups]
    nexts = [*bytes_, *(("token", token) for token in language.edge_ids)]
    words = [before]
    for length in range(MOST + 1):
        if any(map(language.matches, words)):
            return length
        words = [(*word, s) for word in words for s in nexts if language.viable((*word, s))]
        if len(words) > 200:
            return None
    return None


def check(grammar: GrammarIR, rng: random.Random, steps: int) -> int:
    """Compare after each byte of a random walk; return in how many places."""
    language = Language(grammar)
    if not language.viable(()):
        return 0
    try:
        matcher = maskwright.GrammarMatcher(compile_fresh(grammar, SMALL))
    except UnsatisfiableError:
        return 0
    before, checked = b"", 0
    for _ in range(steps):
        found = _kernel.short_end(matcher, 60)
        if found is not None:
            assert language.matches(tuple(before) + symbols(found)), (grammar.dump(), before, found)
        least = shortest(language, tuple(before))
        if least is not None:
            assert found is not None, (grammar.dump(), before)
            assert len(symbols(found)) == least, (grammar.dump(), before, found)
            checked += 1
        ways = [group[0] for group in language.byte_groups if language.viable((*before, group[0]))]
        if not ways:
            break
        before += bytes((rng.choice(ways),))
        assert matcher.accept_bytes(before[-1:])
    return checked


@pytest.mark.parametrize("part", range(4))
def test_random_grammars(part: int) -> None:
    rng = seeded(f"short ends {part}")
    checked = sum(check(random_grammar(rng, EDGE_IDS), rng, 4) for _ in range(scaled(100)))
    assert checked > scaled(100)


def test_text_that_comes_again_and_texts_that_differ() -> None:
    vocabulary = [*(bytes((b,)) for b in range(256)), b"</s>"]
    info = maskwright.TokenizerInfo.from_vocab(vocabulary, special_token_ids=[256], stop_token_ids=[256])
    compiler = maskwright.GrammarCompiler(info)
    for source, before in (
        ('root ::= x=[ab]+ ":" ( "c" | "d" $x )', "ab:d"),
        ('root ::= Distinct(e, ",", min=4)\ne ::= [ab]{1,2}', "a,b"),
        ('root ::= Distinct(e, ",", min=3) "."\ne ::= "a"{1,4}', "a,aa"),
    ):
        compiled = compiler.compile_grammar(maskwright.Grammar.from_ebnf(source))
        for size in range(len(before) + 1):
            matcher = maskwright.GrammarMatcher(compiled)
            assert matcher.accept_string(before[:size])
            found = _kernel.short_end(matcher, 100)
            assert found is not None, (source, before[:size])
            end = b"".join(piece for piece in found if isinstance(piece, bytes))
            assert compiled.explain_rejection(before[:size].encode() + end) is None


@pytest.mark.parametrize(("kind", "minimum", "most"), [("object", 3, 40), ("object", 6, 120), ("array", 4, 20)])
def test_values_that_differ(kind: str, minimum: int, most: int) -> None:
    """Not shortest ones, but short."""
    schema = {"type": "array", "uniqueItems": True, "minItems": minimum, "items": {"type": kind}}
    compiled = maskwright.GrammarCompiler(BYTES.info()).compile_json_schema(schema)
    empty = b"{}" if kind == "object" else b"[]"
    for before in (b"", b"[", b"[" + empty, b"[" + empty + b", " + empty[:1]):
        matcher = maskwright.GrammarMatcher(compiled)
        assert matcher.accept_string(before)
        (end,) = _kernel.short_end(matcher, 200)
        assert isinstance(end, bytes)
        assert len(end) <= most
        assert matcher.accept_string(end)
        assert matcher.is_completed()
