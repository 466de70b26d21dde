"""Grammars as leaves of others: the same strings as with their rules spelled out, which are written once."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator

import pytest

import maskwright
from maskwright.ir import (
    EMPTY,
    OP_SUBGRAMMAR,
    Expr,
    GrammarIR,
    Promised,
    Rule,
    alt,
    deferred_subgrammar,
    literal,
    never,
    ref,
    seq,
    spelled_out,
    star,
    subgrammar,
    text,
)

PRELUDE = (Rule("digits", star(text("1"))), Rule("pair", seq(ref(0), text(","), ref(0))))


def one(body: Expr) -> GrammarIR:
    return GrammarIR((Rule("root", body),), 0)


def with_prelude(*own: Expr) -> Expr:
    rules = (*PRELUDE, *(Rule(f"own {i}", body) for i, body in enumerate(own)))
    return subgrammar(GrammarIR(rules, len(PRELUDE)), PRELUDE)


def test_dump() -> None:
    nested = subgrammar(one(seq(text("("), with_prelude(seq(ref(1), ref(3)), alt(text("xy"), ref(2))), text(")"))))
    grammar = GrammarIR((Rule("main", seq(ref(1), nested)), Rule("pair", with_prelude(seq(ref(0), text("!"))))), 0)
    assert spelled_out(grammar).dump().splitlines() == [
        "main ::= pair root",
        "pair ::= own 0",
        'root ::= "(" own 0_2 ")"',
        'own 0 ::= digits "!"',
        "own 0_2 ::= pair_2 own 1",
        'digits ::= "1"*',
        'pair_2 ::= digits "," digits',
        'own 1 ::= "xy" | own 0_2',
    ]
    assert spelled_out(spelled_out(grammar)) == spelled_out(grammar)
    assert grammar.rules[0].body.dump() == "$1 @root"


def test_the_root_may_be_of_the_prelude() -> None:
    leaf = subgrammar(GrammarIR(PRELUDE, 1), PRELUDE)
    assert spelled_out(one(seq(leaf, leaf))).dump().splitlines()[0] == "root ::= pair pair"


def test_small_ones_are_no_leaves() -> None:
    for body in (EMPTY, never(), literal(b"ab")):
        assert subgrammar(one(body)) is body
    inner = subgrammar(one(star(text("a"))))
    assert inner[0] == OP_SUBGRAMMAR
    assert subgrammar(one(inner)) is inner


def test_equal_only_to_themselves() -> None:
    grammar = one(star(text("a")))
    first, second = subgrammar(grammar), subgrammar(grammar)
    assert first != second
    assert alt(seq(first, text("x")), seq(first, text("x"))) == seq(first, text("x"))


def test_grammars_show_them_spelled_out() -> None:
    grammar = maskwright.Grammar(one(seq(text("<"), subgrammar(one(star(text("a")))), text(">"))))
    assert grammar == maskwright.Grammar.from_ebnf('root ::= "<" root_2 ">"\nroot_2 ::= "a"*')
    other = maskwright.Grammar(one(seq(text("<"), subgrammar(one(star(text("a")))), text(">"))))
    assert str(grammar + other).count('"a"*') == 2
    assert str(grammar + grammar).count('"a"*') == 1, "the same grammar is there once"
    assert grammar.to_regex() == "<a*>"


def test_depth_is_no_matter_of_the_stack() -> None:
    def chain() -> Iterator[Expr]:
        expr = star(text("a"))
        while True:
            yield expr
            expr = seq(text("("), subgrammar(one(expr)), text(")"))

    deep = next(expr for i, expr in enumerate(chain()) if i == 5_000)
    assert len(spelled_out(one(deep)).rules) == 5_001


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))], ids=["copy", "pickle"])
def test_copies_have_numbers_of_their_own(copied: Callable[[Expr], Expr]) -> None:
    made = with_prelude(seq(ref(0), text("x")), text("yy"))
    later = deferred_subgrammar(lambda: one(seq(text("z"), made)), Promised(b"z"))
    for leaf in (made, later):
        other = copied(leaf)
        assert other[1].number != leaf[1].number
        assert spelled_out(one(seq(other, text("!")))) == spelled_out(one(seq(leaf, text("!"))))
    both = copied(seq(made, with_prelude(seq(ref(0), text("zz")))))
    assert both[1][1].prelude is both[2][1].prelude
