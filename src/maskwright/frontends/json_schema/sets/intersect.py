"""Intersect shapes: what satisfies several schemas at once.

    {"minLength": 2} and {"type": "string", "maxLength": 5}   →   strings of 2 to 5 characters

Each function returns a new part, or None where no value is left as far as one can see here; emptiness that only
automata can see (two patterns without a common match) is found by the kernel.
Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, TypeVar

from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, identity
from maskwright.frontends.json_schema.sets.decimals import floor, is_integral, is_multiple
from maskwright.frontends.json_schema.sets.shape import (
    ANY_KIND,
    ARRAY,
    FRACTION,
    FREE_ARRAYS,
    FREE_NUMBERS,
    FREE_OBJECTS,
    FREE_STRINGS,
    INTEGERS,
    NUMBER,
    OBJECT,
    STRING,
    ArrayShape,
    Exact,
    NumberShape,
    ObjectShape,
    SeenItems,
    SeenMembers,
    Shape,
    StringShape,
    Witness,
)

_PAIR: Final = 4  # units of work for the intersection of two alternatives

_T = TypeVar("_T")


class Judge(ABC):
    """What must be known about schemas to intersect them."""

    @abstractmethod
    def matches(self, pattern: str, name: str) -> bool:
        """Whether a pattern of `patternProperties` takes a member's name."""

    @abstractmethod
    def is_empty(self, conj: Conj) -> bool:
        """Whether it is easily seen that no value satisfies all these places."""

    @abstractmethod
    def joined(self, a: Conj, b: Conj) -> Conj:
        """`join`, without negations that are plainly implied; NOTHING where one is plainly contradicted."""

    @abstractmethod
    def spend(self, units: int) -> None:
        """Count work against a limit."""


def intersect(a: Shape, b: Shape, judge: Judge) -> Shape:
    """Return the shape of values that fit both."""
    mask = a.mask & b.mask
    numbers = _narrower(a.numbers, b.numbers, FREE_NUMBERS) if mask & NUMBER else ()
    strings = _narrower(a.strings, b.strings, FREE_STRINGS) if mask & STRING else ()
    arrays = _narrower(a.arrays, b.arrays, FREE_ARRAYS) if mask & ARRAY else ()
    objects = _narrower(a.objects, b.objects, FREE_OBJECTS) if mask & OBJECT else ()
    if numbers is None:
        numbers = _product(a.numbers, b.numbers, judge, intersect_numbers)
    if strings is None:
        strings = _product(a.strings, b.strings, judge, _intersect_strings)
    if arrays is None:
        arrays = _product(a.arrays, b.arrays, judge, _intersect_arrays)
    if objects is None:
        objects = _product(a.objects, b.objects, judge, lambda x, y: _intersect_objects(x, y, judge))
    return Shape(mask, numbers, strings, arrays, objects, a.exact and b.exact)


def _narrower(a: tuple[_T, ...], b: tuple[_T, ...], free: object) -> tuple[_T, ...] | None:
    """The one that the other contains, if that is plain to see."""
    if a is free or a is b:
        return b
    return a if b is free else None


def _product(
    a: tuple[_T, ...], b: tuple[_T, ...], judge: Judge, combine: Callable[[_T, _T], _T | None]
) -> tuple[_T, ...]:
    judge.spend(_PAIR * len(a) * len(b))
    out = [combine(x, y) for x in a for y in b]
    return tuple([part for part in out if part is not None])


def intersect_numbers(a: NumberShape, b: NumberShape) -> NumberShape | None:
    if a.kind != b.kind and a.kind != ANY_KIND and b.kind != ANY_KIND:
        return None
    out = NumberShape()
    out.kind = a.kind or b.kind
    out.low, out.low_open = _tighter(a.low, a.low_open, b.low, b.low_open, _greater)
    out.high, out.high_open = _tighter(a.high, a.high_open, b.high, b.high_open, _less)
    out.multiple_of = a.multiple_of + b.multiple_of
    out.not_multiple_of = a.not_multiple_of + b.not_multiple_of
    if any(is_multiple(wanted, other) for other, _ in out.not_multiple_of for wanted, _ in out.multiple_of):
        return None
    if a.values is not None or b.values is not None:
        values = a.values if a.values is not None else b.values
        assert values is not None
        others = b.values if a.values is not None else None
        left = [v for v in values if admits_number(out, v) and (others is None or v in others)]
        out.values = tuple(map(floor, left) if out.kind in INTEGERS else left)
        if not out.values:
            return None
    if out.low is None or out.high is None or out.low < out.high:
        return out
    return None if out.low > out.high or out.low_open or out.high_open else out


