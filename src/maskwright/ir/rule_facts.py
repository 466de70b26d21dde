"""What holds of rules as a least fixpoint: whether they match anything, whether they match the empty string.

    nodes = [postorder(rule.body) for rule in grammar.rules]
    least(nodes, is_productive, supplied)     [True, False, …], a value for each rule

Conditions of parametric rules are taken to hold.
Cost: linear, but for rules of many others, which are looked at again as those turn out to have the property.
Tested by tests/report/test_lint.py, tests/frontends/test_printing_gbnf.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from maskwright.ir.expr import Expr
from maskwright.ir.ops import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_EMPTY,
    OP_GUARD,
    OP_MULTIPLE,
    OP_NEVER,
    OP_NOT,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SPAN,
    OP_VALUE,
)
from maskwright.ir.walks import operands, postorder


def least(
    nodes: Sequence[Sequence[Expr]], holds: Callable[[Expr, list[bool], list[bool]], bool], known: Iterable[int]
) -> list[bool]:
    """Return for each rule whether it has a property, by looking again at the callers of each rule that gains it.

    Args:
        nodes: By rule, the expressions of its body, parts before what they are part of.
        holds: Whether an expression has the property, given whether its parts have it, and which rules.
        known: The rules that have it whatever their bodies.
    """
    complementing = {i for i, order in enumerate(nodes) if any(n[0] == OP_NOT for n in order)}
    found = [False] * len(nodes)
    callers: list[list[int]] = [[] for _ in nodes]
    for caller, order in enumerate(nodes):
        for index in dict.fromkeys(n[1] for n in order if n[0] in (OP_REF, OP_CALL)):
            callers[index].append(caller)
    for index in known:
        found[index] = True
    pending = list(range(len(nodes)))
    waiting = set(pending)
    holding: set[int] = set()  # expressions, by identity: what holds goes on to hold, but for complements
    while pending:
        index = pending.pop()
        waiting.discard(index)
        values: dict[int, bool] = {}
        for node in nodes[index]:
            key = id(node)
            values[key] = key in holding or holds(node, [values[id(part)] for part in operands(node)], found)
        if index not in complementing:
            holding.update(key for key, value in values.items() if value)
        if found[index] or not values[id(nodes[index][-1])]:
            continue
        found[index] = True
        fresh = [caller for caller in callers[index] if not found[caller] and caller not in waiting]
        waiting.update(fresh)
        pending.extend(fresh)
    return found


def nullable_rules(bodies: Iterable[Expr]) -> list[bool]:
    """Return for each rule whether it may match the empty string."""
    return least([postorder(body) for body in bodies], is_nullable, ())


def may_be_empty(expr: Expr, found: list[bool]) -> bool:
    """Whether an expression may match the empty string, given which rules may."""
    known: dict[int, bool] = {}
    for node in postorder(expr):
        known[id(node)] = is_nullable(node, [known[id(part)] for part in operands(node)], found)
    return known[id(expr)]


def is_productive(node: Expr, parts: list[bool], found: list[bool]) -> bool:
    """Whether an expression matches anything."""
    combined = _combined(node, parts, found)
    return bool(node[0] != OP_NEVER) if combined is None else combined


def is_nullable(node: Expr, parts: list[bool], found: list[bool]) -> bool:
    """Whether an expression matches the empty string."""
    combined = _combined(node, parts, found)
    if combined is None:
        return not parts[0] if node[0] == OP_NOT else bool(node[0] == OP_EMPTY)
    return combined


def _combined(node: Expr, parts: list[bool], found: list[bool]) -> bool | None:
    """What follows from the parts and the rules named, None for what has neither."""
    op: int = node[0]
    if op in (OP_REF, OP_CALL):
        return found[int(node[1])]
    if op in (OP_SEQ, OP_AND):
        return all(parts)
    if op == OP_ALT:
        return any(parts)
    if op in (OP_GUARD, OP_CAPTURE, OP_SPAN, OP_SCOPE, OP_REMEMBER, OP_MULTIPLE, OP_VALUE):
        return parts[0]
    if op == OP_DISTINCT:  # an element, or a value with what follows it
        return parts[0] or any(parts[i] and parts[i + 1] for i in range(2, len(parts), 2))
    return parts[0] or bool(node[2] == 0) if op == OP_REPEAT else None
