"""Whether a text is in the language of a grammar: for tests of grammars without left recursion.

Adds rule references, subgrammars, multiples and lists of distinct elements or values to the matcher of regular
expressions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from frontends.ir_matcher import Matcher
from maskwright.ir import (
    OP_ALT,
    OP_CALL,
    OP_DISTINCT,
    OP_GUARD,
    OP_MULTIPLE,
    OP_REF,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SUBGRAMMAR,
    OP_VALUE,
    UNBOUNDED,
    Expr,
    GrammarIR,
)
from oracle.json_values import identity

Way: TypeAlias = "tuple[int, frozenset[Any]]"


class _GrammarMatcher(Matcher):
    """Matches inside rules that have one value of the parameter; the others are kept beside it."""

    def __init__(
        self, grammar: GrammarIR, data: bytes, parameter: int = 0, known: dict[int, _GrammarMatcher] | None = None
    ) -> None:
        super().__init__(data)
        self.grammar, self.parameter = grammar, parameter
        self.known = {} if known is None else known
        self.known[parameter] = self
        self.subgrammars: dict[int, _GrammarMatcher] = {}

    def with_parameter(self, parameter: int) -> _GrammarMatcher:
        return self.known.get(parameter) or _GrammarMatcher(self.grammar, self.data, parameter, self.known)

    def ends_of(self, expr: Expr, start: int) -> set[int] | frozenset[int]:
        op = expr[0]
        if op == OP_REF:
            return self.with_parameter(0).ends(self.grammar.rules[expr[1]].body, start)
        if op == OP_CALL:
            called = self.with_parameter(expr[2].of(self.parameter))
            return called.ends(self.grammar.rules[expr[1]].body, start)
        if op == OP_GUARD:
            return self.ends(expr[1], start) if expr[2].holds(self.parameter) else set()
        if op == OP_SUBGRAMMAR:
            return self.of_subgrammar(expr).ends(expr[1].ir.rules[expr[1].ir.root].body, start)
        if op == OP_MULTIPLE:
            unit = Fraction(expr[2], 10 ** expr[3])
            return {end for end in self.ends(expr[1], start) if is_multiple(self.data[start:end], unit)}
        if op == OP_DISTINCT:
            return self.ends_of_distinct(expr, start)
        if op == OP_SCOPE:
            return {end for end, _ in self.ways(expr[1], {(start, frozenset())})}
        return super().ends_of(expr, start)

    def ends_of_distinct(self, expr: Expr, start: int) -> set[int]:
        element, separator, *values, least, most = expr[1:]
        ends, texts = set[int](), frozenset[Any]()
        waiting = [(start, texts)]
        while waiting:
            begin, texts = waiting.pop()
            for end, text in self.readings(element, values, begin):
                if text in texts or len(texts) == most:
                    continue
                if len(texts) + 1 >= least:
                    ends.add(end)
                waiting += [(following, texts | {text}) for following in self.ends(separator, end)]
        return ends

    def ways(self, expr: Expr, starts: set[Way]) -> set[Way]:
        """Where a part of a scope ends, and the values up to there that differ from all before them."""
        op = expr[0]
        if op == OP_VALUE:
            found = {(begin, values, end) for begin, values in starts for end in self.ends(expr[1], begin)}
            said = {(end, values, identity(self.data[begin:end])) for begin, values, end in found}
            return {(end, values | {value}) for end, values, value in said if value not in values}
        if op == OP_ALT:
            return {way for branch in expr[1:] for way in self.ways(branch, starts)}
        if op == OP_SEQ:
            for part in expr[1:]:
                starts = self.ways(part, starts)
            return starts
        if op != OP_REPEAT:
            return {(end, values) for begin, values in starts for end in self.ends(expr, begin)}
        reached, fresh = set(starts), starts
        assert expr[2:] == (0, UNBOUNDED)
        while fresh:
            fresh = self.ways(expr[1], fresh) - reached
            reached |= fresh
        return reached

    def readings(self, element: Expr, values: list[Expr], begin: int) -> Iterator[tuple[int, Any]]:
        """Where elements and values with what closes them end, and what tells them apart."""
        for end in self.ends(element, begin):
            yield end, self.data[begin:end]
        for value, closing in zip(values[::2], values[1::2], strict=True):
            for middle in self.ends(value, begin):
                said = ("value", identity(self.data[begin:middle]))
                yield from [(end, said) for end in self.ends(closing, middle)]

    def of_subgrammar(self, leaf: Expr) -> _GrammarMatcher:
        number = leaf[1].number
        if number not in self.subgrammars:
            self.subgrammars[number] = _GrammarMatcher(leaf[1].ir, self.data)
        return self.subgrammars[number]


def is_multiple(number: bytes, unit: Fraction) -> bool:
    """An exponent makes it none."""
    return b"e" not in number.lower() and Fraction(number.decode()) % unit == 0


def accepts_text(grammar: GrammarIR, text: str) -> bool:
    data = text.encode()
    return len(data) in _GrammarMatcher(grammar, data).ends(grammar.rules[grammar.root].body, 0)


def accepts(grammar: GrammarIR, value: Any) -> bool:
    return accepts_text(grammar, json.dumps(value, ensure_ascii=False))
