"""Lark's parametric rules: what each function means, where parameters may stand, and what is refused.

What whole grammars admit is in tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maskwright import Grammar
from maskwright.errors import LarkSyntaxError, UnsatisfiableError
from maskwright.frontends.lark.parameters import condition_of, malformed, parse_term, value_of
from oracle.accepting import check

PARAMETERS = [0, 1, 2, 5, 7, 8, 0b1010_1100, 0xFF, 0xFF00, 1 << 63, (1 << 64) - 2, (1 << 64) - 1]
MOST = (1 << 64) - 1

VALUES: dict[str, Callable[[int], int]] = {
    "_": lambda p: p,
    "17": lambda p: 17,
    "0xFf": lambda p: 255,
    "set_bit(3)": lambda p: p | 8,
    "clear_bit(3)": lambda p: p & ~8,
    "bit_and(0xf0)": lambda p: p & 0xF0,
    "bit_or(0xf0)": lambda p: p | 0xF0,
    "incr(_)": lambda p: min(p + 1, MOST),
    "incr([0:3])": lambda p: p if p & 7 == 7 else p + 1,
    "incr([ 2 : 4 ])": lambda p: p if p & 12 == 12 else p + 4,
    "decr(_)": lambda p: max(p - 1, 0),
    "decr([2:64])": lambda p: p - 4 if p >> 2 else p,
}
CONDITIONS: dict[str, Callable[[int], bool]] = {
    "true": lambda p: True,
    "true()": lambda p: True,
    "bit_set(63)": lambda p: p >> 63 == 1,
    "bit_clear(0)": lambda p: p % 2 == 0,
    "is_ones([0:3])": lambda p: p & 7 == 7,
    "is_zeros([3:64])": lambda p: p < 8,
    "eq(_, 5)": lambda p: p == 5,
    "ne([0:4], 0xc)": lambda p: p & 15 != 12,
    "lt([0:3], 7)": lambda p: p & 7 < 7,
    "le([0:3], 1)": lambda p: p & 7 <= 1,
    "gt([0:3], 7)": lambda p: False,
    "ge([0:3],0)": lambda p: True,
    "eq([0:3], 99)": lambda p: False,
    "bit_count_eq(_, 3)": lambda p: p.bit_count() == 3,
    "bit_count_ne(_, 3)": lambda p: p.bit_count() != 3,
    "bit_count_lt([0:8], 2)": lambda p: (p & 255).bit_count() < 2,
    "bit_count_le([0:8], 2)": lambda p: (p & 255).bit_count() <= 2,
    "bit_count_gt(_, 63)": lambda p: p == MOST,
    "bit_count_ge([4:8], 1)": lambda p: p & 0xF0 != 0,
    "and(bit_set(0), lt(_, 6))": lambda p: p % 2 == 1 and p < 6,
    "or(bit_set(0), not(lt(_, 6)), eq(_, 2))": lambda p: p % 2 == 1 or p >= 6 or p == 2,
    "not(and( bit_set(0) , true ))": lambda p: p % 2 == 0,
}


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    term, end = parse_term(text, 0)
    value = value_of(term, malformed)
    assert end == len(text)
    assert [value.of(p) for p in PARAMETERS] == [VALUES[text](p) for p in PARAMETERS]


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions(text: str) -> None:
    term, end = parse_term(text + " | more", 0)
    condition = condition_of(term, malformed)
    assert end == len(text)
    assert [condition.holds(p) for p in PARAMETERS] == [CONDITIONS[text](p) for p in PARAMETERS]


def test_conditions_in_groups_and_across_rules() -> None:
    head = 'start: p::7 | p::8\np::_: ("a" %if eq(_, 7) | "b")+ q::bit_and(1)\n'
    source = head + 'q::_: "c" %if bit_set(0) // one\n  | "d"'
    check(Grammar.from_lark(source), ["ac", "ad", "babc", "bc", "bd"], ["a", "cd", ""])


def test_a_parameter_may_be_unused() -> None:
    check(Grammar.from_lark('start: p::3\np::_: "a"'), ["a"], ["", "aa"])


def test_other_rules_are_called_with_their_own() -> None:
    """A plain rule between two parametric ones passes on nothing of the outer parameter."""
    source = 'start: p::3\np::_: "a" plain %if eq(_, 3)\nplain: p::4 | q::0\nq::_: "b" %if is_zeros(_)'
    check(Grammar.from_lark(source), ["ab"], ["a", "aab", "b"])


def test_ignored_terminals_extensions_and_templates() -> None:
    spaced = 'start: p::1 ";"\np::_: "a" p::0 %if eq(_, 1) | "b"\n%ignore " "'
    check(Grammar.from_lark(spaced), ["a b ;", " b;"], ["a ;"])
    extended = 'start: p::0\np::_: "a" %if gt(_, 0)\n%extend p::_: "b" %if is_zeros(_)'
    check(Grammar.from_lark(extended), ["b"], ["a"])
    separated = 'start: _list{p::1, ","}\n_list{x, s}: x (s x)*\np::_: "a" %if eq(_, 1)'
    check(Grammar.from_lark(separated), ["a", "a,a"], ["", "a,"])


def test_endless_values_do_no_harm() -> None:
    with pytest.raises(UnsatisfiableError):
        check(Grammar.from_lark('start: p::0\np::_: "a" p::incr(_)'), ["a"], [])
    check(Grammar.from_lark('start: p::0\np::_: "a" p::incr(_) | "b"'), ["b", "a" * 300 + "b"], ["a"])


# source, part of the message, line, column, part of the hint
ERRORS = [
    ("start: p\np::_: 'a'", "needs a parameter", 1, 8, "p::0"),
    ("start::_: 'a'", "'start' has a parameter", 1, 1, "start: first::0"),
    ("start: p::1\np: 'a'", "'p' has no parameter", 1, 8, "p::_"),
    ("start: A::1\nA: 'a'", "'A' has no parameter", 1, 8, ""),
    ("start: p::set_bit(1)\np::_: 'a'", "only a rule with a parameter", 1, 11, "name::_"),
    ("start: 'a' %if is_zeros(_)", "only a rule with a parameter", 1, 16, "name::_"),
    ("start: p::0\np::_: t{p::_}\nt{x}: x", "only a rule with a parameter", 2, 12, "name::_"),
    ("start: p::0\np::_: 'a' %if true 'b'", "must come last in its alternative", 2, 20, "parentheses"),
    ("start: p::0\np::_: 'a' %if true *", "must come last in its alternative", 2, 20, "parentheses"),
    ("start: p::0\np::_: 'a' %if true %if true", "must come last in its alternative", 2, 20, "parentheses"),
    ("start: p::0\np::_: 'a' %if eq(_ 1)", "malformed parameter", 2, 20, "bit_clear"),
    ("start: p::0\np::_: 'a' %if eq(_, )", "malformed parameter", 2, 21, "bit_clear"),
    ("start: p::0\np::_: 'a' %if", "malformed parameter", 2, 14, "bit_clear"),
    ("start: p::0\np::_: 'a' %if (true)", "malformed parameter", 2, 15, "bit_clear"),
    ("start: p::0\np::_: 'a' %if set_bit(0)", "not a valid condition", 2, 15, "bit_set(3)"),
    ("start: p::0\np::_: 'a' %if and(true)", "not a valid condition", 2, 15, "and(…, …)"),
    ("start: p::is_ones(_)\np::_: 'a'", "not a valid parameter value", 1, 11, "incr([0:4])"),
    ("start: p::set_bit(64)\np::_: 'a'", "the last is 63", 1, 19, ""),
    ("start: p::set_bit(_)\np::_: 'a'", "expected a number", 1, 19, "0x"),
    ("start: p::18446744073709551616\np::_: 'a'", "at most 18446744073709551615", 1, 11, ""),
    (f"start: p::0x{'f' * 10_000}\np::_: 'a'", "at most 18446744073709551615", 1, 11, ""),
    ("start: p::0\np::_: 'a' %if is_ones([3:3])", "a range of bits", 2, 23, "low < high"),
    ("start: p::0\np::_: 'a' %if is_ones([0:65])", "a range of bits", 2, 23, "<= 64"),
    ("start: p::0\np::_: 'a' %if is_ones(7)", "a range of bits", 2, 23, "[low:high]"),
    ("start: p::0\np{x}::_: 'a'", "a template cannot have a parameter", 2, 1, "name::_"),
    ("start: P::0\nP::_: 'a'", "a terminal cannot have a parameter", 2, 1, "name::_"),
    ("start: T\nT: 'a' %if true", "a condition is not allowed in a terminal", 2, 4, "rule"),
    ("start: p::0\np::_: 'a'\n%extend p: 'b'", "different parameters", 3, 9, ""),
]


@pytest.mark.parametrize(("source", "message", "line", "column", "hint"), ERRORS)
def test_refused(source: str, message: str, line: int, column: int, hint: str) -> None:
    with pytest.raises(LarkSyntaxError) as info:
        Grammar.from_lark(source)
    error = info.value
    assert message in error.message
    assert (error.line, error.column) == (line, column)
    assert hint in (error.hint or "")
