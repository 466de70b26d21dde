"""Regular expressions of the IR by Brzozowski's derivatives: nullable, derivative, empty.

The derivative of `e` by byte b matches w iff `e` matches bw. So `e` matches a string iff the derivative by all of its
bytes matches the empty string, whatever operators `e` is made of, complement and intersection included.
Up to order and repetition of alternatives an expression has finitely many derivatives, so emptiness is a search.

    >>> no_ab = and_(not_(literal(b"ab")), repeat(ir.bytes_in(b"ab"), 2, 2))
    >>> derivative(no_ab, ord("a")).dump(), is_empty(derivative(derivative(no_ab, ord("a")), ord("b")))
    ('~"b" & [a-b]', True)

Source: Brzozowski, Derivatives of Regular Expressions, JACM 1964.
Tested by tests/oracle/test_recognizer.py.
"""

from __future__ import annotations

from functools import lru_cache

from maskwright import ir
from maskwright.ir import Expr, alt, and_, literal, not_, repeat, seq


@lru_cache(maxsize=1 << 16)
def is_nullable(e: Expr) -> bool:
    """Does `e` match the empty string?"""
    op = e[0]
    if op == ir.OP_REPEAT:
        return e[2] == 0 or is_nullable(e[1])
    if op in (ir.OP_SEQ, ir.OP_AND):
        return all(map(is_nullable, e[1:]))
    if op == ir.OP_ALT:
        return any(map(is_nullable, e[1:]))
    return not is_nullable(e[1]) if op == ir.OP_NOT else op == ir.OP_EMPTY


@lru_cache(maxsize=1 << 16)
def derivative(e: Expr, b: int) -> Expr:
    """What may follow byte b in `e`."""
    op = e[0]
    if op == ir.OP_LITERAL:
        return literal(e[1][1:]) if e[1][0] == b else ir.never()
    if op == ir.OP_SET:
        return ir.EMPTY if e[1] >> b & 1 else ir.never()
    if op == ir.OP_SEQ:
        head, tail = e[1], seq(*e[2:])
        first = seq(derivative(head, b), tail)
        return _alt(first, derivative(tail, b)) if is_nullable(head) else first
    if op == ir.OP_ALT:
        return _alt(*(derivative(branch, b) for branch in e[1:]))
    if op == ir.OP_REPEAT:
        _, item, minimum, maximum = e
        rest = repeat(item, max(minimum - 1, 0), maximum if maximum == ir.UNBOUNDED else maximum - 1)
        return seq(derivative(item, b), rest)
    if op == ir.OP_AND:
        return and_(*(derivative(operand, b) for operand in e[1:]))
    return not_(derivative(e[1], b)) if op == ir.OP_NOT else ir.never()


def _alt(*branches: Expr) -> Expr:
    """Alternatives in a fixed order, so that equal ones are seen to be equal."""
    whole = alt(*branches)
    return alt(*sorted(whole[1:])) if whole[0] == ir.OP_ALT else whole


@lru_cache(maxsize=1 << 12)
def is_empty(e: Expr) -> bool:
    """Does `e` match no string at all?"""
    seen, todo = {e}, [e]
    representatives = [group[0] for group in byte_groups(e)]
    while todo:
        e = todo.pop()
        if is_nullable(e):
            return False
        new = {derivative(e, b) for b in representatives} - seen
        seen |= new
        todo.extend(new)
    return True


def byte_groups(*exprs: Expr) -> list[list[int]]:
    """All bytes, grouped by what the byte sets and literals in these expressions can tell apart."""
    masks: list[int] = []
    todo = list(exprs)
    while todo:
        e = todo.pop()
        if e[0] == ir.OP_SET:
            masks.append(e[1])
        elif e[0] == ir.OP_LITERAL:
            masks.extend(1 << b for b in e[1])
        else:
            todo.extend(part for part in e[1:] if isinstance(part, Expr))
    groups: dict[tuple[int, ...], list[int]] = {}
    for b in range(256):
        groups.setdefault(tuple(mask >> b & 1 for mask in masks), []).append(b)
    return list(groups.values())
