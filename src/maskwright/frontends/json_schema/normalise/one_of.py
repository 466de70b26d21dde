"""`oneOf`: exactly one of the branches holds.

Branches of which it can be shown that no two have a value in common are a union. Others are a union once each has lost
what it has in common with others, if that has an exact shape. A `oneOf` alone in a branch of `allOf` is looked at
beside the other branches, which may require the member that tells its own apart:

    {"required": ["kind"], "allOf": [{"oneOf": [{"properties": {"kind": {"const": "a"}}}, …]}, …]}

Tested by tests/frontends/json_schema/normalise/test_schema_one_of.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.normalise.complement import difference
from maskwright.frontends.json_schema.normalise.disjoint import disjoint, is_tagged_union
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.read.keyword_table import ANNOTATIONS
from maskwright.frontends.json_schema.read.places import Node
from maskwright.frontends.json_schema.sets.finite import Scalar, finite_values
from maskwright.frontends.json_schema.sets.shape import OBJECT, Shape

MAX_EXCLUSIVE: Final = 200  # object alternatives that telling the branches apart may make


class _NotExact(Exception):
    pass


def exactly_one(context: SchemaContext, base: Shape, branches: list[Shape]) -> Shape:
    """Return the shape of what satisfies `base` and exactly one of the branches, which are exact."""
    shapes = [context.intersect(base, branch) for branch in branches]
    try:
        overlaps = _overlaps(context, shapes)
        exclusive = context.union([_without(context, i, overlaps[i], shapes, branches) for i in range(len(shapes))])
        if len(exclusive.objects) > max(MAX_EXCLUSIVE, len(shapes)):
            raise _NotExact
        return exclusive
    except _NotExact:
        context.refuse("oneOf", "its branches may overlap in a way that cannot be excluded exactly")
    except LimitError:
        context.refuse("oneOf", "it takes too much work to show that no two of its branches have a value in common")
    return context.union(shapes)


def is_one_of_alone(schema: Any) -> bool:
    """Whether a schema is nothing but a `oneOf`."""
    if not isinstance(schema, dict) or not schema.keys() - {"oneOf"} <= ANNOTATIONS:
        return False
    branches = schema.get("oneOf")
    return isinstance(branches, list) and len(branches) > 1


def one_of_beside(context: SchemaContext, node: Node, base: Shape) -> Shape:
    """Return the shape of a place where a `oneOf` stands alone, as far as `base` holds, too."""
    path = (node.path, "oneOf")
    places = [context.norm.document.child(node, schema, (path, i)) for i, schema in enumerate(node.schema["oneOf"])]
    if len(base.objects) == 1:
        branches = [context.norm.shape(place) for place in places]
        together = [context.intersect(base, branch) for branch in branches]
        if all(branch.exact for branch in branches) and is_tagged_union(together, context.norm):
            return context.union(branches)
    return context.norm.shape(node)


def _overlaps(context: SchemaContext, shapes: list[Shape]) -> list[list[int]]:
    """For each shape, the indices of those with which it may have values in common."""
    overlaps: list[list[int]] = [[] for _ in shapes]
    for i, j in _pairs(context, shapes):
        if not disjoint(shapes[i], shapes[j], context.norm):
            overlaps[i].append(j)
            overlaps[j].append(i)
    return overlaps


def _pairs(context: SchemaContext, shapes: list[Shape]) -> Iterator[tuple[int, int]]:
    """The pairs of shapes to compare: not those of finite sets without a common value, nor of a tagged union."""
    listed = [finite_values(shape) for shape in shapes]
    infinite = [i for i, values in enumerate(listed) if values is None]
    having: dict[Scalar, list[int]] = {}
    for i, values in enumerate(listed):
        for value in values or ():
            having.setdefault(value, []).append(i)
    objects = [i for i in infinite if shapes[i].mask == OBJECT]
    if len(objects) < 2 or not is_tagged_union([shapes[i] for i in objects], context.norm):
        objects = []
    tagged = frozenset(objects)
    for i, values in enumerate(listed):
        others = range(len(shapes)) if values is None else infinite + [j for value in values for j in having[value]]
        yield from [(i, j) for j in sorted(set(others)) if j > i and not (i in tagged and j in tagged)]


def _without(
    context: SchemaContext, index: int, overlapping: list[int], shapes: list[Shape], branches: list[Shape]
) -> Shape:
    """One branch less all others that it overlaps."""
    shape = shapes[index]
    for other in overlapping:
        # What went away for one branch often was all that the next one overlapped.
        if disjoint(shape, shapes[other], context.norm):
            continue
        rest = difference(shape, branches[other], context.norm, (context.node.path, "oneOf"))
        if rest is None:
            raise _NotExact
        shape = rest
    return shape
