"""Hand-made grammars and files: a text that is recalled where it is not remembered is refused, and nothing else is."""

from __future__ import annotations

import random

import pytest

import maskwright
from maskwright import ir
from maskwright.ir import (
    Expr,
    alt,
    bytes_in,
    literal,
    new_value,
    not_,
    optional,
    plus,
    recall,
    remember,
    repeat,
    scope,
    seq,
    star,
)
from oracle.comparing import compile_fresh, scaled, seeded, walk
from oracle.grammars import AB, A, B, grammar
from oracle.model import Language
from oracle.vocabularies import SMALL

CD = bytes_in(b"cd")
NINE, EIGHT = remember(AB, 9), remember(CD, 8)
TEXT = new_value(plus(AB), by_text=True)


@pytest.mark.parametrize(
    "body",
    [
        recall(5),
        seq(EIGHT, remember(A, 9), recall(8)),
        seq(NINE, alt(seq(remember(A, 9), recall(9)), B), recall(9)),
        seq(alt(NINE, B), recall(9)),
        seq(optional(NINE), recall(9)),
        plus(alt(recall(9), seq(NINE, recall(9)))),
        seq(NINE, scope(seq(EIGHT, recall(8), recall(9)))),
        seq(recall(9), NINE),
        seq(NINE, star(seq(recall(8), EIGHT)), recall(9)),
    ],
    ids=Expr.dump,
)
def test_refused(body: Expr) -> None:
    with pytest.raises(maskwright.GrammarError, match="is recalled where it is not remembered"):
        compile_fresh(grammar(scope(body)), SMALL)


@pytest.mark.parametrize("body", [star(AB), seq(star(A), optional(B)), not_(A), ir.EMPTY], ids=Expr.dump)
def test_what_is_remembered_is_not_empty(body: Expr) -> None:
    g = grammar(scope(seq(remember(body, 9), B, recall(9))))
    for _ in range(2):  # the second time its rules are known
        with pytest.raises(maskwright.GrammarError, match="may be empty"):
            compile_fresh(g, SMALL)


@pytest.mark.parametrize(
    "body",
    [recall(5), seq(NINE, recall(9)), seq(remember(ir.ref(0), 9), recall(9)), new_value(A), TEXT],
    ids=Expr.dump,
)
def test_without_a_scope(body: Expr) -> None:
    with pytest.raises(maskwright.LimitError) as caught:
        compile_fresh(grammar(body), SMALL)
    assert caught.value.limit == "remembered_text"


def test_values_and_texts_have_scopes_of_their_own() -> None:
    with pytest.raises(maskwright.GrammarError, match="both values to compare and a text to recall"):
        compile_fresh(grammar(scope(seq(TEXT, B, NINE, recall(9)))), SMALL)
    compile_fresh(grammar(scope(seq(TEXT, B, scope(seq(NINE, recall(9))), B))), SMALL)


def test_values_stand_in_the_scope_itself() -> None:
    with pytest.raises(maskwright.LimitError):
        compile_fresh(grammar(scope(seq(ir.ref(1), B)), TEXT), SMALL)


@pytest.mark.parametrize("number", [0, -1, 251, 1 << 40])
def test_impossible_numbers(number: int) -> None:
    for body in (recall(number), seq(remember(A, number), recall(9))):
        with pytest.raises(TypeError):
            compile_fresh(grammar(scope(body)), SMALL)


def random_texts(rng: random.Random, depth: int) -> Expr:
    """Something that remembers and recalls at random, and so mostly in a wrong order."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice((A, B, recall(rng.randint(7, 9))))
    if kind < 0.75:
        parts = [random_texts(rng, depth - 1) for _ in range(3)]
        return seq(remember(rng.choice((AB, plus(A), literal(b"ab"))), rng.randint(7, 9)), *parts)
    if kind < 0.85:
        return alt(random_texts(rng, depth - 1), random_texts(rng, depth - 1))
    if kind < 0.95:
        return scope(random_texts(rng, depth - 1))
    return repeat(random_texts(rng, depth - 1), 0, rng.choice((1, 2, ir.UNBOUNDED)))


def test_random_grammars_are_exact_or_refused() -> None:
    refused = accepted = 0
    for i in range(scaled(300)):
        rng = seeded(f"texts {i}")
        g = grammar(scope(random_texts(rng, 3)))
        try:
            compiled = compile_fresh(g, SMALL)
        except maskwright.GrammarError:
            refused += 1
            continue
        accepted += 1
        walk(compiled, Language(g), SMALL, rng, steps=5)
    assert refused
    assert accepted
