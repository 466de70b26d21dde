"""`unevaluatedProperties` and `unevaluatedItems`: what no other keyword has looked at.

Which keywords looked at a member depends on which branches the instance satisfies. A shape's alternatives are just
such choices of branches, so each carries what its keywords have seen (`SeenMembers`, `SeenItems`), and intersecting
joins that. What is seen by no keyword of an alternative must satisfy the schema:

    {"anyOf": [{"properties": {"a": A}}, {"properties": {"b": B}}], "unevaluatedProperties": false}   →
    at most a member "a", or at most "b", or at most both (a value of both branches)

For `anyOf` all subsets of its branches are alternatives, of which one that satisfies more branches than it names is
only held to too much, and a larger subset admits it. Nothing is carried unless a schema has one of the two keywords
next to an applicator: then the front-end starts over with `Normaliser.tracks` set.
Source: JSON Schema 2020-12 core, section 11.
Tested by tests/frontends/json_schema/normalise/test_schema_unevaluated.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.read.keyword_table import IN_PLACE
from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, TrackError
from maskwright.frontends.json_schema.sets.intersect import intersect
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ArrayShape,
    Extras,
    ObjectShape,
    SeenItems,
    SeenMembers,
    Shape,
)


def note_seen(context: SchemaContext) -> None:
    """Write down what a schema object's own keywords see, where that will be asked for."""
    schema = context.schema
    if not context.norm.tracks:
        if not context.unevaluated:
            return
        if not IN_PLACE.isdisjoint(schema):
            raise TrackError
    if context.object is not None:
        names, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        context.object.seen = SeenMembers(frozenset(names), tuple(patterns), "additionalProperties" in schema)
    if context.array is not None or context.contained:
        items = schema.get("items")
        old = isinstance(items, list)
        count = len(items) if old and items is not None else len(schema.get("prefixItems", ()))
        everything = "additionalItems" in schema if old else "items" in schema
        contained = context.contained if context.norm.draft >= 2020 else ()
        context.arrays().seen = SeenItems(count, everything, contained)


def narrowed_by_unevaluated(shape: Shape, context: SchemaContext) -> Shape:
    """Return the values of a shape whose unseen members and items satisfy what a schema object asks of them."""
    for keyword, place in context.unevaluated:
        if keyword == "unevaluatedProperties":
            objects = [part for one in shape.objects for part in _with_members(one, place, context)]
            shape = shape.with_objects(tuple(objects))
        else:
            arrays = [part for one in shape.arrays for part in _with_items(one, place, context)]
            shape = shape.with_arrays(tuple(arrays))
    return shape


def _with_members(part: ObjectShape, place: Conj, context: SchemaContext) -> tuple[ObjectShape, ...]:
    seen = part.seen or SeenMembers(frozenset(), (), False)
    if seen.everything:
        return (part,)
    path = (context.node.path, "unevaluatedProperties")
    other = ObjectShape()
    other.properties = dict.fromkeys(seen.names, ANYTHING)
    other.extras = (Extras(tuple((pattern, path, ANYTHING) for pattern in seen.patterns), place),)
    other.seen = SeenMembers(frozenset(), (), True)
    return intersect(_only(objects=(part,)), _only(objects=(other,)), context.norm).objects


def _with_items(part: ArrayShape, place: Conj, context: SchemaContext) -> tuple[ArrayShape, ...]:
    seen = part.seen or SeenItems(0, False, ())
    if seen.everything:
        return (part,)
    for contained in seen.contained:
        place = context.any_of("unevaluatedItems", (place, contained))
    other = ArrayShape()
    other.prefix = (ANYTHING,) * seen.num_items
    other.rest = place
    other.seen = SeenItems(0, True, ())
    return intersect(_only(arrays=(part,)), _only(arrays=(other,)), context.norm).arrays


def _only(**parts: Any) -> Shape:
    return Shape(ALL_TYPES, **parts)


def all_subsets(shapes: list[Shape], context: SchemaContext) -> list[Shape]:
    """Return the shape of each choice of one or more of the shapes that a value might satisfy together."""
    out: list[Shape] = []
    for shape in shapes:
        both = [intersect(other, shape, context.norm) for other in out]
        out += [shape, *[other for other in both if other.mask]]
    return out


def without_seen(shape: Shape) -> Shape:
    """Return the same values with nothing seen: what is under a `not` sees nothing."""
    arrays = [part.copy() if part.seen else part for part in shape.arrays]
    objects = [part.copy() if part.seen else part for part in shape.objects]
    for array in arrays:
        array.seen = None
    for member in objects:
        member.seen = None
    return shape.with_arrays(tuple(arrays)).with_objects(tuple(objects))
