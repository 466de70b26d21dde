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
from maskwright.frontends.json_schema.emit.listed_items import listed_items
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Refusal
from maskwright.frontends.json_schema.sets.shape import ArrayShape
from maskwright.ir import OP_NEVER, Expr, never


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
    items = listed_items(emitter, prefix, rest if longest != len(prefix) else never(), shape.min_items, longest, style)
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
    "items that are arrays or objects can be compared if each may have any number of items or undeclared properties, "
    "or if all of them have limited depth and no undeclared properties, or if they come from a small enum"
)
_NOT_COMPARED_BESIDE: Final = (
    "beside prefixItems or contains, items can be compared if they come from a small enum, may be nearly any string or "
    "number, or are arrays or objects that may have any number of items or undeclared properties"
)
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
