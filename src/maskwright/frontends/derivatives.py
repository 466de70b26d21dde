"""Derivatives of regular expressions of the IR: what may follow or precede a byte, and what that says of all matches.

    derivative("abc" | "b", "a")   →   "bc"

Source: J. Brzozowski, "Derivatives of Regular Expressions", JACM 1964.
Cost: a derivative is linear in the expression; searches give up after _MAX_DERIVATIVES of them or _MAX_NODES of nodes.
Tested by tests/frontends/test_derivatives.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.regular import first_bytes
from maskwright.ir import (
    EMPTY,
    OP_ALT,
    OP_AND,
    OP_EMPTY,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_REPEAT,
    OP_SEQ,
    OP_SET,
    UNBOUNDED,
    Expr,
    alt,
    and_,
    literal,
    never,
    not_,
    repeat,
    seq,
)
from maskwright.support.interruption import interrupt_checkpoint

_MAX_DERIVATIVES: Final = 150  # about a millisecond
_MAX_NODES: Final = 10_000


def nullable(expr: Expr) -> bool:
    """Whether an expression matches the empty string."""
    op = expr[0]
    if op in (OP_SEQ, OP_AND):
        return all(map(nullable, expr[1:]))
    if op == OP_ALT:
        return any(map(nullable, expr[1:]))
    if op == OP_REPEAT:
        return expr[2] == 0 or nullable(expr[1])
    return op == OP_EMPTY or (op == OP_NOT and not nullable(expr[1]))


def derivative(expr: Expr, byte: int) -> Expr:
    """Return what may follow a byte in the matches of an expression that begin with it."""
    op = expr[0]
    if op == OP_LITERAL:
        return literal(expr[1][1:]) if expr[1][0] == byte else never()
    if op == OP_SET:
        return EMPTY if expr[1] >> byte & 1 else never()
    if op == OP_ALT:
        return alt(*[derivative(branch, byte) for branch in expr[1:]])
    if op == OP_AND:
        return and_(*[derivative(operand, byte) for operand in expr[1:]])
    if op == OP_NOT:
        return not_(derivative(expr[1], byte))
    if op == OP_REPEAT:
        _, item, minimum, maximum = expr
        rest = repeat(item, max(minimum - 1, 0), maximum if maximum == UNBOUNDED else maximum - 1)
        return seq(derivative(item, byte), rest)
    if op != OP_SEQ:
        return never()
    ways = []
    for i, part in enumerate(expr[1:], 2):
        ways.append(seq(derivative(part, byte), *expr[i:]))
        if not nullable(part):
            break
    return alt(*ways)


def before_last(expr: Expr, byte: int) -> Expr:
    """Return what may stand before a byte in the matches of an expression that end with it."""
    op = expr[0]
    if op == OP_LITERAL:
        return literal(expr[1][:-1]) if expr[1][-1] == byte else never()
    if op == OP_SET:
        return EMPTY if expr[1] >> byte & 1 else never()
    if op == OP_ALT:
        return alt(*[before_last(branch, byte) for branch in expr[1:]])
    if op == OP_AND:
        return and_(*[before_last(operand, byte) for operand in expr[1:]])
    if op == OP_NOT:
        return not_(before_last(expr[1], byte))
    if op == OP_REPEAT:
        _, item, minimum, maximum = expr
        rest = repeat(item, max(minimum - 1, 0), maximum if maximum == UNBOUNDED else maximum - 1)
        return seq(rest, before_last(item, byte))
    if op != OP_SEQ:
        return never()
    ways = []
    for i in range(len(expr) - 1, 0, -1):
        ways.append(seq(*expr[1:i], before_last(expr[i], byte)))
        if not nullable(expr[i]):
            break
    return alt(*ways)


def first_sets(expr: Expr) -> set[int]:
    """Return sets of bytes, as bits: bytes that are in the same ones have the same derivative."""
    op = expr[0]
    if op == OP_LITERAL:
        return {1 << int(expr[1][0])}
    if op == OP_SET:
        return {int(expr[1])}
    if op in (OP_REPEAT, OP_NOT):
        return first_sets(expr[1])
    out: set[int] = set()
    if op in (OP_ALT, OP_SEQ, OP_AND):
        for part in expr[1:]:
            out |= first_sets(part)
            if op == OP_SEQ and not nullable(part):
                break
    return out


def byte_classes(bytes_: int, *exprs: Expr) -> list[list[int]]:
    """Return these bytes, given as bits, in classes of those by which each expression has the same derivative."""
    interrupt_checkpoint()
    classes = [bytes_] if bytes_ else []
    for one in set().union(*map(first_sets, exprs)):
        classes = [part for known in classes for part in (known & one, known & ~one) if part]
    return [[byte for byte in range(part.bit_length()) if part >> byte & 1] for part in classes]


def overlap(a: Expr, b: Expr) -> bool:
    """Whether two expressions may have a common match. False is proved; True may mean too long a search."""
    return common_match(a, b, None) is not False


def common_match(a: Expr, b: Expr, max_nodes: int | None) -> bool | None:
    """Whether two expressions have a common match; None after too long a search.

    Derivatives of counts within counts grow with each byte, so `max_nodes` limits how large they are all together.
    """
    seen = {(a, b)}
    waiting = [(a, b)]
    left, nodes_left = _MAX_DERIVATIVES, max_nodes
    while waiting:
        x, y = waiting.pop()
        if nullable(x) and nullable(y):
            return True
        for members in byte_classes(first_bytes(x) & first_bytes(y), x, y):
            left -= 1
            if nodes_left is not None:
                nodes_left -= _num_nodes(x, nodes_left) + _num_nodes(y, nodes_left)
            if left < 0 or (nodes_left is not None and nodes_left < 0):
                return None
            pair = derivative(x, members[0]), derivative(y, members[0])
            if pair not in seen and OP_NEVER not in (pair[0][0], pair[1][0]):
                seen.add(pair)
                waiting.append(pair)
    return False


def has_many_matches(expr: Expr, number: int) -> bool:
    """Whether there are so many matches; False also after too long a search."""
    after: dict[Expr, list[tuple[Expr, int]]] = {}
    waiting = [expr]
    nodes_left, next_look = _MAX_NODES, 8
    while waiting and nodes_left > 0:
        at = waiting.pop()
        if at in after:
            continue
        classes = byte_classes(first_bytes(at), at)
        nodes_left -= _num_nodes(at, nodes_left) * len(classes)
        following = [(derivative(at, members[0]), len(members)) for members in classes]
        after[at] = [(one, count) for one, count in following if one[0] != OP_NEVER]
        waiting += [one for one, _ in after[at]]
        if len(after) == next_look:
            next_look *= 2
            if _num_found(expr, after, number) >= number:
                return True
    return _num_found(expr, after, number) >= number


def _num_found(expr: Expr, after: dict[Expr, list[tuple[Expr, int]]], most: int) -> int:
    """How many matches the derivatives found so far lead to, up to a limit.

    There are infinitely many if one is longer than there are derivatives, as some is met twice then; the shortest such
    is at most twice as long.
    """
    counts = dict.fromkeys(after, 0)
    num_short = 0
    for length in range(2 * len(after) + 1):
        new = {
            at: min(nullable(at) + sum(count * counts.get(one, 0) for one, count in following), most)
            for at, following in after.items()
        }
        if new == counts or new[expr] == most:
            return new[expr]
        counts = new
        if length == len(after):
            num_short = counts[expr]
    return most if counts[expr] > num_short else num_short


def _num_nodes(expr: Expr, most: int) -> int:
    """The size of an expression as a tree, or more than `most`."""
    pending = [expr]
    for at in pending:  # grows meanwhile
        pending += [part for part in at[1:] if isinstance(part, Expr)]
        if len(pending) > most:
            break
    return len(pending)
