"""Which rules may match the empty text, and rules within a budget of no tokens, which match nothing else.

    >>> from maskwright.ir import EMPTY, Rule, ref, span, star, text
    >>> rules = (Rule("root", span(ref(1), 0)), Rule("a", star(text("a"))))
    >>> print(without_empty_budgets(GrammarIR(rules, 0)).dump())
    root ::= ""

Conditions on parameters are taken to hold.
Tested by tests/frontends/warnings/test_shadowing.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maskwright.ir import (
    EMPTY,
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_EMPTY,
    OP_GUARD,
    OP_MULTIPLE,
    OP_NOT,
    OP_REF,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SPAN,
    Expr,
    GrammarIR,
    Rule,
    alt,
    never,
    postorder,
    seq,
)

_INNER: Final = frozenset((OP_CAPTURE, OP_GUARD, OP_SPAN, OP_SCOPE, OP_MULTIPLE))


def nullable_rules(bodies: Sequence[Expr], max_rounds: int | None = None) -> list[bool]:
    """Tell for each rule whether it may match the empty text. After `max_rounds` some of those may be missing."""
    found = [False] * len(bodies)
    orders = [postorder(body) for body in bodies]
    for _ in range(len(bodies) + 1 if max_rounds is None else max_rounds):
        fresh = [i for i, order in enumerate(orders) if not found[i] and _is_nullable(order, found)]
        if not fresh:
            break
        for index in fresh:
            found[index] = True
    return found


def is_nullable(expr: Expr, found: Sequence[bool]) -> bool:
    """Whether an expression may match the empty text, given which rules may."""
    return _is_nullable(postorder(expr), found)


def _is_nullable(order: list[Expr], found: Sequence[bool]) -> bool:
    known: dict[int, bool] = {}
    for node in order:
        op = node[0]
        if op in (OP_SEQ, OP_AND):
            value = all(known[id(part)] for part in node[1:])
        elif op == OP_ALT:
            value = any(known[id(part)] for part in node[1:])
        elif op in (OP_REF, OP_CALL):
            value = found[int(node[1])]
        elif op == OP_REPEAT:
            value = node[2] == 0 or known[id(node[1])]
        elif op == OP_NOT:
            value = not known[id(node[1])]
        else:
            value = known[id(node[1])] if op in _INNER else op == OP_EMPTY
        known[id(node)] = value
    return known[id(order[-1])]


def without_empty_budgets(grammar: GrammarIR) -> GrammarIR:
    """The same, with what must lie in no token at all replaced by what it can match: nothing but the empty text."""
    found = nullable_rules([rule.body for rule in grammar.rules])
    rules = [Rule(rule.name, _without_empty_budgets(rule.body, found)) for rule in grammar.rules]
    return GrammarIR(tuple(rules), grammar.root, grammar.token_sets)


def _without_empty_budgets(body: Expr, found: Sequence[bool]) -> Expr:
    """Options are of whole rules, so they stand in sequences and alternatives only."""
    if body[0] == OP_SPAN:
        return body if body[2] != 0 else EMPTY if is_nullable(body[1], found) else never()
    if body[0] in (OP_SEQ, OP_ALT):
        parts = [_without_empty_budgets(part, found) for part in body[1:]]
        return seq(*parts) if body[0] == OP_SEQ else alt(*parts)
    return body
