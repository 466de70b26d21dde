"""Shapes: what a schema says, sorted by type.

A JSON value has one type, so a schema is a union over types. A `Shape` holds which types are possible (`mask`) and, for
numbers, strings, arrays and objects, a tuple of alternatives: an instance of that type is valid iff it fits one of
them.

    {"type": ["string", "null"], "minLength": 2}   →   mask STRING | NULL, strings (StringShape(min_length=2),)

Sub-schemas of arrays and objects stay closed: a `Conj` is a tuple of `Node`s, the places of the schema that an element
or member must satisfy all together. So shapes never nest, recursion in a schema is no trouble, and intersecting two
shapes is type-wise: alternatives are multiplied out, and the conjunctions of equal names are joined.

A shape that is not `exact` may have more values than the schema, as something that cannot be enforced was left out.
What is made of it is not exact either, and it has no complement, which would lack values that the schema forbids.

Invariants: a shape and its parts are never changed once `Shape` is made; a bit is set in `mask` iff its tuple is
non-empty; `FREE_…` tuples stand, by identity, for "anything of this type".
Cost: linear in the number of alternatives; the work for their products is limited (normalise/work.py).
Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from maskwright.frontends.json_schema.read.places import ANYTHING, Conj, Path, _only
from maskwright.frontends.json_schema.sets.text_grammars import TextGrammar, has_empty_text
from maskwright.ir import Expr

NULL: Final = 1
FALSE: Final = 2
TRUE: Final = 4
NUMBER: Final = 8
STRING: Final = 16
ARRAY: Final = 32
OBJECT: Final = 64
ALL_TYPES: Final = 127

# Kinds of numbers: all, those without and those with a fractional part. In draft 4, what is written with a point or an
# exponent is no integer, even 1.0; the `WRITTEN_…` kinds occur there only, instead of the two others.
ANY_KIND: Final = 0
INTEGER: Final = 1
FRACTION: Final = 2
WRITTEN_INTEGER: Final = 3
WRITTEN_FRACTION: Final = 4
INTEGERS: Final = (INTEGER, WRITTEN_INTEGER)
OTHER_KIND: Final = {
    INTEGER: FRACTION,
    FRACTION: INTEGER,
    WRITTEN_INTEGER: WRITTEN_FRACTION,
    WRITTEN_FRACTION: WRITTEN_INTEGER,
}

Exact: TypeAlias = "int | Decimal"


class NumberShape:
    """Numbers of one kind between two bounds, or a finite set of them, that are multiples of some and not of others."""

    __slots__ = ("high", "high_open", "kind", "low", "low_open", "multiple_of", "not_multiple_of", "values")

    def __init__(self) -> None:
        self.kind = ANY_KIND
        self.low: Exact | None = None
        self.low_open = False
        self.high: Exact | None = None
        self.high_open = False
        self.multiple_of: tuple[tuple[Exact, Path], ...] = ()
        self.not_multiple_of: tuple[tuple[Exact, Path], ...] = ()
        self.values: tuple[Any, ...] | None = None


class StringShape:
    """Strings of bounded length that match all `patterns`, `formats` and `grammars` and none of `excluded`, or a
    finite set.

    What is excluded may exclude others itself, `depth` times one inside another.
    """

    __slots__ = ("depth", "excluded", "formats", "grammars", "max_length", "min_length", "patterns", "values")

    def __init__(self) -> None:
        self.min_length = 0
        self.max_length: int | None = None
        self.patterns: tuple[tuple[str, Path], ...] = ()
        self.formats: tuple[str, ...] = ()
        self.grammars: tuple[TextGrammar, ...] = ()
        self.values: dict[str, None] | None = None  # in their order
        self.excluded: tuple[StringShape, ...] = ()
        self.depth = 0

    def must_match(self) -> bool:
        """Whether strings must match patterns, formats or grammars."""
        return bool(self.patterns or self.formats or self.grammars)

    def is_restricted(self) -> bool:
        """Whether more is said of strings than what their lengths are, or that they are of a finite set."""
        return self.must_match() or bool(self.excluded)

    def is_finite(self) -> bool:
        """Whether it is no more than a finite set."""
        return self.values is not None and not self.is_restricted()

    def is_grammar(self) -> bool:
        """Whether it is all texts of one grammar."""
        beside = self.patterns or self.formats or self.excluded or self.values is not None
        if len(self.grammars) != 1 or beside or self.max_length is not None:
            return False
        return self.min_length == 0 or (self.min_length == 1 and not has_empty_text(self.grammars[0]))

    def admits_length(self, value: str) -> bool:
        return self.min_length <= len(value) and (self.max_length is None or len(value) <= self.max_length)


class SeenItems(NamedTuple):
    """The items that keywords of an alternative have seen: the first ones, all, those that match a `contains`."""

    num_items: int
    everything: bool
    contained: tuple[Conj, ...]


class SeenMembers(NamedTuple):
    """The members that keywords of an alternative have seen: by name, by pattern, or all."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    everything: bool


class Contains(NamedTuple):
    """How many elements, from index `start` on, match a place."""

    place: Conj
    least: int
    most: int | None
    start: int
    path: Path


_OF_ARRAYS: Final = ("contains", "max_items", "min_items", "prefix", "rest", "seen", "unique")


