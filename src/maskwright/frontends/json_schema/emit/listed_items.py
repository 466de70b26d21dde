"""The items of an array, with commas: some one by one, then any number alike.

    A, B, then C, at least 1   →   A (, B (, C)*)?

Size is linear in the items that stand one by one; bounds stay numbers (the kernel counts).
Tested by tests/frontends/json_schema/emit/test_schema_emit.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.emit.layout import Style
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.ir import EMPTY, OP_NEVER, Expr, optional, repeat, seq

_NESTED_OPTIONALS: Final = 16


def listed_items(emitter: SchemaRules, prefix: list[Expr], rest: Expr, least: int, longest: int, style: Style) -> Expr:
    """Return `least` to `longest` items, at least one; -1 is no limit. Behind a prefix, there may be no rest."""
    if not prefix:
        return _alike(emitter.as_rule("item", rest), least, longest, style)
    tail = EMPTY
    if rest[0] != OP_NEVER:
        more = max(least - len(prefix), 0)
        tail = repeat(seq(style.comma, rest), more, -1 if longest < 0 else longest - len(prefix))
    return _prefixed(emitter, prefix, tail, least, style)


def _alike(item: Expr, least: int, longest: int, style: Style) -> Expr:
    further = repeat(seq(style.comma, item), max(least - 1, 0), -1 if longest < 0 else longest - 1)
    return seq(item, further)


def _prefixed(emitter: SchemaRules, prefix: list[Expr], tail: Expr, least: int, style: Style) -> Expr:
    """The elements of a prefix; those from `least` on may be missing, together with all after them."""
    least = min(max(least, 1), len(prefix))
    for i in range(len(prefix) - 1, least - 1, -1):
        tail = optional(seq(style.comma, prefix[i], tail))
        if i % _NESTED_OPTIONALS == 0:
            tail = emitter.as_rule("items", tail)
    return seq(prefix[0], *[part for item in prefix[1:least] for part in (style.comma, item)], tail)
