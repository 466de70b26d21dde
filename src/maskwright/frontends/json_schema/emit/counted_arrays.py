"""Arrays of which elements are counted or compared: `contains`, `uniqueItems`.

The state is the position (as far as it matters), how many elements matched each `contains`, and for `uniqueItems`,
which asks for elements out of finite sets, the values used. Where only a lower bound is asked for, an element that
matches need not be counted, so that nothing has to be negated.

Elements that are only numbered are no states: bounds on their number are conditions on a parameter of the rules. And
different values in any order are a permutation (selections.py).

    {"contains": X, "maxItems": 9}   →   none::_ ::= "," any none::incr %if _ < 8 | "," X one::incr %if _ < 9
                                         one::_ ::= "," any one::incr %if _ < 9 | "]"
Tested by tests/frontends/json_schema/emit/test_schema_counting.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, TypeAlias

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.emit.counting import MAX_STEPS, Automaton, TooManyError, apart_from_empty
from maskwright.frontends.json_schema.emit.layout import CLOSE_ARRAY
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Conj, identity_of
from maskwright.frontends.json_schema.sets.finite import Scalar, finite_values
from maskwright.frontends.json_schema.sets.intersect import join
from maskwright.frontends.json_schema.sets.shape import ArrayShape, Contains
from maskwright.frontends.selections import Selection, permutation
from maskwright.ir import OP_NEVER, Expr, alt, call, guard, never, seq
from maskwright.ir.parameters import WHOLE, compare, increment

_MOST_PERMUTED: Final = WHOLE[1]  # each has a bit

ArrayState: TypeAlias = "tuple[int, tuple[int, ...], int]"  # position, matches of each `contains`, values used as bits


class CountedArray(Automaton):
    """Arrays of elements that match places, or are different."""

    def __init__(self, emitter: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> None:
        super().__init__(emitter, emitter.layout.styles[depth], "items", CLOSE_ARRAY)
        self.shape = shape
        self.longest = longest
        self.inner = self.style.inner
        starts = [one.start for one in shape.contains]
        self.last = longest if longest >= 0 else max(len(shape.prefix), shape.min_items, *starts, 0)
        self.start: ArrayState = (0, (0,) * len(shape.contains), 0)
        self.values: dict[Any, int] = {}
        self.constants: list[Conj] = []
        self.items: dict[Any, Expr] = {}
        self.finite: dict[int, list[int]] = {}
        if shape.unique is not None:
            for position in range(min(len(shape.prefix), self.last) + 1):
                self.finite[position] = self.values_at(position)

    def values_at(self, position: int) -> list[int]:
        if 0 <= self.longest <= position:
            return []
        norm = self.emitter.norm
        values = finite_values(norm.shape_of(self.shape.item(position)))
        if values is None or len(values) > MAX_STEPS:
            raise TooManyError
        return self.numbers_of(values)

    def numbers_of(self, values: list[Scalar]) -> list[int]:
        """The values by number, each with one."""
        for value in values:
            if value not in self.values:
                self.values[value] = len(self.constants)
                self.constants.append(self.emitter.norm.constant(value[1]))
        return [self.values[value] for value in values]

    def accepts(self, state: ArrayState) -> bool:
        return state[0] >= self.shape.min_items and self.has_matches(state)

    def has_matches(self, state: ArrayState) -> bool:
        """Whether enough elements have matched each `contains`."""
        return all(count >= one.least for count, one in zip(state[1], self.shape.contains, strict=True))

    def steps_from(self, state: ArrayState) -> Iterator[tuple[Expr, ArrayState]]:
        used = state[2]
        for kind, places, following in self.places_from(state):
            if self.shape.unique is None:
                yield self.item(kind, places, None), following
                continue
            for value in self.finite[kind]:
                if not used >> value & 1:
                    yield self.item(kind, places, value), (*following[:2], used | 1 << value)

    def places_from(self, state: ArrayState) -> Iterator[tuple[int, tuple[Conj, ...], ArrayState]]:
        """Yield the kind of the next element, what else it must satisfy, and the state after it."""
        position, counts, used = state
        if 0 <= self.longest <= position:
            return
        following = min(position + 1, self.last)
        kind = min(position, len(self.shape.prefix))
        choices = [self._choices(one, count, position) for one, count in zip(self.shape.contains, counts, strict=True)]
        for chosen in product(*choices):
            yield kind, tuple([place for place, _ in chosen]), (following, tuple([count for _, count in chosen]), used)

    def _choices(self, one: Contains, count: int, position: int) -> list[tuple[Conj, int]]:
        """Whether an element is counted as a match: what it must satisfy, and the number of matches then."""
        if position < one.start or (one.most is None and count >= one.least):
            return [((), count)]
        if one.most is None:
            return [((), count), (one.place, count + 1)]
        others = (self.emitter.norm.negation(one.place), count)
        if count >= one.most:
            return [others]
        return [others, (one.place, min(count + 1, one.most))]

    def item(self, kind: int, places: tuple[Conj, ...], value: int | None) -> Expr:
        """One element of a kind, in all of these places, and, if a value is given, that."""
        key = (kind, tuple(map(identity_of, places)), value)
        item = self.items.get(key)
        if item is None:
            conj = self.shape.item(kind)
            for place in places:
                conj = join(conj, place)
            if value is not None:
                conj = join(conj, self.constants[value])
            item = self.items[key] = self.emitter.as_rule("item", self.emitter.place(conj, self.inner))
        return item


class _NumberedArray(CountedArray):
    """As `CountedArray`, for elements that may be equal: behind the last position that matters, they are only numbered.

    The number is the rules' parameter: how many elements came since.
    """

    def __init__(self, emitter: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> None:
        super().__init__(emitter, shape, longest, depth)
        last = max(len(shape.prefix), *[one.start for one in shape.contains])
        self.last = last if longest < 0 else min(last, longest)
        self.least = max(shape.min_items - self.last, 0)
        self.most = None if longest < 0 else longest - self.last
        self.bits = (0, max(self.least, self.most or 0).bit_length())
        if self.bits[1] > WHOLE[1]:
            raise TooManyError
        self.lacking: dict[ArrayState, int] = {}

    def numbers_from(self, state: ArrayState) -> bool:
        """Whether elements after this state are numbered."""
        return state[0] == self.last and self.bits != (0, 0)

    def accepts(self, state: ArrayState) -> bool:
        return super().accepts(state) if state[0] < self.last else self.has_matches(state) and self.least == 0

    def ending(self, state: ArrayState) -> Expr:
        if not self.numbers_from(state):
            return super().ending(state)
        return guard(compare(">=", self.least, self.bits), self.close) if self.has_matches(state) else never()

    def way(self, state: ArrayState, item: Expr, following: ArrayState) -> Expr:
        if not self.numbers_from(state):
            return super().way(state, item, following)
        onward = seq(item, call(self.after(following)[1], increment(self.bits)))
        if self.most is None:
            return onward
        if following not in self.lacking:
            self._find_lacking(following)
        return guard(compare("<", self.most - self.lacking[following], self.bits), onward)

    def _find_lacking(self, origin: ArrayState) -> None:
        """Find out for a state and all after it how many more elements it takes until enough have matched."""
        before: dict[ArrayState, list[ArrayState]] = {origin: []}
        states = [origin]
        for state in states:
            for item, following in self.steps_from(state):
                if item[0] != OP_NEVER:
                    if following not in before:
                        before[following] = []
                        states.append(following)
                    before[following].append(state)
            if len(states) > MAX_STEPS:
                raise TooManyError
        self.lacking.update(dict.fromkeys(states, self.longest))  # too many, unless there is a way
        ends = [state for state in states if self.has_matches(state)]
        self.lacking.update(dict.fromkeys(ends, 0))
        seen = set(ends)
        for state in ends:
            new = [earlier for earlier in dict.fromkeys(before[state]) if earlier not in seen]
            self.lacking.update(dict.fromkeys(new, self.lacking[state] + 1))
            seen.update(new)
            ends += new


def counted_array(emitter: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays whose elements are counted or compared; `longest` is -1 for no limit.

    Raises:
        TooManyError: They are not finite in number, or it takes too many rules.
    """
    if shape.unique is None:
        return _numbered(_NumberedArray(emitter, shape, longest, depth))
    array = CountedArray(emitter, shape, longest, depth)
    if not shape.prefix and not shape.contains:
        return _permuted(array)
    return _spelled(array, array.begin(array.start))


def _numbered(array: _NumberedArray) -> Expr:
    ways = array.begin(array.start)
    if array.numbers_from(array.start) and ways:
        ways = [array.emitter.builder.add("items", alt(*ways))]  # a rule of its own, as it has a parameter
    return _spelled(array, ways)


def _spelled(array: CountedArray, ways: list[Expr]) -> Expr:
    style = array.style
    empty = [CLOSE_ARRAY] if array.accepts(array.start) else []
    return seq(style.open_array, alt(*empty, *[seq(style.lead, way) for way in ways])) if ways or empty else never()


def _permuted(array: CountedArray) -> Expr:
    """Different elements, each out of the same values."""
    if len(array.finite[0]) > _MOST_PERMUTED:
        raise TooManyError
    items = [array.item(0, (), value) for value in array.finite[0]]
    try:
        selection = Selection(
            [item for item in items if item[0] != OP_NEVER],
            separator=array.style.comma,
            minimum=array.shape.min_items,
            maximum=array.longest,
        )
        body = permutation(array.emitter.builder, "items", selection)
    except LimitError as error:
        raise TooManyError from error
    filled, may_be_empty = apart_from_empty(body)
    return array.style.array_of(filled, may_be_empty=may_be_empty)
