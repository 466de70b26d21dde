"""Arrays whose items must all differ beside `prefixItems` or `contains`, where some may have any number of values.

    {"prefixItems": [S, B], "uniqueItems": true}, S strings, B booleans
                                                  →   "[" {new(S) "," ("true" | "false") ...} "]", for each what is left

Where an item can be one of a few values only, as of booleans or an `enum`, it is counted as in counted_arrays.py: the
values used are in the state. All others are compared by the kernel (`ir.new_value`), over the whole array: scalars by
their texts, of which each has one (one_text.py), arrays and objects by what they say (compared_values.py).

The kernel compares what stands in one rule, so states are none here: each way through them is written out, up to
`_MAX_ITEMS` items. Where an item is compared, it may be more than any output can hold, so that one is left whatever
came before it. `TooManyError` otherwise.
Cost: linear in the items written out; to count the texts of a pattern or a format, up to some 30 ms.
Tested by tests/frontends/json_schema/emit/test_schema_unique_positions.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from maskwright.frontends.derivatives import has_many_matches
from maskwright.frontends.json_schema.emit.compared_values import (
    compared_arrays,
    compared_objects,
    leads_back_plainly,
    may_contain,
)
from maskwright.frontends.json_schema.emit.counted_arrays import ArrayState, CountedArray
from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.layout import CLOSE_ARRAY
from maskwright.frontends.json_schema.emit.one_text import OneText
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Conj, identity_of
from maskwright.frontends.json_schema.sets.finite import finite_values
from maskwright.frontends.json_schema.sets.intersect import join
from maskwright.frontends.json_schema.sets.shape import (
    FALSE,
    NULL,
    NUMBER,
    STRING,
    TRUE,
    ArrayShape,
    NumberShape,
    Shape,
    StringShape,
)
from maskwright.ir import OP_NEVER, Expr, alt, never, new_value, scope, seq, star

_MAX_ITEMS: Final = 300
_MAX_LISTED: Final = 16  # values, of which each subset is a state
_MANY: Final = 1 << 40  # texts: more than an output can hold
_LONG_STRING: Final = 10  # characters: as many strings up to this length are many


def distinct_positions(rules: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of items that all differ; `longest` is -1 for no limit.

    Raises:
        TooManyError: Their items cannot be compared, or it takes too many.
    """
    array = _DistinctArray(rules, shape, longest, depth)
    style = array.style
    begun = [seq(style.lead, item, array.rest(following)) for item, following in array.items_from(array.start)]
    empty = [CLOSE_ARRAY] if array.accepts(array.start) else []
    return seq(style.open_array, alt(*empty, scope(alt(*begun))))


class _DistinctArray(CountedArray):
    """The state has the values used of those that are all that some item may be; others are compared."""

    def __init__(self, rules: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> None:
        super().__init__(rules, shape, longest, depth)
        for kind, places in self._kinds():
            self.numbers_of(finite_values(rules.norm.shape_of(self._conj(kind, places))) or [])
        if len(self.constants) > _MAX_LISTED:
            raise TooManyError
        self.finite = {position: list(range(len(self.constants))) for position in self.finite}
        self.compared: dict[tuple[int, tuple[object, ...]], Expr] = {}
        self.rests: dict[ArrayState, tuple[Expr, int]] = {}

    def values_at(self, position: int) -> list[int]:
        return []  # those of all positions may be used at each

    def _kinds(self) -> Iterator[tuple[int, tuple[Conj, ...]]]:
        """Yield each kind of item with all that it may have to satisfy besides."""
        norm = self.emitter.norm
        choices = [
            ((), one.place) if one.most is None else ((), one.place, norm.negation(one.place))
            for one in self.shape.contains
        ]
        for kind in self.finite:
            for places in product(*choices):
                yield kind, places

    def _conj(self, kind: int, places: tuple[Conj, ...]) -> Conj:
        conj = self.shape.item(kind)
        for place in places:
            conj = join(conj, place)
        return conj

    def items_from(self, state: ArrayState) -> list[tuple[Expr, ArrayState]]:
        """What may come next, listed or not, and the state after it."""
        found = list(self.steps_from(state))
        found += [(self._compared_item(kind, places), after) for kind, places, after in self.places_from(state)]
        return [(item, after) for item, after in found if item[0] != OP_NEVER]

    def rest(self, state: ArrayState) -> Expr:
        """What may come after this state, to the closing bracket; never if nothing may."""
        return self._rest(state)[0]

    def _rest(self, state: ArrayState) -> tuple[Expr, int]:
        """That, and of how many items it is written."""
        known = self.rests.get(state)
        if known is not None:
            return known
        again: list[Expr] = []
        ways = [self.ending(state)]
        num_items = 0
        for item, following in self.items_from(state):
            num_items += 1
            if following == state:
                again.append(item)
                continue
            onward, more = self._rest(following)
            num_items += more
            if num_items > _MAX_ITEMS:
                raise TooManyError
            ways.append(seq(self.style.comma, item, onward))
        out = seq(star(seq(self.style.comma, alt(*again))), alt(*ways))
        self.rests[state] = out, num_items
        return out, num_items

    def _compared_item(self, kind: int, places: tuple[Conj, ...]) -> Expr:
        """An item of a kind, in all of these places, that is none of the listed values."""
        key = (kind, tuple(map(identity_of, places)))
        item = self.compared.get(key)
        if item is None:
            item = self.compared[key] = self._compared(self._conj(kind, places))
        return item

    def _compared(self, conj: Conj) -> Expr:
        rules, unique = self.emitter, self.shape.unique
        shape = rules.norm.shape_of(conj)
        if finite_values(shape) is not None:  # all are in the state
            return never()
        assert unique is not None
        if may_contain(rules, conj, unique) and not leads_back_plainly(rules, shape, unique):
            raise TooManyError
        values = compared_arrays(rules, shape, self.inner) + compared_objects(rules, shape, self.inner)
        texts = self._scalars(conj)
        if not values and not any(map(_are_many, texts)):
            raise TooManyError
        ways = [new_value(text, by_text=True) for _, text in texts]
        return alt(*ways, *[seq(new_value(value), closing) for value, closing in values])

    def _scalars(self, conj: Conj) -> list[tuple[Shape, Expr]]:
        """Parts of the scalars at a place, without those in the state, and their texts."""
        norm = self.emitter.norm
        for constant in self.constants:
            conj = join(conj, norm.negation(constant))
        shape = norm.shape_of(conj)
        parts = [Shape(STRING, strings=(part,)) for part in shape.strings]
        parts += [Shape(NUMBER, numbers=(part,)) for part in shape.numbers]
        parts.append(Shape(shape.mask & (NULL | FALSE | TRUE)))
        return [(part, OneText(self.emitter).scalars(part)) for part in parts]


def _are_many(texts: tuple[Shape, Expr]) -> bool:
    """Whether there are more of these than an output can hold."""
    shape, text = texts
    return any(map(_are_long, shape.strings)) or any(map(_are_large, shape.numbers)) or has_many_matches(text, _MANY)


def _are_long(part: StringShape) -> bool:
    if part.values is not None or part.must_match() or not all(other.is_finite() for other in part.excluded):
        return False
    return part.max_length is None or part.max_length >= _LONG_STRING


def _are_large(part: NumberShape) -> bool:
    is_bounded = part.low is not None and part.high is not None
    return part.values is None and not is_bounded and not part.multiple_of and not part.not_multiple_of
