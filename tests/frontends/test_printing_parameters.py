"""Parametric grammars printed and read again have the same language: as they are in Lark, unfolded elsewhere."""

from __future__ import annotations

import itertools

import pytest

from maskwright import Grammar, GrammarError, LimitError
from maskwright.frontends.notation.unfolding import unfolded
from maskwright.ir import GrammarIR, Rule, alt, call, guard, literal, ref, seq, text, uses_parameter
from maskwright.ir.parameters import compare, compare_count, decrement, either, increment, masked, negated, set_bit
from oracle.accepting import accepts

PERMUTATION = """start: pick::0
pick::_: "a" pick::set_bit(0) %if bit_clear(0)
       | "b" pick::set_bit(1) %if bit_clear(1)
       | "c" pick::set_bit(2) %if bit_clear(2)
       | ""                   %if bit_set(0)
"""
COUNTERS = """start: up::0 | down::0x21
up::_: "a" up::incr([0:2]) %if lt([0:2], 3) | "" %if and(ge(_, 2), not(bit_count_eq([0:8], 1)))
down::_: ("b" | "c" %if bit_set(5)) down::decr([0:4]) %if gt([0:4], 0) | plain %if is_zeros([0:4])
plain: "x" | "y" start?
"""
TEXTS = ["".join(t) for n in range(4) for t in itertools.product("abcxy", repeat=n)]


def language(grammar: Grammar) -> list[str]:
    return [text for text in TEXTS if accepts(grammar, text)]


@pytest.mark.parametrize("source", [PERMUTATION, COUNTERS])
def test_lark(source: str) -> None:
    grammar = Grammar.from_lark(source)
    again = Grammar.from_lark(grammar.to_lark())
    assert language(again) == language(grammar) != []
    assert again.dump() == grammar.dump()


@pytest.mark.parametrize("source", [PERMUTATION, COUNTERS])
def test_ebnf(source: str) -> None:
    grammar = Grammar.from_lark(source)
    again = Grammar.from_ebnf(grammar.to_ebnf())
    assert not any(uses_parameter(rule.body) for rule in again.ir.rules)
    assert language(again) == language(grammar)


def test_regex() -> None:
    grammar = Grammar.from_lark(PERMUTATION)
    assert language(Grammar.from_regex(grammar.to_regex())) == language(grammar)


def test_steps_that_lark_has_not_in_one() -> None:
    value = masked(0b0110, 0b1000).then(increment((0, 3))).then(set_bit(5))
    condition = either(negated(compare("==", 5, (0, 8))), compare_count(">", 3, (0, 8)))
    rules = (
        Rule("passed_on", seq(text("a"), call(1, value))),
        Rule("r", alt(guard(condition, text("x")), guard(compare("==", 0b101001, (0, 8)), call(1, decrement())))),
    )
    grammar = Grammar(GrammarIR(rules, 0))
    again = Grammar.from_lark(grammar.to_lark())
    assert language(again) == language(grammar) == ["ax"]
    assert "passed_on::" in grammar.to_lark()


def test_a_root_with_a_parameter() -> None:
    body = alt(guard(compare("<", 2), seq(text("a"), call(0, increment()))), text("b"))
    grammar = Grammar(GrammarIR((Rule("start", body),), 0))
    for again in (Grammar.from_lark(grammar.to_lark()), Grammar.from_ebnf(grammar.to_ebnf())):
        assert language(again) == language(grammar) == ["b", "ab", "aab"]


def test_too_many_values_to_unfold() -> None:
    endless = GrammarIR((Rule("r", alt(seq(text("a"), call(0, increment())), text("b"))),), 0)
    with pytest.raises(LimitError, match="too many values"):
        Grammar(endless).to_ebnf()
    assert accepts(Grammar.from_lark(Grammar(endless).to_lark()), "aab")


def test_without_parameters_nothing_is_unfolded() -> None:
    grammar = Grammar.from_ebnf('root ::= "a" root | "b"').ir
    assert unfolded(grammar) is grammar


def test_bytes_are_still_no_characters() -> None:
    grammar = GrammarIR((Rule("r", alt(guard(compare("<", 1), literal(b"\xff")), ref(0))),), 0)
    with pytest.raises(GrammarError, match="not whole characters"):
        Grammar(grammar).to_lark()