def _greater(a: Exact, b: Exact) -> bool:
    return a > b


def _less(a: Exact, b: Exact) -> bool:
    return a < b


def _tighter(
    a: Exact | None, a_open: bool, b: Exact | None, b_open: bool, tighter: Callable[[Exact, Exact], bool]
) -> tuple[Exact | None, bool]:
    if a is None or (b is not None and tighter(b, a)):
        return b, b_open
    if b is None or tighter(a, b):
        return a, a_open
    return a, a_open or b_open


def admits_number(shape: NumberShape, value: Exact) -> bool:
    """Whether a number is of the kind and within the bounds. Multiples are the emitter's business."""
    if shape.kind == FRACTION if is_integral(value) else shape.kind in INTEGERS:
        return False
    if shape.low is not None and (value < shape.low or (shape.low_open and value == shape.low)):
        return False
    return shape.high is None or not (value > shape.high or (shape.high_open and value == shape.high))


def _intersect_strings(a: StringShape, b: StringShape) -> StringShape | None:
    out = StringShape()
    out.min_length = max(a.min_length, b.min_length)
    out.max_length = _least(a.max_length, b.max_length)
    if out.max_length is not None and out.min_length > out.max_length:
        return None
    known = {pattern for pattern, _ in a.patterns}
    out.patterns = a.patterns + tuple(p for p in b.patterns if p[0] not in known)
    out.formats = a.formats + tuple(f for f in b.formats if f not in a.formats)
    known_grammars = {grammar[:2] for grammar in a.grammars}
    out.grammars = a.grammars + tuple(g for g in b.grammars if g[:2] not in known_grammars)
    out.excluded = a.excluded + tuple(e for e in b.excluded if e not in a.excluded)
    out.depth = max(a.depth, b.depth)
    if a.values is not None or b.values is not None:
        out.values = _remaining(a.values, b.values, out)
        if not out.values:
            return None
        out.excluded = tuple(e for e in out.excluded if not e.is_finite())
    return out


def _remaining(a: dict[str, None] | None, b: dict[str, None] | None, shape: StringShape) -> dict[str, None]:
    """Those values of one or two sets that are long enough, and in no finite set that is excluded."""
    values, others = (a, b) if a is not None else (b, None)
    assert values is not None
    if others is not None and len(others) < len(values):  # such as one value of many, for each of these
        values, others = others, values
    gone = [e.values for e in shape.excluded if e.is_finite() and e.values]
    return {
        value: None
        for value in values
        if shape.admits_length(value)
        and (others is None or value in others)
        and not any(value in these for these in gone)
    }


