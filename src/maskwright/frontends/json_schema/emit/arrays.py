"""Emit arrays: a prefix element by element, then elements alike, within bounds on their number.

    prefixItems [A, B], items C, minItems 1   →   "[" A (, B (, C)*)? "]"

Size is linear in the prefix; the bounds stay numbers (the kernel counts).
Tested by tests/frontends/json_schema/emit/test_schema_emit.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.emit.counted_arrays import counted_array
from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.distinct_items import distinct_array
from maskwright.frontends.json_schema.emit.layout import Style
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Refusal
from maskwright.frontends.json_schema.sets.shape import ArrayShape
from maskwright.ir import EMPTY, OP_NEVER, Expr, never, optional, repeat, seq

_NESTED_OPTIONALS: Final = 16


def array_text(emitter: SchemaRules, shape: ArrayShape, depth: int) -> Expr:
    """Return the spellings of a shape's arrays, inside containers of this depth."""
    longest = -1 if shape.max_items is None else shape.max_items
    style = emitter.layout.styles[depth]
    inner = style.inner
    if longest < 0 and not (shape.prefix or shape.min_items or shape.contains or shape.unique):
        listed = style.lists.get(id(shape.rest))
        if listed is not None:
            return listed
    prefix: list[Expr] = []
    for conj in shape.prefix if longest < 0 else shape.prefix[:longest]:
        item = emitter.place(conj, inner)
        if item[0] == OP_NEVER:
            longest = len(prefix)
            break
        prefix.append(item)
    if longest != len(prefix):
        closed = emitter.strict and shape.prefix and not shape.rest
        rest = never() if closed else emitter.place(shape.rest, inner)
        if rest[0] == OP_NEVER:
            longest = len(prefix)
    if 0 <= longest < shape.min_items:
        return never()
    if shape.contains or (shape.unique is not None and not 0 <= longest <= 1):
        return _compared(emitter, shape, longest, depth)
    if longest == 0:
        return style.array_of(never(), may_be_empty=True)
    if not prefix:
        items = _alike(emitter.as_rule("item", rest), shape.min_items, longest, style)
    else:
        tail = EMPTY
        if longest != len(prefix):
            least = max(shape.min_items - len(prefix), 0)
            tail = repeat(seq(style.comma, rest), least, -1 if longest < 0 else longest - len(prefix))
        items = _prefixed(emitter, prefix, tail, shape.min_items, style)
    return style.array_of(items, may_be_empty=shape.min_items == 0)


def _compared(emitter: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of which elements are counted or must all differ."""
    try:
        return counted_array(emitter, shape, longest, depth)
    except TooManyError:
        pass
    try:
        if shape.unique is not None:
            return distinct_array(emitter, shape, longest, depth)
    except TooManyError:
        pass
    return array_text(emitter, _relaxed(emitter, shape), depth)


_NOT_COMPARED: Final = (
    "only items of limited depth that have no undeclared properties, or a required string or number to differ in, "
    "or come from a small enum can be compared"
)
_NOT_COMPARED_BESIDE: Final = "beside prefixItems or contains, only items out of a small enum can be compared"
_NOT_COUNTED: Final = "counting the items that match takes too many states"


def _relaxed(emitter: SchemaRules, shape: ArrayShape) -> ArrayShape:
    """Refuse what cannot be counted; if the caller wants that left out, return the shape without it."""
    unique = shape.unique is not None
    keyword, path = ("uniqueItems", shape.unique) if unique else ("contains", shape.contains[0].path)
    not_compared = _NOT_COMPARED_BESIDE if shape.prefix or shape.contains else _NOT_COMPARED
    emitter.refuse(Refusal(keyword, path, not_compared if unique else _NOT_COUNTED))
    out = ArrayShape()
    out.prefix, out.rest, out.min_items, out.max_items = shape.prefix, shape.rest, shape.min_items, shape.max_items
    out.contains = shape.contains if unique else ()
    return out


def _alike(item: Expr, least: int, longest: int, style: Style) -> Expr:
    further = repeat(seq(style.comma, item), max(least - 1, 0), -1 if longest < 0 else longest - 1)
    return seq(item, further)


def _prefixed(emitter: SchemaRules, prefix: list[Expr], tail: Expr, least: int, style: Style) -> Expr:
    """The elements of a prefix; those from `least` on may be missing, together with all after them."""
    for i in range(len(prefix) - 1, 0, -1):
        tail = seq(style.comma, prefix[i], tail)
        if i >= least:
            tail = optional(tail)
            if i % _NESTED_OPTIONALS == 0:
                tail = emitter.as_rule("items", tail)
    return seq(prefix[0], tail)
