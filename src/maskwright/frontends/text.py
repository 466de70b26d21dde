r"""Texts without certain strings, up to certain strings, and no longer than needed: expressions that front-ends share.

    >>> from maskwright.ir import text
    >>> shortest(text("a")).dump()
    '"a" & ~("a" [^]+)'

All of these are regular if their arguments are. The kernel builds intersections and complements as products, so each
costs about what an automaton for the strings costs.
Tested by tests/frontends/test_text.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import iand, or_

from maskwright.frontends.charset import ALL_CHARACTERS, utf8
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    EMPTY,
    OP_ALT,
    OP_AND,
    OP_EMPTY,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_REF,
    OP_REPEAT,
    OP_SEQ,
    OP_SET,
    OP_TOKENS,
    Expr,
    alt,
    and_,
    never,
    not_,
    plus,
    repeat,
    seq,
    star,
    text,
)

ANY_CHARACTER = utf8(ALL_CHARACTERS)
ANY_TEXT = star(ANY_CHARACTER)


def shortest(body: Expr) -> Expr:
    """Those of the texts of which no proper prefix is one: where a text could end, it ends."""
    return and_(body, not_(seq(body, plus(ANY_BYTE))))


def text_without(strings: Iterable[str]) -> Expr:
    """Any text in which none of these strings occurs."""
    endings = [text(s) for s in strings]
    if EMPTY in endings:
        return never()
    return and_(ANY_TEXT, not_(seq(ANY_TEXT, alt(*endings), star(ANY_BYTE)))) if endings else ANY_TEXT


def text_up_to(ending: str, others: Iterable[str] = ()) -> Expr:
    """Any text that ends with this string, in which neither it nor another of the strings ends any earlier."""
    early = seq(ANY_TEXT, alt(text(ending), *(text(s) for s in others)), plus(ANY_BYTE))
    return and_(seq(ANY_TEXT, text(ending)), not_(early))


def at_most_chars(body: Expr, limit: int) -> Expr:
    """Those of the texts that have no more than `limit` characters."""
    return and_(body, repeat(ANY_CHARACTER, 0, limit))


def complement(body: Expr) -> Expr:
    """All texts, in valid UTF-8, that the body does not match."""
    return and_(ANY_TEXT, not_(body))


def first_bytes(root: Expr) -> int:
    """The bytes that a text of a regular expression may begin with, as a set of bits; maybe some more."""
    order = [root]
    for node in order:  # grows meanwhile
        order.extend(part for part in node[1:] if isinstance(part, Expr))
    found: dict[int, tuple[int, bool]] = {}  # by id: the bytes, and whether it may be empty
    for node in reversed(order):
        found[id(node)] = _first(node, [found[id(part)] for part in node[1:] if isinstance(part, Expr)])
    return found[id(root)][0]


def _first(node: Expr, parts: list[tuple[int, bool]]) -> tuple[int, bool]:
    op = node[0]
    if op == OP_LITERAL:
        return 1 << node[1][0], False
    if op == OP_SET:
        return node[1], False
    if op in (OP_EMPTY, OP_NEVER):
        return 0, op == OP_EMPTY
    if op == OP_ALT:
        return reduce(or_, (mask for mask, _ in parts)), any(empty for _, empty in parts)
    if op == OP_AND:
        return reduce(iand, (mask for mask, _ in parts)), all(empty for _, empty in parts)
    if op == OP_REPEAT:
        return parts[0][0], parts[0][1] or node[2] == 0
    if op != OP_SEQ:
        return ALL_BYTES, True
    mask = 0
    for each, empty in parts:
        mask |= each
        if not empty:
            return mask, False
    return mask, True


def is_regular(expr: Expr) -> bool:
    """Whether an expression holds no reference and no tokens, so that it can be intersected and complemented."""
    open_nodes = [expr]
    while open_nodes:
        node = open_nodes.pop()
        if node[0] in (OP_REF, OP_TOKENS):
            return False
        if node[0] in (OP_SEQ, OP_ALT, OP_AND, OP_REPEAT):
            open_nodes.extend(part for part in node[1:] if isinstance(part, Expr))
        elif node[0] == OP_NOT:
            open_nodes.append(node[1])
    return True
