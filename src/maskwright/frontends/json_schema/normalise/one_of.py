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
from maskwright.frontends.json_schema.sets.shape import ALL_TYPES, NUMBER, OBJECT, NumberShape, Shape

_NONE: Final[frozenset[int]] = frozenset()
_TYPES: Final = [1 << i for i in range(ALL_TYPES.bit_length())]
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
    return [sorted(others) for others in overlaps]


def _pairs(context: SchemaContext, shapes: list[Shape]) -> Iterator[tuple[int, int]]:
    """The pairs of shapes to compare: of finite sets, those with a common value; of others, those with a common type.

    Ranges of numbers are told apart by their bounds, and objects that are a tagged union are not compared at all.
    """
    listed = [finite_values(shape) for shape in shapes]
    having: dict[Scalar, list[int]] = {}
    for i, values in enumerate(listed):
        for value in values or ():
            having.setdefault(value, []).append(i)
    infinite = [i for i, values in enumerate(listed) if values is None]
    ranges = [i for i in infinite if shapes[i].mask == NUMBER and len(shapes[i].numbers) == 1]
    objects = [i for i in infinite if shapes[i].mask == OBJECT]
    if len(objects) < 2 or not is_tagged_union([shapes[i] for i in objects], context.norm):
        objects = []
    others_of_type = {
        group: {bit: [i for i, shape in enumerate(shapes) if shape.mask & bit and i not in group] for bit in _TYPES}
        for group in (_NONE, frozenset(ranges), frozenset(objects))
    }
    for i, values in enumerate(listed):
        if values is not None:
            same = {j for value in values for j in having[value] if j > i}
        else:
            group = next((group for group in others_of_type if i in group), _NONE)
            others = [others_of_type[group][bit] for bit in _TYPES if shapes[i].mask & bit]
            same = {j for of_type in others for j in of_type if j > i or listed[j] is not None} - {i}
        yield from [(i, j) for j in same]
    yield from _overlapping([(i, shapes[i].numbers[0]) for i in ranges])


def _overlapping(ranges: list[tuple[int, NumberShape]]) -> Iterator[tuple[int, int]]:
    """The pairs of ranges that do not end before the other one begins."""
    ranges = sorted(ranges, key=lambda each: (each[1].low is not None, each[1].low or 0))
    for at, (i, part) in enumerate(ranges):
        for after in range(at + 1, len(ranges)):
            j, other = ranges[after]
            if part.high is not None and other.low is not None and other.low > part.high:
                break
            yield i, j


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