def _least(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return a if b is None else b
    return min(a, b)


def is_nothing(conj: Conj) -> bool:
    """Whether one of the places is the schema `false`; then it stands alone (`join`)."""
    return len(conj) == 1 and conj[0][0] is False


def join(a: Conj, b: Conj) -> Conj:
    """Return the conjunction of both, each place once."""
    if not a or a is b or is_nothing(b):
        return b
    if not b or is_nothing(a):
        return a
    if len(a) == len(b) == 1:
        return a if identity(a[0]) == identity(b[0]) else a + b
    known = set(map(identity, a))
    return a + tuple([node for node in b if identity(node) not in known])


def _intersect_arrays(a: ArrayShape, b: ArrayShape) -> ArrayShape | None:
    out = ArrayShape()
    out.min_items = max(a.min_items, b.min_items)
    out.max_items = _least(a.max_items, b.max_items)
    if out.max_items is not None and out.min_items > out.max_items:
        return None
    length = max(len(a.prefix), len(b.prefix))
    out.prefix = tuple(join(a.item(i), b.item(i)) for i in range(length))
    out.rest = join(a.rest, b.rest)
    out.contains = _each_once(a.contains, b.contains)
    out.unique = a.unique if a.unique is not None else b.unique
    out.seen = _seen_items(a.seen, b.seen)
    return out


def _seen_items(a: SeenItems | None, b: SeenItems | None) -> SeenItems | None:
    if a is None or b is None:
        return a or b
    return SeenItems(max(a.num_items, b.num_items), a.everything or b.everything, a.contained + b.contained)


def _seen_members(a: SeenMembers | None, b: SeenMembers | None) -> SeenMembers | None:
    if a is None or b is None:
        return a or b
    patterns = a.patterns + tuple([pattern for pattern in b.patterns if pattern not in a.patterns])
    return SeenMembers(a.names | b.names, patterns, a.everything or b.everything)


def _contradict(required: dict[str, None], properties: dict[str, Conj]) -> bool:
    """Whether a member must be there that must not: seen early, as most alternatives of dependencies end so."""
    return any(name in properties and is_nothing(properties[name]) for name in required)


def _intersect_objects(a: ObjectShape, b: ObjectShape, judge: Judge) -> ObjectShape | None:
    before = a.properties
    if _contradict(a.required, b.properties) or _contradict(b.required, before):
        return None
    out = ObjectShape()
    properties = out.properties = before.copy()
    for name, conj in b.properties.items():
        other = before.get(name)
        properties[name] = judge.joined(undeclared(a, name, judge) if other is None else other, conj)
    if b.extras:
        for name, conj in before.items():
            if name not in b.properties:
                properties[name] = judge.joined(conj, undeclared(b, name, judge))
    out.required = {**a.required, **b.required} if b.required else a.required
    for name in out.required:
        joined = properties.get(name)
        if joined and (joined is not before.get(name) or name not in a.required) and judge.is_empty(joined):
            return None
    out.extras = _each_once(a.extras, b.extras)
    out.witnesses = _each_once(a.witnesses, b.witnesses)
    if not all(_may_declare(out, one) or _may_be_undeclared(out, one, judge) for one in out.witnesses):
        return None
    out.names = join(a.names, b.names)
    most = a if b.max_properties is None or a.max_properties == _least(a.max_properties, b.max_properties) else b
    out.max_properties, out.max_path = most.max_properties, most.max_path
    least = a if a.min_properties >= b.min_properties else b
    out.min_properties, out.min_path = least.min_properties, least.min_path
    out.seen = _seen_members(a.seen, b.seen)
    return out


def is_closed(shape: ObjectShape) -> bool:
    """Whether no member may be there that the shape does not declare."""
    return any(not extras.patterns and is_nothing(extras.additional) for extras in shape.extras)


def _may_declare(shape: ObjectShape, witness: Witness) -> bool:
    """Whether a declared member might be the witness."""
    return any(name not in witness.excluded and not is_nothing(conj) for name, conj in shape.properties.items())


def _may_be_undeclared(shape: ObjectShape, witness: Witness, judge: Judge) -> bool:
    """Whether a member that the shape does not declare might be the witness."""
    if is_closed(shape):
        return False
    matched = {pattern for pattern, _, is_matched in witness.patterns if is_matched}
    unmatched = {pattern for pattern, _, is_matched in witness.patterns if not is_matched}
    asked = ANYTHING
    for extras in shape.extras:
        patterns = {pattern for pattern, _, _ in extras.patterns}
        for place in [place for pattern, _, place in extras.patterns if pattern in matched]:
            asked = join(asked, place)
        if patterns <= unmatched:
            asked = join(asked, extras.additional)
    return not is_nothing(judge.joined(asked, witness.value))


def _each_once(a: tuple[_T, ...], b: tuple[_T, ...]) -> tuple[_T, ...]:
    """Both, without what is the very same."""
    if not (a and b):
        return a or b
    new = [part for part in b if not any(part is known for known in a)]
    return (*a, *new) if new else a


def undeclared(shape: ObjectShape, name: str, judge: Judge) -> Conj:
    """Return what a member must satisfy that the shape does not declare."""
    conj = ANYTHING
    if not shape.extras:
        return conj
    for extras in shape.extras:
        matched = [c for pattern, _, c in extras.patterns if judge.matches(pattern, name)]
        for part in matched or (extras.additional,):
            conj = join(conj, part)
    return conj
