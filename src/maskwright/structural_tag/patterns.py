"""The pattern of a `regex` format: its texts, and whether one of them can go on with what ends it.

    [ab]*    before "ab"      at "ab" the text may be over, or may go on: nobody could tell
    "[^"]*"  before "</a>"    may hold the end, but is not over before its last quote

Kept, as a family has the same patterns in the calls of all tools.
Tested by tests/structural_tag/test_patterns.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from maskwright.emptiness import admits_nothing
from maskwright.errors import LimitError
from maskwright.frontends.texts import text_without
from maskwright.ir import (
    ALL_BYTES,
    ANY_BYTE,
    OP_LITERAL,
    OP_NOT,
    OP_SET,
    Expr,
    GrammarIR,
    Rule,
    and_,
    literal,
    postorder,
    seq,
    star,
)

_MAX_KEPT: Final = 256


class Texts(NamedTuple):
    """The texts of a pattern, and whether there are none."""

    expr: Expr
    is_empty: bool


@lru_cache(_MAX_KEPT)
def texts_of(pattern: str, excluded: tuple[bytes, ...]) -> Texts:
    """Return the texts of a pattern in which nothing excluded occurs.

    Raises:
        GrammarError: The pattern cannot be read.
    """
    from maskwright.frontends.regex import regex_to_expr

    expr = text_without(excluded, regex_to_expr(pattern))
    return Texts(expr, _is_empty(expr))


@lru_cache(_MAX_KEPT)
def may_go_on_with(pattern: str, excluded: tuple[bytes, ...], end: bytes) -> bool:
    """Whether some text begins with a shorter one and `end`, as far as that can be told."""
    texts = texts_of(pattern, excluded).expr
    if not set(end) <= _bytes_in(texts):
        return False
    try:
        return not _is_empty(and_(texts, seq(texts, literal(end), star(ANY_BYTE))))
    except LimitError:
        return False


def _is_empty(texts: Expr) -> bool:
    return admits_nothing(GrammarIR((Rule("pattern", texts),), 0))


def _bytes_in(texts: Expr) -> set[int]:
    """The bytes that may occur in texts, or more."""
    mask = 0
    for part in postorder(texts):
        if part[0] == OP_NOT:
            mask = ALL_BYTES
        elif part[0] == OP_SET:
            mask |= part[1]
        elif part[0] == OP_LITERAL:
            for byte in part[1]:
                mask |= 1 << byte
    return {byte for byte in range(256) if mask >> byte & 1}