class ArrayShape:
    """Arrays of bounded length: the first elements one by one, the rest alike; some counted, or all different.

    `unique` is the place that asks for elements that differ, or None.
    """

    __slots__ = _OF_ARRAYS

    def __init__(self) -> None:
        self.prefix: tuple[Conj, ...] = ()
        self.rest: Conj = ANYTHING
        self.min_items = 0
        self.max_items: int | None = None
        self.contains: tuple[Contains, ...] = ()
        self.unique: Path = None
        self.seen: SeenItems | None = None

    def copy(self) -> ArrayShape:
        out = ArrayShape()
        for name in _OF_ARRAYS:
            setattr(out, name, getattr(self, name))
        return out

    def item(self, index: int) -> Conj:
        return self.prefix[index] if index < len(self.prefix) else self.rest


class Extras(NamedTuple):
    """What one schema object says of members it does not declare: by the patterns that their names match, or else."""

    patterns: tuple[tuple[str, Path, Conj], ...]
    additional: Conj


class Witness(NamedTuple):
    """Some member that is there: whether its name matches patterns, what name and value satisfy, names it has not."""

    patterns: tuple[tuple[str, Path, bool], ...]
    names: Conj
    value: Conj
    excluded: frozenset[str]
    path: Path  # of the keyword that asks for it


_OF_OBJECTS: Final = (
    *("extras", "max_path", "max_properties", "min_path", "min_properties", "names", "properties", "required"),
    *("seen", "witnesses"),
)


class ObjectShape:
    """Objects: declared members, names that must be there, and the rules for all other members."""

    __slots__ = _OF_OBJECTS

    def __init__(self) -> None:
        self.properties: dict[str, Conj] = {}
        self.required: dict[str, None] = {}
        self.extras: tuple[Extras, ...] = ()
        self.names: Conj = ANYTHING
        self.min_properties = 0
        self.min_path: Path = None  # of the keyword that asks for it
        self.max_properties: int | None = None
        self.max_path: Path = None
        self.witnesses: tuple[Witness, ...] = ()
        self.seen: SeenMembers | None = None

    def copy(self) -> ObjectShape:
        out = ObjectShape()
        for name in _OF_OBJECTS:
            setattr(out, name, getattr(self, name))
        return out


Part: TypeAlias = "NumberShape | StringShape | ArrayShape | ObjectShape"

_FREE_INTEGER: Final = NumberShape()
_FREE_INTEGER.kind = INTEGER
_FREE_WRITTEN_INTEGER: Final = NumberShape()
_FREE_WRITTEN_INTEGER.kind = WRITTEN_INTEGER
FREE_NUMBERS: Final = _only(NumberShape())
FREE_INTEGERS: Final = _only(_FREE_INTEGER)
FREE_WRITTEN_INTEGERS: Final = _only(_FREE_WRITTEN_INTEGER)
FREE_STRINGS: Final = _only(StringShape())
FREE_ARRAYS: Final = _only(ArrayShape())
FREE_OBJECTS: Final = _only(ObjectShape())


class Shape:
    """See the module's header. `text` is its expression once made, where that depends on nothing else."""

    __slots__ = ("arrays", "exact", "mask", "numbers", "objects", "strings", "text")

    def __init__(
        self,
        mask: int,
        numbers: tuple[NumberShape, ...] = FREE_NUMBERS,
        strings: tuple[StringShape, ...] = FREE_STRINGS,
        arrays: tuple[ArrayShape, ...] = FREE_ARRAYS,
        objects: tuple[ObjectShape, ...] = FREE_OBJECTS,
        exact: bool = True,
    ) -> None:
        if not (mask & NUMBER and numbers):
            numbers, mask = (), mask & ~NUMBER
        if not (mask & STRING and strings):
            strings, mask = (), mask & ~STRING
        if not (mask & ARRAY and arrays):
            arrays, mask = (), mask & ~ARRAY
        if not (mask & OBJECT and objects):
            objects, mask = (), mask & ~OBJECT
        self.mask, self.numbers, self.strings, self.arrays, self.objects = mask, numbers, strings, arrays, objects
        self.exact = exact
        self.text: Expr | None = None

    def with_arrays(self, arrays: tuple[ArrayShape, ...]) -> Shape:
        return Shape(self.mask, self.numbers, self.strings, arrays, self.objects, self.exact)

    def with_objects(self, objects: tuple[ObjectShape, ...]) -> Shape:
        return Shape(self.mask, self.numbers, self.strings, self.arrays, objects, self.exact)

    def widened(self) -> Shape:
        """Return the same shape, which is not exact."""
        return Shape(self.mask, self.numbers, self.strings, self.arrays, self.objects, exact=False)


ANY_SHAPE: Final = Shape(ALL_TYPES)
NO_SHAPE: Final = Shape(0)
UNKNOWN_SHAPE: Final = Shape(ALL_TYPES, exact=False)  # of what has no exact one


def union(shapes: list[Shape], *, keep_all: bool = False) -> Shape:
    """Return the shape of values that fit any of `shapes`; with `keep_all`, no alternative is left out as contained."""
    mask, exact = 0, True
    for shape in shapes:
        mask |= shape.mask
        exact = exact and shape.exact
    return Shape(
        mask,
        _joined(FREE_NUMBERS, [s.numbers for s in shapes]),
        _joined(FREE_STRINGS, [s.strings for s in shapes]),
        _joined(None if keep_all else FREE_ARRAYS, [s.arrays for s in shapes]),
        _joined(None if keep_all else FREE_OBJECTS, [s.objects for s in shapes]),
        exact,
    )


def _joined(free: Any, tuples: list[Any]) -> Any:
    out: dict[int, Any] = {}
    for parts in tuples:
        if parts is free:
            return free
        for part in parts:
            out[id(part)] = part
    return tuple(out.values())
