"""Complement a shape: what `not`, `if` and overlapping branches of `oneOf` need.

A complement is again type-wise. The complement of one alternative is a union of the ways to violate it:

    not {"required": ["a", "b"]}                    →   not an object, or no member "a", or no member "b"
    not {"properties": {"a": {"const": 1}}}         →   not an object, or a member "a" that is not 1

Sub-schemas are negated in place, unopened (`Normaliser.negation`). None is returned where the result would not be
exact: formats of which too little is known, elements that all differ. "Some element
violates …" is counted like `contains`; "some member violates …" has a witness (witnesses.py).

Of several alternatives, each must be violated, and the ways to do so would multiply. So what they have in common is
violated once for all, and the others of an alternative's ways hold only where its required members are right: these
tell it apart from most others.
Tested by tests/frontends/json_schema/normalise/test_schema_complement.py and test_schema_alike_objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, TypeVar

from maskwright.frontends.json_schema.normalise.disjoint import disjoint_objects
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.simplify import minimal
from maskwright.frontends.json_schema.normalise.witnesses import is_free, opposite, violations, without
from maskwright.frontends.json_schema.read.places import ANYTHING, NOTHING, OPEN, Conj, Path, identity_of
from maskwright.frontends.json_schema.sets.intersect import intersect, is_nothing
from maskwright.frontends.json_schema.sets.numerals import admitted_values
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ANY_KIND,
    ANY_SHAPE,
    FALSE,
    FREE_ARRAYS,
    FREE_NUMBERS,
    FREE_OBJECTS,
    FREE_STRINGS,
    NULL,
    OTHER_KIND,
    TRUE,
    WRITTEN_FRACTION,
    WRITTEN_INTEGER,
    ArrayShape,
    Contains,
    Exact,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import known_formats

_CONSTANTS: Final = NULL | FALSE | TRUE
_OBJECTS: Final = 3
MAX_EXCLUSIONS: Final = 32  # of strings, one inside another: what they are written as nests as deep
_WRITTEN: Final = (WRITTEN_INTEGER, WRITTEN_FRACTION)
_T = TypeVar("_T")


def complement(place: Conj, norm: DocumentContext, path: Path) -> Shape | None:
    """Return the shape of the values that do not satisfy a place; None if there is no exact one. `path` asks for it."""
    return difference(ANY_SHAPE, norm.shape_of(place), norm, path) if norm.is_exact(place) else None


def difference(base: Shape, shape: Shape, norm: DocumentContext, path: Path) -> Shape | None:
    """Return the shape of the values that fit `base` but not `shape`, which is exact; None if there is no exact one."""
    parts: tuple[tuple[tuple[Any, ...], object, Callable[[Any], list[Any] | None]], ...] = (
        (shape.numbers, FREE_NUMBERS, _without_numbers),
        (shape.strings, FREE_STRINGS, _without_strings),
        (shape.arrays, FREE_ARRAYS, lambda part: _without_arrays(part, norm)),
    )
    mask = base.mask & (ALL_TYPES ^ shape.mask & _CONSTANTS)
    result = Shape(mask, base.numbers, base.strings, base.arrays, base.objects, base.exact)
    for i, (alternatives, free, violating) in enumerate(parts):
        if alternatives is free:
            result = intersect(result, _of_type(i, ()), norm)
            continue
        for alternative in alternatives:
            left = violating(alternative)
            if left is None:
                return None
            result = intersect(result, _of_type(i, tuple(left)), norm)
    if shape.objects is FREE_OBJECTS:
        return intersect(result, _of_type(_OBJECTS, ()), norm)
    return _less_objects(result, shape.objects, norm, path)


def _less_objects(base: Shape, parts: tuple[ObjectShape, ...], norm: DocumentContext, path: Path) -> Shape | None:
    """The values that fit `base`, but are no objects of these parts.

    What the parts have in common is violated once, and not in each of them.
    """
    shared = _shared(parts) if len(parts) > 1 else None
    outside: tuple[ObjectShape, ...] = ()
    left = base
    if shared is not None:
        ways = _without_objects(shared, norm, path, is_one_of_many=False)
        assert ways is not None, "there are no witnesses"
        outside = intersect(base, _of_type(_OBJECTS, tuple(ways)), norm).objects
        left = intersect(base, _of_type(_OBJECTS, (shared,)), norm)
    for part in parts:
        own = part if shared is None else _apart_from(part, shared)
        ways = _without_objects(own, norm, path, is_one_of_many=len(parts) > 1)
        if ways is None:
            return None
        # What is apart from a part stays as it is, instead of once for each way to violate that.
        apart = _apart(left.objects, part, norm)
        if apart:
            left = base.with_objects(tuple([each for each in left.objects if not any(each is one for one in apart)]))
        touched = intersect(left, _of_type(_OBJECTS, tuple(ways)), norm).objects
        left = minimal(base.with_objects((*apart, *touched)), norm)
    return minimal(base.with_objects((*outside, *left.objects)), norm) if outside else left


def _shared(parts: tuple[ObjectShape, ...]) -> ObjectShape | None:
    """What all of these parts ask of the same declared members and of all others; None if they differ too much."""
    first, *others = parts
    known = _rest_of(first)
    if any(part.properties.keys() != first.properties.keys() or _rest_of(part) != known for part in others):
        return None
    out = ObjectShape()
    out.extras, out.names = first.extras, first.names
    out.min_properties, out.min_path = first.min_properties, first.min_path
    out.max_properties, out.max_path = first.max_properties, first.max_path
    for name, conj in first.properties.items():
        is_same = all(identity_of(part.properties[name]) == identity_of(conj) for part in others)
        out.properties[name] = conj if is_same else ANYTHING
    out.required = {name: None for name in first.required if all(name in part.required for part in others)}
    return out


def _rest_of(part: ObjectShape) -> Any:
    """What a part says of others than its declared members; parts with witnesses differ from all others."""
    if part.witnesses:
        return id(part)
    return tuple(map(id, part.extras)), identity_of(part.names), part.min_properties, part.max_properties


def _apart_from(part: ObjectShape, shared: ObjectShape) -> ObjectShape:
    """What a part says besides what it has in common with others."""
    out = ObjectShape()
    for name, conj in part.properties.items():
        if identity_of(shared.properties[name]) != identity_of(conj):
            out.properties[name] = conj
    out.required = {name: None for name in part.required if name not in shared.required or name in out.properties}
    return out


def _apart(parts: tuple[ObjectShape, ...], alternative: ObjectShape, norm: DocumentContext) -> list[ObjectShape]:
    """Those of the parts of which it can be shown that they have no value in common with the alternative."""
    if not norm.work.begin_look():
        return []
    try:
        return [part for part in parts if disjoint_objects(part, alternative, norm)]
    finally:
        norm.work.end_look()


def _of_type(index: int, alternatives: tuple[Any, ...]) -> Shape:
    parts: list[Any] = [FREE_NUMBERS, FREE_STRINGS, FREE_ARRAYS, FREE_OBJECTS]
    parts[index] = alternatives
    return Shape(ALL_TYPES, *parts)


def _without_numbers(shape: NumberShape) -> list[NumberShape] | None:
    if shape.values is not None:
        others = _between(sorted(admitted_values(shape)))
        return [*others, _of_kind(OTHER_KIND[shape.kind])] if shape.kind in _WRITTEN else others
    out = []
    for divisor in shape.multiple_of:
        other = NumberShape()
        other.not_multiple_of = (divisor,)
        out.append(other)
    for divisor in shape.not_multiple_of:
        other = NumberShape()
        other.multiple_of = (divisor,)
        out.append(other)
    if shape.low is not None:
        out.append(_numbers(None, False, shape.low, not shape.low_open))
    if shape.high is not None:
        out.append(_numbers(shape.high, not shape.high_open, None, False))
    if shape.kind != ANY_KIND:
        out.append(_of_kind(OTHER_KIND[shape.kind]))
    return out


def _between(values: list[Any]) -> list[NumberShape]:
    ends = [None, *values, None]
    return [_numbers(low, True, high, True) for low, high in pairwise(ends)]


def _of_kind(kind: int) -> NumberShape:
    shape = NumberShape()
    shape.kind = kind
    return shape


def _numbers(low: Exact | None, low_open: bool, high: Exact | None, high_open: bool) -> NumberShape:
    shape = NumberShape()
    shape.low, shape.low_open, shape.high, shape.high_open = low, low_open, high, high_open
    return shape


def _without_strings(shape: StringShape) -> list[StringShape] | None:
    if not known_formats(shape) or shape.depth >= MAX_EXCLUSIONS:
        return None
    by_length = shape.min_length > 0 or shape.max_length is not None
    constrained = shape.must_match() or shape.values is not None
    if len(shape.excluded) == 1 and not constrained and not by_length:
        return list(shape.excluded)
    if constrained or shape.excluded:
        # In one piece: alternatives would multiply with those of other schemas.
        other = StringShape()
        other.excluded, other.depth = (shape,), shape.depth + 1
        return [other]
    out = []
    if shape.min_length:
        other = StringShape()
        other.max_length = shape.min_length - 1
        out.append(other)
    if shape.max_length is not None:
        other = StringShape()
        other.min_length = shape.max_length + 1
        out.append(other)
    return out


def _without_arrays(shape: ArrayShape, norm: DocumentContext) -> list[ArrayShape] | None:
    if shape.unique is not None:
        return None
    out = []
    if shape.min_items:
        other = ArrayShape()
        other.max_items = shape.min_items - 1
        out.append(other)
    longest = shape.max_items
    if is_nothing(shape.rest):
        longest = len(shape.prefix) if longest is None else min(longest, len(shape.prefix))
    if longest is not None:
        other = ArrayShape()
        other.min_items = longest + 1
        out.append(other)
    for i, conj in enumerate(shape.prefix):
        if not is_free(conj):
            other = ArrayShape()
            other.min_items = i + 1
            other.prefix = (ANYTHING,) * i + (norm.negation(conj),)
            out.append(other)
    if not is_free(shape.rest) and not is_nothing(shape.rest):
        out.append(_with(Contains(norm.negation(shape.rest), 1, None, len(shape.prefix), None)))
    for one in shape.contains:
        if one.least:
            out.append(_with(one._replace(least=0, most=one.least - 1)))
        if one.most is not None:
            out.append(_with(one._replace(least=one.most + 1, most=None)))
    return out


def _with(contains: Contains) -> ArrayShape:
    shape = ArrayShape()
    shape.contains = (contains,)
    return shape


def _without_objects(
    shape: ObjectShape, norm: DocumentContext, path: Path, is_one_of_many: bool
) -> list[ObjectShape] | None:
    """The ways to violate a shape; with `is_one_of_many`, those but for wrong required members have right ones."""
    others = violations(shape, norm, path)
    wrong: list[ObjectShape] = []
    out: list[ObjectShape] = []
    for name in shape.required:
        place = shape.properties.get(name)
        other = ObjectShape()
        # "Not there, or there and wrong" is one alternative: wrong if it is there.
        other.properties = {name: NOTHING if place is None else opposite(place, norm)}
        wrong.append(other)
    for name, conj in shape.properties.items():
        if name not in shape.required and not is_free(conj):
            other = ObjectShape()
            other.properties = {name: OPEN if is_nothing(conj) else norm.negation(conj)}
            other.required = {name: None}
            out.append(other)
    if shape.min_properties > len(shape.required):
        other = ObjectShape()
        other.max_properties, other.max_path = shape.min_properties - 1, shape.min_path
        out.append(other)
    if shape.max_properties is not None:
        other = ObjectShape()
        other.min_properties, other.min_path = shape.max_properties + 1, shape.max_path
        out.append(other)
    for witness in shape.witnesses:
        without_it = without(witness, norm)
        if without_it is None:
            return None
        out.append(without_it)
    if not (is_one_of_many and wrong):
        return [*others, *wrong, *out]
    right = ObjectShape()
    right.required = shape.required
    right.properties = {name: shape.properties.get(name, OPEN) for name in shape.required}
    ways = intersect(_of_type(_OBJECTS, (right,)), _of_type(_OBJECTS, (*others, *out)), norm)
    return [*wrong, *ways.objects]
