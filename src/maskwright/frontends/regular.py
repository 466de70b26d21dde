"""Questions about expressions that should be regular: are they, what do they begin with, what are they in full?

    >>> from maskwright.ir import ref, seq, text
    >>> spelled_out(seq(ref(0), ref(0)), {0: text("ab")}.get).dump()
    '"abab"'

Regular is what is made of bytes and operators alone. It can be intersected and complemented; rules that it names can be
put in their places if none calls itself.
Tested by tests/frontends/test_regular.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import iand, or_
from typing import Final

from maskwright.errors import LimitError
from maskwright.ir import (
    ALL_BYTES,
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_EMPTY,
    OP_GUARD,
    OP_LITERAL,
    OP_MULTIPLE,
    OP_NEVER,
    OP_NOT,
    OP_RECALL,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SET,
    OP_SPAN,
    OP_SUBGRAMMAR,
    OP_SUBSTRINGS,
    OP_TOKENS,
    OP_VALUE,
    Expr,
    operands,
    postorder,
    rebuilt,
)

MAX_SPELLED_OUT: Final = 500_000  # nodes
MAX_SPELLED_DEPTH: Final = 2_000
ASCII: Final = (1 << 128) - 1  # as a set of bytes

_OF_TEXTS: Final = frozenset((OP_SCOPE, OP_REMEMBER, OP_RECALL, OP_DISTINCT, OP_VALUE))
_IRREGULAR: Final = _OF_TEXTS | {
    OP_REF,
    OP_CALL,
    OP_GUARD,
    OP_TOKENS,
    OP_CAPTURE,
    OP_SPAN,
    OP_SUBGRAMMAR,
    OP_SUBSTRINGS,
    OP_MULTIPLE,
}

_NEVER_REGULAR: Final = _IRREGULAR - {OP_REF, OP_CAPTURE}


def is_regular(root: Expr) -> bool:
    """Whether an expression is made of bytes and operators alone, so that it can be intersected and complemented."""
    return all(node[0] not in _IRREGULAR for node in postorder(root))


def first_bytes(root: Expr) -> int:
    """The bytes that a text of a regular expression may begin with, as a set of bits; maybe some more."""
    return beginning(root)[0]


def matches_empty(root: Expr) -> bool:
    """Whether a regular expression matches the empty text."""
    return beginning(root)[1]


def beginning(root: Expr) -> tuple[int, bool]:
    """Both in one walk: the bytes that a text may begin with, maybe some more, and whether it may be empty."""
    if root[0] == OP_LITERAL:
        return 1 << root[1][0], False
    found: dict[int, tuple[int, bool]] = {}
    for node in postorder(root, _leading):
        found[id(node)] = _first(node, [found[id(part)] for part in _leading(node)])
    return found[id(root)]


def _leading(node: Expr) -> Sequence[Expr]:
    """The operands that the beginning depends on: of a sequence, those up to the first that is certainly a byte."""
    parts = operands(node)
    if node[0] != OP_SEQ:
        return parts
    return parts[: next((i + 1 for i, part in enumerate(parts) if part[0] in (OP_LITERAL, OP_SET)), len(parts))]


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
    if op == OP_NOT:
        return ALL_BYTES, not parts[0][1]
    if op != OP_SEQ:
        return ALL_BYTES, True
    mask = 0
    for each, empty in parts:
        mask |= each
        if not empty:
            return mask, False
    return mask, True


class SpelledOut:
    """What was spelled out before, while rules had the bodies that they have: rules that many name are walked once."""

    def __init__(self) -> None:
        self.done: dict[int, Expr] = {}  # by id of what `keep` keeps alive
        self.sizes: dict[int, tuple[int, int]] = {}  # nodes and levels
        self.keep: list[Expr] = []


def spelled_out(root: Expr, body_of: Callable[[int], Expr | None], known: SpelledOut | None = None) -> Expr | None:
    """A regular expression without references: each is replaced by its rule's body, as often as it stands there.

    None if it cannot be, for a rule calls itself or has a parameter, or a token is in it. `body_of` gives None for a
    rule without a body.

    Raises:
        LimitError: It is too large without its rules.
    """
    known = known or SpelledOut()
    done, sizes, keep = known.done, known.sizes, known.keep
    open_rules: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in done:
            continue
        children = _operands(node, body_of)
        if children is None:
            return None
        if is_ready:
            if node[0] == OP_REF:
                open_rules.discard(node[1])
            size = _own_size(node) + sum(sizes[id(child)][0] for child in children)
            depth = 1 + max((sizes[id(child)][1] for child in children), default=0)
            if size > MAX_SPELLED_OUT or depth > MAX_SPELLED_DEPTH:
                hint = "use smaller rules, or fewer chunks of substrings, in rules with options about text"
                message = "a regular rule is too large with the rules that it refers to"
                raise LimitError(message, limit="spelled-out size", hint=hint)
            sizes[id(node)] = size, depth
            parts = [done[id(child)] for child in children]
            done[id(node)] = parts[0] if node[0] in (OP_REF, OP_CAPTURE) else rebuilt(node, parts)
            keep.append(node)
            continue
        if node[0] == OP_REF:
            if node[1] in open_rules:
                return None
            open_rules.add(node[1])
        stack.append((node, True))
        stack.extend((child, False) for child in children)
    return done[id(root)]


def _own_size(node: Expr) -> int:
    return len(node[1]) if node[0] == OP_LITERAL else 1


def _operands(node: Expr, body_of: Callable[[int], Expr | None]) -> list[Expr] | None:
    if node[0] == OP_REF:
        body = body_of(node[1])
        return None if body is None else [body]
    return None if node[0] in _NEVER_REGULAR else operands(node)
