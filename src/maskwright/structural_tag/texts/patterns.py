"""The pattern of a `regex` format: its texts, and whether one of them can go on with what ends it.

    [ab]*    before "ab"      at "ab" the text may be over, or may go on: ambiguous
    .*       before "aa"      likewise, also without "aa" in it: "a" and "aa" begin with "aa"
    "[^"]*"  before "</a>"    may hold the end, but is not over before its last quote

Kept, as a family has the same patterns in the calls of all tools.
Tested by tests/structural_tag/texts/test_patterns.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from maskwright.errors import LimitError
from maskwright.frontends.texts import text_without
from maskwright.ir import (
    ANY_BYTE,
    OP_ALT,
    OP_AND,
    OP_EMPTY,
    OP_LITERAL,
    OP_REPEAT,
    OP_SEQ,
    OP_SET,
    Expr,
    GrammarIR,
    Rule,
    and_,
    literal,
    plus,
    postorder,
    seq,
)
from maskwright.ir.emptiness import admits_nothing

_MAX_KEPT: Final = 64
_MAX_KEPT_LENGTH: Final = 2_000  # of a pattern
_PLAIN: Final = frozenset((OP_EMPTY, OP_SET, OP_LITERAL, OP_SEQ, OP_ALT, OP_REPEAT, OP_AND))


class Texts(NamedTuple):
    """The texts of a pattern, and whether there are none."""

    expr: Expr
    is_empty: bool


def texts_of(pattern: str, excluded: tuple[bytes, ...]) -> Texts:
    """Return the texts of a pattern in which nothing excluded occurs.

    Raises:
        GrammarError: The pattern cannot be read.
        LimitError: It is too large.
    """
    return (_kept_texts if len(pattern) <= _MAX_KEPT_LENGTH else _texts)(pattern, excluded)


def may_go_on_with(pattern: str, excluded: tuple[bytes, ...], end: bytes) -> bool:
    """Whether a text and `end` may be how a longer text and `end` begin, as far as that is decidable."""
    return (_kept_answer if len(pattern) <= _MAX_KEPT_LENGTH else _may_go_on_with)(pattern, excluded, end)


def _texts(pattern: str, excluded: tuple[bytes, ...]) -> Texts:
    from maskwright.frontends.regex import regex_to_expr

    expr = text_without(excluded, regex_to_expr(pattern))
    return Texts(expr, _is_empty(expr))


def _may_go_on_with(pattern: str, excluded: tuple[bytes, ...], end: bytes) -> bool:
    texts = texts_of(pattern, excluded).expr
    if not _may_hold(texts, end[0]):
        return False
    closed = seq(texts, literal(end))
    try:
        return not _is_empty(and_(closed, seq(closed, plus(ANY_BYTE))))
    except LimitError:
        return False


_kept_texts = lru_cache(_MAX_KEPT)(_texts)
_kept_answer = lru_cache(_MAX_KEPT)(_may_go_on_with)


def _is_empty(texts: Expr) -> bool:
    return admits_nothing(GrammarIR((Rule("pattern", texts),), 0))


def _may_hold(texts: Expr, byte: int) -> bool:
    """False only if the byte occurs in none of the texts; most have no byte with which their end begins."""
    for part in postorder(texts):
        if (
            part[0] not in _PLAIN
            or (part[0] == OP_SET and part[1] >> byte & 1)
            or (part[0] == OP_LITERAL and byte in part[1])
        ):
            return True
    return False
