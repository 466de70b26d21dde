"""A grammar with its lists of distinct elements or values as plain lists, in which they may repeat.

    >>> from maskwright.ir.expressions import distinct, text
    >>> unique = GrammarIR((Rule("root", distinct(text("a"), text(","), 2, UNBOUNDED)),), 0)
    >>> print(with_plain_lists(unique).dump())
    root ::= "a" ",a"+

Its outputs are those of the grammar and more, so what is too short for it is too short for the grammar. Token budgets
of plain lists are exact, where those of distinct elements are bounds, or none.
Tested by tests/test_plain_lists.py.
"""

from __future__ import annotations

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import alt, repeat, seq
from maskwright.ir.grammar import GrammarIR, Rule
from maskwright.ir.ops import OP_DISTINCT, OP_VALUE, UNBOUNDED
from maskwright.ir.walks import changed, operands


def with_plain_lists(grammar: GrammarIR) -> GrammarIR:
    """Let elements repeat. Subgrammars stay as they are."""
    known: dict[int, Expr] = {}

    def change(expr: Expr) -> Expr | None:
        if expr[0] == OP_VALUE:
            return known[id(expr[1])]
        if expr[0] != OP_DISTINCT:
            return None
        return _plain([known[id(part)] for part in operands(expr)], expr[-2], expr[-1])

    rules = [Rule(rule.name, changed(rule.body, change, known)) for rule in grammar.rules]
    return grammar._replace(rules=tuple(rules))


def _plain(parts: list[Expr], minimum: int, maximum: int) -> Expr:
    """The list with these operands (ops.py), at least one element of it."""
    element, separator, *values = parts
    one = alt(element, *(seq(values[i], values[i + 1]) for i in range(0, len(values), 2)))
    more = repeat(seq(separator, one), minimum - 1, UNBOUNDED if maximum == UNBOUNDED else maximum - 1)
    return seq(one, more)
