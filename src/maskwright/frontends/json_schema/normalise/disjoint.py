"""Prove that no value fits two shapes: what makes `oneOf` the same as `anyOf`.

    {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}   and the same with "b"   →   disjoint on objects

A proof looks for one reason per pair of alternatives: bounds, lengths, finite sets, an element or member that must be
there and would have to fit disjoint schemas. Not finding one proves nothing, and False is the answer.
Cost: limited by _DEPTH levels of members. Tested by tests/frontends/json_schema/normalise/test_schema_one_of.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.read.places import CircularError, Conj, lists_values
from maskwright.frontends.json_schema.sets.finite import Scalar, finite_values
from maskwright.frontends.json_schema.sets.intersect import intersect_numbers, is_nothing, undeclared
from maskwright.frontends.json_schema.sets.shape import OBJECT, ArrayShape, ObjectShape, Shape, StringShape
from maskwright.frontends.json_schema.sets.strings import admits_string

_DEPTH: Final = 4


def is_tagged_union(shapes: list[Shape], norm: DocumentContext) -> bool:
    """Whether one required member has other values in each shape: the usual tagged union, in linear time."""
    if any(shape.mask != OBJECT or len(shape.objects) != 1 for shape in shapes):
        return False
    objects = [shape.objects[0] for shape in shapes]
    return any(_is_tag([_member(part, name, norm) for part in objects], norm) for name in _required_by_all(objects))


def _required_by_all(objects: list[ObjectShape]) -> list[str]:
    return [name for name in objects[0].required if all(name in part.required for part in objects)]


def _is_tag(places: list[Conj], norm: DocumentContext) -> bool:
    seen: set[Scalar] = set()
    for place in places:
        if not any(map(lists_values, place)):
            return False
        try:
            values = finite_values(norm.shape_of(place))
        except CircularError:
            return False
        if values is None or not seen.isdisjoint(values):
            return False
        seen.update(values)
    return True


def disjoint(a: Shape, b: Shape, norm: DocumentContext, depth: int = _DEPTH) -> bool:
    """Whether it can be shown that no value fits both."""
    if not a.mask & b.mask:
        return True
    if a.mask & b.mask & 7:
        return False
    norm.spend(len(a.strings) * len(b.strings) + len(a.arrays) * len(b.arrays) + len(a.objects) * len(b.objects))
    return (
        all(intersect_numbers(x, y) is None for x in a.numbers for y in b.numbers)
        and all(_disjoint_strings(x, y) for x in a.strings for y in b.strings)
        and all(_disjoint_arrays(x, y, norm, depth) for x in a.arrays for y in b.arrays)
        and all(disjoint_objects(x, y, norm, depth) for x in a.objects for y in b.objects)
    )


def _disjoint_strings(a: StringShape, b: StringShape) -> bool:
    if a.max_length is not None and a.max_length < b.min_length:
        return True
    if b.max_length is not None and b.max_length < a.min_length:
        return True
    if a.values is not None and b.values is not None and a.values.keys().isdisjoint(b.values):
        return True
    if a.values is not None:
        return not any(admits_string(b, value, wide=True) for value in a.values)
    if b.values is not None:
        return not any(admits_string(a, value, wide=True) for value in b.values)
    return any(x is b for x in a.excluded) or any(x is a for x in b.excluded)


def disjoint_places(a: Conj, b: Conj, norm: DocumentContext, depth: int = _DEPTH) -> bool:
    """Whether it can be shown that no value satisfies both places."""
    if is_nothing(a) or is_nothing(b):
        return True
    if not (a and b and depth):
        return False
    try:
        return disjoint(norm.shape_of(a), norm.shape_of(b), norm, depth - 1)
    except CircularError:
        return False


def _disjoint_arrays(a: ArrayShape, b: ArrayShape, norm: DocumentContext, depth: int) -> bool:
    least = max(a.min_items, b.min_items)
    if (a.max_items is not None and a.max_items < least) or (b.max_items is not None and b.max_items < least):
        return True
    looked_at = min(least, max(len(a.prefix), len(b.prefix)) + 1)
    return any(disjoint_places(a.item(i), b.item(i), norm, depth) for i in range(looked_at))


def disjoint_objects(a: ObjectShape, b: ObjectShape, norm: DocumentContext, depth: int = _DEPTH) -> bool:
    if (a.max_properties is not None and a.max_properties < max(b.min_properties, len(b.required))) or (
        b.max_properties is not None and b.max_properties < max(a.min_properties, len(a.required))
    ):
        return True
    return any(
        disjoint_places(_member(a, name, norm), _member(b, name, norm), norm, depth)
        for name in {**a.required, **b.required}
    )


def _member(shape: ObjectShape, name: str, norm: DocumentContext) -> Conj:
    declared = shape.properties.get(name)
    return declared if declared is not None else undeclared(shape, name, norm)
