"""Intersections and complements that are decided inside a character: the product then goes on in one operand's rule."""

from __future__ import annotations

import pytest

import maskwright
from maskwright.frontends.charset import CodePointSet, utf8
from maskwright.frontends.texts import ANY_TEXT
from maskwright.ir import Expr, alt, and_, byte_range, bytes_in, not_, plus, repeat, seq, star, text
from oracle.comparing import check_state, compile_fresh, scaled, seeded, walk
from oracle.grammars import grammar
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import of

SPACES = ("\x85", "\xa0", "\u2003", "\u3000", "\ufeff")
CHARACTERS = ("é", "ß", "日", "本", "🎉", *SPACES)
HALVES = [c.encode()[:cut] for c in ("é", "日", "🎉", "\xa0", "\u2003") for cut in range(1, len(c.encode()))]
TAILS = [c.encode()[1:] for c in ("é", "日", "🎉", "\xa0")]
VOCAB = of(*"ae0A !q", *CHARACTERS, *HALVES, *TAILS, "aé", "éa!", "日本", "e\u2003a", b"a\xc3", b"\xa9!", b"\xc3(")

LETTERS = star(byte_range(ord("a"), ord("z")))
ASCII = star(byte_range(0x20, 0x7E))
TWO_BYTES = utf8(CodePointSet.from_ranges([(0x80, 0x7FF)]))
LONGER = utf8(CodePointSet.from_ranges([(0x800, 0x10FFFF)]))

# In each, the complement gives up at the first byte of some character, or in the middle of it.
PRODUCTS = {
    "any text but a word": and_(ANY_TEXT, not_(seq(LETTERS, text("!")))),
    "any text but ASCII": and_(ANY_TEXT, not_(seq(ASCII, text("!")))),
    "many classes in the complement": and_(ANY_TEXT, not_(seq(LETTERS, alt(*map(text, "!0A q(")), text("é")))),
    "no two bytes": and_(ANY_TEXT, not_(seq(star(alt(LETTERS, TWO_BYTES)), text("!")))),
    "no more than two bytes": and_(ANY_TEXT, not_(seq(star(alt(LETTERS, LONGER)), text("!")))),
    "all but one character": and_(ANY_TEXT, not_(seq(LETTERS, plus(text("é")), text("!")))),
    "all but half a character": and_(ANY_TEXT, not_(seq(LETTERS, bytes_in(b"\xc3\xe6\xf0")))),
    "two operands that stay": and_(seq(ANY_TEXT, text("!")), star(alt(LETTERS, TWO_BYTES, text("!"))), not_(text("!"))),
}
ITEMS = {
    "decided by the first byte": and_(alt(text("é"), text("ae")), not_(text("q"))),
    "decided by the second byte": and_(alt(text("é"), text("ß"), text("a")), not_(seq(text("ê"), ANY_TEXT))),
    "decided later": and_(alt(text("日"), text("本"), text("🎉")), not_(seq(text("日"), ANY_TEXT))),
}


def compare(expr: Expr, name: str) -> None:
    language = Language(grammar(expr))
    rng = seeded(name)
    compiled = compile_fresh(language.grammar, VOCAB)
    check_state(maskwright.GrammarMatcher(compiled), ModelMatcher(language, VOCAB), rng)
    for _ in range(scaled(3)):
        walk(compiled, language, VOCAB, rng, steps=6)


@pytest.mark.parametrize("name", PRODUCTS)
def test_text_loops(name: str) -> None:
    compare(seq(PRODUCTS[name], text("q")), name)


@pytest.mark.parametrize("name", ITEMS)
def test_counted_items(name: str) -> None:
    compare(repeat(ITEMS[name], 2, 70), name)
    compare(seq(text("q"), repeat(ITEMS[name], 0, 3), text("!")), name)
