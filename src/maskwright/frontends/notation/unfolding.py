"""Parametric rules as plain ones: a rule for each of the values that its parameter takes.

    >>> from maskwright.ir import EMPTY, GrammarIR, Rule, alt, call, guard, seq, text
    >>> from maskwright.ir.parameters import compare, increment
    >>> up_to_two = alt(EMPTY, guard(compare("<", 2), seq(text("x"), call(0, increment()))))
    >>> print(unfolded(GrammarIR((Rule("r", up_to_two),), 0)).dump())
    r ::= "" | "x" r_1
    r_1 ::= "" | "x" r_2
    r_2 ::= ""

Notations without parameters are printed from this. Only the values that the root leads to count; a counter without a
bound leads to too many. Cost: linear in the rules made.
Tested by tests/frontends/test_printing_parameters.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import LimitError
from maskwright.ir import (
    OP_CALL,
    OP_GUARD,
    OP_REF,
    Expr,
    GrammarIR,
    IRBuilder,
    never,
    operands,
    postorder,
    rebuilt,
    uses_parameter,
)

MAX_UNFOLDED: Final = 200_000  # nodes


def unfolded(grammar: GrammarIR) -> GrammarIR:
    """The same language without parameters; the grammar itself if it has none.

    Raises:
        LimitError: Too many values lead to too many rules.
    """
    if not any(uses_parameter(rule.body) or _calls(rule.body) for rule in grammar.rules):
        return grammar
    return _Unfolding(grammar).grammar()


def _calls(body: Expr) -> bool:
    return any(node[0] == OP_CALL for node in postorder(body))


class _Unfolding:
    def __init__(self, grammar: GrammarIR) -> None:
        self._rules = grammar.rules
        self._root = grammar.root
        self._token_sets = dict(grammar.token_sets)
        self._depends = [uses_parameter(rule.body) for rule in grammar.rules]
        self._builder = IRBuilder()
        self._made: dict[tuple[int, int], Expr] = {}
        self._pending: list[tuple[int, int]] = []
        self._num_nodes = 0

    def grammar(self) -> GrammarIR:
        root = self._reference(self._root, 0)
        for index, value in self._pending:  # grows meanwhile
            self._builder.define(self._made[index, value], self._body(self._rules[index].body, value))
        return self._builder.build(root)

    def _reference(self, index: int, value: int) -> Expr:
        """The rule for one value. One that has no use for its parameter is the same for all."""
        token_set = self._token_sets.get(index)
        if token_set is not None:
            return self._builder.add_tokens(token_set)
        key = index, value if self._depends[index] else 0
        known = self._made.get(key)
        if known is None:
            name = self._rules[index].name
            known = self._made[key] = self._builder.declare(f"{name}_{key[1]:x}" if key[1] else name)
            self._pending.append(key)
        return known

    def _body(self, body: Expr, value: int) -> Expr:
        done: dict[int, Expr] = {}
        for node in postorder(body, lambda node: self._parts(node, value)):
            self._num_nodes += 1
            if self._num_nodes > MAX_UNFOLDED:
                hint = "use Lark, which has parameters"
                raise LimitError("parameters take too many values to print", limit="unfolded size", hint=hint)
            done[id(node)] = self._rebuilt(node, value, done)
        return done[id(body)]

    def _parts(self, node: Expr, value: int) -> tuple[Expr, ...]:
        """Those that the value lets through."""
        return () if node[0] == OP_GUARD and not node[2].holds(value) else tuple(operands(node))

    def _rebuilt(self, node: Expr, value: int, done: dict[int, Expr]) -> Expr:
        if node[0] == OP_GUARD:
            return done[id(node[1])] if node[2].holds(value) else never()
        if node[0] == OP_REF:
            return self._reference(node[1], 0)
        if node[0] == OP_CALL:
            return self._reference(node[1], node[2].of(value))
        return rebuilt(node, [done[id(part)] for part in operands(node)])
