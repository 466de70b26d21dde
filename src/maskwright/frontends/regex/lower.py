r"""From the syntax tree of a regular expression to the IR.

A tree without assertions is lowered node by node; `encode` says how a character is spelled. Anchors at the pattern's
ends are taken off first, since nearly all patterns have no others: `^a$` as a search is `a`, and `a$` is `.*a`. What
assertions are left go through `lookaround.py` and `context.py`.

    >>> from maskwright.frontends.regex.parser import parse
    >>> lower(anywhere(parse("^a|b$"))).dump().count("|") > 1
    True

Invariants: the result holds no `ref`; it is a subset of the encoded texts, because complements are intersected.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from maskwright.frontends.charset import Encoding, utf8
from maskwright.frontends.regex.ast import (
    Alt,
    Anchor,
    Group,
    Node,
    Seq,
    any_string,
    concat,
)
from maskwright.frontends.regex.context import lower_boundaries
from maskwright.frontends.regex.lookaround import resolve
from maskwright.frontends.regex.plain import lower_plain
from maskwright.ir import Expr


def lower(node: Node, encode: Encoding = utf8, pattern: str | None = None) -> Expr:
    """Return the expression for the texts that match as a whole. `pattern` is for error messages.

    Raises:
        RegexSyntaxError: A lookaround stands where it cannot be resolved exactly.
        LimitError: Resolving assertions takes too much space.
    """
    if node.asserts:
        node = resolve(without_edges(node), pattern)
    if node.asserts:
        return lower_boundaries(node, encode)
    return lower_plain(node, encode)


def anywhere(node: Node) -> Node:
    """Return the pattern for the texts in which the given pattern matches somewhere."""
    return _take_off_anchors(node, True, True)


def without_edges(node: Node) -> Node:
    """Return the same pattern, which matches as a whole, without the anchors that hold at its edges."""
    return _take_off_anchors(node, False, False)


def _take_off_anchors(node: Node, open_start: bool, open_end: bool) -> Node:
    """Drop anchors that hold, being at the edges; add "any string" where an edge stays open."""
    while isinstance(node, Group):
        node = node.item
    if isinstance(node, Alt) and node.asserts:
        plain = [b for b in node.branches if not b.asserts]
        out = [_take_off_anchors(b, open_start, open_end) for b in node.branches if b.asserts]
        if plain:
            rest = plain[0] if len(plain) == 1 else Alt(node.span, tuple(plain))
            out.append(_take_off_anchors(rest, open_start, open_end))
        return out[0] if len(out) == 1 else Alt(node.span, tuple(out))
    items = list(node.items) if isinstance(node, Seq) else [node]
    while items and _holds(items[0], "start", open_start):
        open_start = False
        items.pop(0)
    while items and _holds(items[-1], "end", open_end):
        open_end = False
        items.pop()
    if len(items) == 1 and isinstance(items[0], (Group, Alt)) and items[0].asserts:
        return _take_off_anchors(items[0], open_start, open_end)
    if open_start:
        items.insert(0, any_string(node.span))
    if open_end:
        items.append(any_string(node.span))
    return concat(node.span, *items) if items else Seq(node.span, ())


def _holds(node: Node, edge: str, is_open: bool) -> bool:
    return isinstance(node, Anchor) and (node.kind == edge or (node.kind == f"line_{edge}" and not is_open))
