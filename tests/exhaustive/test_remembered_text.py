"""Text that is remembered and comes again: every mask bit, and all that a matcher tells, against the oracle."""

from __future__ import annotations

import random

import pytest

import maskwright
from maskwright import ir
from maskwright.ir import (
    ANY_BYTE,
    EMPTY,
    Expr,
    GrammarIR,
    alt,
    and_,
    bytes_in,
    literal,
    not_,
    optional,
    plus,
    recall,
    ref,
    remembering,
    repeat,
    seq,
    star,
    tokens,
)
from oracle.comparing import compare_with_oracle, scaled, seeded
from oracle.grammars import AB, A, B, grammar
from oracle.vocabularies import SMALL, of, random_vocab, strings

NAME = plus(AB)
XML = of(
    *strings(b"ab<>/", 1), "<a", "<ab>", "></a", "></", ">a</a>", "</b", "b></b><", "a></a></", "aa", "ab", "ba>",
    "</ab>", "b<", "<a></a>", "b></", stop=(b"</s>",), padding=3,
)  # fmt: skip
_TAG_END, _CLOSE = literal(b">"), literal(b"</")

ELEMENT = grammar(
    seq(literal(b"<"), remembering(NAME, 9, seq(_TAG_END, star(alt(AB, ref(0))), _CLOSE, recall(9), _TAG_END)))
)
CHOSEN = [
    ELEMENT,
    grammar(star(ref(1)), seq(literal(b"<"), remembering(NAME, 9, seq(_TAG_END, ref(0), _CLOSE, recall(9))), _TAG_END)),
    grammar(remembering(NAME, 9, recall(9))),
    grammar(remembering(star(A), 9, seq(optional(B), recall(9)))),
    grammar(remembering(NAME, 9, star(seq(B, recall(9))))),
    grammar(remembering(NAME, 9, seq(recall(9), optional(seq(B, recall(9)))))),
    grammar(seq(star(A), remembering(plus(A), 9, seq(B, recall(9))), star(A))),
    grammar(remembering(NAME, 9, seq(literal(b"<"), remembering(NAME, 8, seq(literal(b"/"), recall(8), recall(9)))))),
    grammar(remembering(NAME, 9, seq(literal(b"<"), remembering(NAME, 8, alt(recall(8), recall(9))), recall(9)))),
    grammar(star(seq(remembering(AB, 9, seq(star(literal(b"/")), recall(9)))))),
    grammar(remembering(repeat(AB, 2, 40), 9, seq(_TAG_END, recall(9)))),
    grammar(remembering(and_(plus(AB), not_(literal(b"ab"))), 9, seq(_TAG_END, recall(9)))),
    grammar(remembering(NAME, 9, alt(seq(_TAG_END, recall(9)), seq(literal(b"/"), ref(0), recall(9)), B))),
    grammar(seq(remembering(NAME, 9, seq(ref(1), recall(9))), _TAG_END), alt(EMPTY, seq(literal(b"<"), ref(0)))),
    grammar(remembering(plus(AB), 9, repeat(seq(literal(b"/"), recall(9)), 2, 30))),
    grammar(seq(star(ref(1)), literal(b"/")), remembering(AB, 9, seq(repeat(alt(A, B), 0, 30), _TAG_END, recall(9)))),
    grammar(alt(seq(ref(0), literal(b"/")), remembering(NAME, 9, seq(_TAG_END, recall(9))))),
    grammar(remembering(literal(b"ab"), 9, seq(_TAG_END, recall(9)))),
    grammar(remembering(NAME, 9, seq(tokens([3]), recall(9)))),
    grammar(remembering(NAME, 9, seq(plus(alt(recall(9), _TAG_END)), literal(b"/")))),
    grammar(remembering(plus(ANY_BYTE), 9, seq(literal(b"/"), recall(9)))),
    grammar(ir.guard(ir.parameters.compare("==", 0), ref(1)), remembering(NAME, 9, seq(_TAG_END, recall(9)))),
]


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(g.dump())
    for vocab in (XML, SMALL):
        compare_with_oracle(g, vocab, rng, steps=10)


def random_memory(rng: random.Random, depth: int, number: int, known: tuple[int, ...], rules: int) -> Expr:
    """Something that may recall the texts in `known`, and remember others."""
    kind = rng.random()
    if known and kind < 0.25:
        return recall(rng.choice(known))
    if depth == 0 or kind < 0.45:
        return rng.choice((A, B, AB, literal(b"ab"), literal(b"/"), plus(AB), EMPTY))
    if kind < 0.65:
        body = rng.choice((NAME, A, AB, plus(A), star(AB), alt(A, literal(b"ab")), seq(A, star(B)), repeat(AB, 2, 20)))
        return remembering(body, number, random_memory(rng, depth - 1, number - 1, (*known, number), rules))
    inner = [random_memory(rng, depth - 1, number, known, rules) for _ in range(2)]
    if kind < 0.85:
        return seq(*inner)
    if kind < 0.92:
        return alt(*inner)
    if kind < 0.96:
        return repeat(inner[0], 0, rng.choice((1, 2, ir.UNBOUNDED)))
    return ref(rng.randrange(rules))


def test_random_grammars() -> None:
    for i in range(scaled(150)):
        rng = seeded(f"remembered {i}")
        bodies = [random_memory(rng, 4, 9, (), 2) for _ in range(2)]
        g = grammar(*(alt(body, literal(b"b")) for body in bodies))
        try:
            compare_with_oracle(g, rng.choice((XML, SMALL, random_vocab(rng))), rng, steps=6)
        except maskwright.LimitError as error:
            assert error.limit == "left_recursive_repetition"  # noqa: PT017


def test_bytes_in_rules() -> None:
    """Letters that are many, so that masks are taken over whole and subtrees are passed over."""
    words = of(*strings(b"abcde", 2), "abcde", "<abc>", "</ab", "e>", "d></d", *map(chr, range(0x20, 0x7F)), padding=2)
    name = plus(bytes_in(b"abcdefghijklmnopqrstuvwxyz"))
    text = star(ir.byte_set(ir.ALL_BYTES & ~(1 << ord("<"))))
    g = grammar(
        seq(
            literal(b"<"),
            remembering(name, 9, seq(_TAG_END, text, star(seq(ref(0), text)), _CLOSE, recall(9), _TAG_END)),
        )
    )
    rng = seeded("words")
    for _ in range(scaled(4)):
        compare_with_oracle(g, words, rng, steps=8)
