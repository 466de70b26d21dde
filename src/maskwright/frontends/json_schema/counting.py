"""Count elements and members: `contains`, `uniqueItems`, `minProperties`, `maxProperties`.

What was counted so far is the state of a finite automaton, and each state becomes a rule: "what may come after this, to
the closing bracket". States are made as they are reached; a schema that needs too many is refused.

    {"contains": X}   →   "[" (any , none | X , one)     none ::= "," any none | "," X one     one ::= "," any one | "]"

Arrays: the state is the position (as far as it matters), how many elements matched each `contains`, and for
`uniqueItems`, which asks for elements out of finite sets, the values used. Where only a lower bound is asked for, an
element that matches need not be counted, so that nothing has to be negated. Elements that are only numbered are no
states: bounds on their number are conditions on a parameter of the rules; and different values in any order are a
permutation (selections.py).
Objects: the state is the next declared member, the number of members, and the witnesses met (witnesses.py). Further
members count as one towards `minProperties`, as they might all have one name; where more would have to be told apart,
the schema is refused.
Cost: at most MAX_STEPS steps between states for one array or object.
Tested by tests/frontends/json_schema/test_schema_counting.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.intersect import join
from maskwright.frontends.json_schema.layout import CLOSE_ARRAY, CLOSE_OBJECT, Style
from maskwright.frontends.json_schema.shape import (
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Conj,
    Contains,
    ObjectShape,
    Shape,
)
from maskwright.frontends.selections import permutation
from maskwright.ir import OP_ALT, OP_EMPTY, OP_NEVER, Expr, alt, call, guard, never, seq
from maskwright.parameters import WHOLE, compare, increment

if TYPE_CHECKING:
    from maskwright.frontends.json_schema.emit import Emitter

MAX_STEPS = 4096
_END, _PAST = -1, -2  # all declared members were written, and no more may come; or others may

Member: TypeAlias = "tuple[Expr, Expr, bool]"  # name, value, whether it is required
Others: TypeAlias = "dict[int, tuple[Expr, bool]]"


class TooManyError(Exception):
    """There are more than MAX_STEPS steps, or elements that cannot be told apart."""


class _Automaton:
    """Makes the rules of the states reachable from the first one. A subclass says what the states are."""

    def __init__(self, emitter: Emitter, style: Style, name: str, close: Expr) -> None:
        self.emitter = emitter
        self.style = style
        self.name = name
        self.close = seq(style.trail, close)
        self.steps = 0
        self.rules: dict[Hashable, Expr] = {}
        self.waiting: list[Any] = []

    def accepts(self, state: Any) -> bool:
        raise NotImplementedError

    def steps_from(self, state: Any) -> Iterator[tuple[Expr, Any]]:
        """Yield what may come next, and the state after it."""
        raise NotImplementedError

    def after(self, state: Any) -> Expr:
        """Return the reference to what may come after this state."""
        known = self.rules.get(state)
        if known is None:
            known = self.rules[state] = self.emitter.builder.declare(self.name)
            self.waiting.append(state)
        return known

    def begin(self, state: Any) -> list[Expr]:
        """Return the ways to go on from the first state.

        Raises:
            TooManyError: They lead to too many states.
        """
        define = self.emitter.builder.define
        try:
            ways = self._ways(state)
            while self.waiting:
                other = self.waiting.pop()
                onward = [seq(self.style.comma, way) for way in self._ways(other)]
                define(self.rules[other], alt(self.ending(other), *onward))
        except TooManyError:
            for rule in self.rules.values():
                define(rule, never())
            raise
        return ways

    def _ways(self, state: Any) -> list[Expr]:
        ways = []
        for item, following in self.steps_from(state):
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise TooManyError
            if item[0] != OP_NEVER:
                ways.append(self.way(state, item, following))
        return ways

    def way(self, state: Any, item: Expr, following: Any) -> Expr:
        """Return the way from one state to another over an item."""
        return seq(item, self.after(following))

    def ending(self, state: Any) -> Expr:
        """Return what may come if nothing follows this state."""
        return self.close if self.accepts(state) else never()


# Arrays


_ArrayState: TypeAlias = "tuple[int, tuple[int, ...], int]"  # position, matches of each `contains`, values used as bits


class _Array(_Automaton):
    """Arrays of elements that match places, or are different."""

    def __init__(self, emitter: Emitter, shape: ArrayShape, longest: int, depth: int) -> None:
        super().__init__(emitter, emitter.layout.style(depth), "items", CLOSE_ARRAY)
        self.shape = shape
        self.longest = longest
        self.inner = emitter.layout.inner(depth)
        starts = [one.start for one in shape.contains]
        self.last = longest if longest >= 0 else max(len(shape.prefix), shape.min_items, *starts, 0)
        self.start: _ArrayState = (0, (0,) * len(shape.contains), 0)
        self.values: dict[Any, int] = {}
        self.constants: list[Conj] = []
        self.items: dict[Any, Expr] = {}
        self.finite: dict[int, list[int]] = {}
        if shape.unique is not None:
            for position in range(min(len(shape.prefix), self.last) + 1):
                self.finite[position] = self._values_at(position)

    def _values_at(self, position: int) -> list[int]:
        if 0 <= self.longest <= position:
            return []
        norm = self.emitter.norm
        values = finite_values(norm.shape_of(self.shape.item(position)))
        if values is None:
            raise TooManyError
        for value in values:
            if value not in self.values:
                self.values[value] = len(self.constants)
                self.constants.append(norm.constant(value[1]))
        return [self.values[value] for value in values]

    def accepts(self, state: _ArrayState) -> bool:
        return state[0] >= self.shape.min_items and self.has_matches(state)

    def has_matches(self, state: _ArrayState) -> bool:
        """Whether enough elements have matched each `contains`."""
        return all(count >= one.least for count, one in zip(state[1], self.shape.contains, strict=True))

    def steps_from(self, state: _ArrayState) -> Iterator[tuple[Expr, _ArrayState]]:
        position, counts, used = state
        if 0 <= self.longest <= position:
            return
        following = min(position + 1, self.last)
        kind = min(position, len(self.shape.prefix))
        choices = [self._choices(one, count, position) for one, count in zip(self.shape.contains, counts, strict=True)]
        for chosen in product(*choices):
            places = tuple([place for place, _ in chosen])
            after = tuple([count for _, count in chosen])
            if self.shape.unique is None:
                yield self.item(kind, places, None), (following, after, 0)
                continue
            for value in self.finite[kind]:
                if not used >> value & 1:
                    yield self.item(kind, places, value), (following, after, used | 1 << value)

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
        key = (kind, tuple(map(id, places)), value)
        item = self.items.get(key)
        if item is None:
            conj = self.shape.item(kind)
            for place in places:
                conj = join(conj, place)
            if value is not None:
                conj = join(conj, self.constants[value])
            item = self.items[key] = self.emitter.as_rule("item", self.emitter.place(conj, self.inner))
        return item


class _NumberedArray(_Array):
    """As `_Array`, for elements that may be equal: from the last position that matters on, they are only numbered.

    The number is the rules' parameter: how many elements came since.
    """

    def __init__(self, emitter: Emitter, shape: ArrayShape, longest: int, depth: int) -> None:
        super().__init__(emitter, shape, longest, depth)
        last = max(len(shape.prefix), *[one.start for one in shape.contains])
        self.last = last if longest < 0 else min(last, longest)
        self.least = max(shape.min_items - self.last, 0)
        self.most = None if longest < 0 else longest - self.last
        self.bits = (0, max(self.least, self.most or 0).bit_length())
        if self.bits[1] > WHOLE[1]:
            raise TooManyError
        self.lacking: dict[_ArrayState, int] = {}

    def numbers_from(self, state: _ArrayState) -> bool:
        """Whether elements after this state are numbered."""
        return state[0] == self.last and self.bits != (0, 0)

    def accepts(self, state: _ArrayState) -> bool:
        return super().accepts(state) if state[0] < self.last else self.has_matches(state) and self.least == 0

    def ending(self, state: _ArrayState) -> Expr:
        if not self.numbers_from(state):
            return super().ending(state)
        return guard(compare(">=", self.least, self.bits), self.close) if self.has_matches(state) else never()

    def way(self, state: _ArrayState, item: Expr, following: _ArrayState) -> Expr:
        if not self.numbers_from(state):
            return super().way(state, item, following)
        onward = seq(item, call(self.after(following)[1], increment(self.bits)))
        if self.most is None:
            return onward
        if following not in self.lacking:
            self._find_lacking(following)
        return guard(compare("<", self.most - self.lacking[following], self.bits), onward)

    def _find_lacking(self, origin: _ArrayState) -> None:
        """Find out for a state and all after it how many more elements it takes until enough have matched."""
        before: dict[_ArrayState, list[_ArrayState]] = {origin: []}
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


def finite_values(shape: Shape) -> list[tuple[str, Any]] | None:
    """Return all scalars of a shape, each with its type; None if they are not finite in number."""
    if shape.arrays or shape.objects:
        return None
    values: dict[tuple[str, Any], None] = {}
    for kind, parts in (("string", shape.strings), ("number", shape.numbers)):
        for part in parts:
            if part.values is None:
                return None
            values.update(dict.fromkeys([(kind, value) for value in part.values]))
    for bit, value in ((NULL, None), (TRUE, True), (FALSE, False)):
        if shape.mask & bit:
            values["literal", value] = None
    return list(values)


def counted_array(emitter: Emitter, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays whose elements are counted or compared; `longest` is -1 for no limit.

    Raises:
        TooManyError: They are not finite in number, or it takes too many rules.
    """
    if shape.unique is None:
        return _numbered(_NumberedArray(emitter, shape, longest, depth))
    array = _Array(emitter, shape, longest, depth)
    if not shape.prefix and not shape.contains:
        return _permuted(array)
    return _spelled(array, array.begin(array.start))


def _numbered(array: _NumberedArray) -> Expr:
    ways = array.begin(array.start)
    if array.numbers_from(array.start) and ways:
        ways = [array.emitter.builder.add("items", alt(*ways))]  # a rule of its own, as it has a parameter
    return _spelled(array, ways)


def _spelled(array: _Array, ways: list[Expr]) -> Expr:
    style = array.style
    empty = [CLOSE_ARRAY] if array.accepts(array.start) else []
    return seq(style.open_array, alt(*empty, *[seq(style.lead, way) for way in ways])) if ways or empty else never()


def _permuted(array: _Array) -> Expr:
    """Different elements, each out of the same values."""
    items = [array.item(0, (), value) for value in array.finite[0]]
    try:
        body = permutation(
            array.emitter.builder,
            "items",
            [item for item in items if item[0] != OP_NEVER],
            separator=array.style.comma,
            minimum=array.shape.min_items,
            maximum=array.longest,
        )
    except LimitError as error:
        raise TooManyError from error
    filled, may_be_empty = apart_from_empty(body)
    return array.style.array_of(filled, may_be_empty=may_be_empty)


def apart_from_empty(body: Expr) -> tuple[Expr, bool]:
    """Return the alternatives that are not the empty text, and whether that is one."""
    ways = body[1:] if body[0] == OP_ALT else (body,)
    filled = [way for way in ways if way[0] != OP_EMPTY]
    return alt(*filled), len(filled) < len(ways)


# Objects


class _Object(_Automaton):
    """States are (next declared member, number of members, witnesses met as bits).

    Past the declared members the position is _PAST, or _END after the witness that must be the last.
    """

    def __init__(
        self, emitter: Emitter, members: list[Member], extra: Expr, asked: ObjectShape, others: Others, style: Style
    ) -> None:
        super().__init__(emitter, style, "members", CLOSE_OBJECT)
        self.least, self.most = asked.min_properties, asked.max_properties
        self.members = [
            (emitter.as_rule("member", seq(name, style.colon, value)), required) for name, value, required in members
        ]
        self.last_required = max([i for i, (_, required) in enumerate(self.members) if required], default=-1)
        self.others = {bits: emitter.as_rule("member", other) for bits, (other, _) in others.items()}
        self.others[0] = extra if extra[0] == OP_NEVER else emitter.as_rule("member", extra)
        self.all_met = max(self.others)
        self.final = {bits for bits, (_, is_last) in others.items() if is_last}

    def accepts(self, state: tuple[int, int, int]) -> bool:
        position, count, met = state
        return count >= self.least and met == self.all_met and (position < 0 or position > self.last_required)

    def steps_from(self, state: tuple[int, int, int]) -> Iterator[tuple[Expr, tuple[int, int, int]]]:
        position, count, met = state
        if position == _END or (self.most is not None and count >= self.most):
            return
        further = count + 1 if self.most is not None else min(count + 1, self.least)
        if position >= 0:
            for i in range(position, len(self.members)):
                member, required = self.members[i]
                yield member, (i + 1, further, met)
                if required:
                    return
        for bits, other in self.others.items():
            if bits & met:
                continue
            if bits not in self.final:
                yield other, (_PAST, further, met | bits)
            elif met | bits == self.all_met:
                yield other, (_END, further, met | bits)


class _Unordered(_Object):
    """As `_Object`, but a state begins with the declared members that were written, as bits, or _END."""

    def accepts(self, state: tuple[int, int, int]) -> bool:
        written, count, met = state
        everything = all(written >> i & 1 for i, (_, required) in enumerate(self.members) if required)
        return count >= self.least and met == self.all_met and everything

    def steps_from(self, state: tuple[int, int, int]) -> Iterator[tuple[Expr, tuple[int, int, int]]]:
        written, count, met = state
        if written == _END or (self.most is not None and count >= self.most):
            return
        further = count + 1 if self.most is not None else min(count + 1, self.least)
        for i, (member, _) in enumerate(self.members):
            if not written >> i & 1:
                yield member, (written | 1 << i, further, met)
        for bits, other in self.others.items():
            if bits not in self.final and not bits & met:
                yield other, (written, further, met | bits)
            elif not bits & met and met | bits == self.all_met and self.accepts((written, self.least, self.all_met)):
                yield other, (_END, further, met | bits)


def counted_object(
    emitter: Emitter,
    members: list[Member],
    extra: Expr,
    asked: ObjectShape,
    others: Others,
    style: Style,
    *,
    any_order: bool = False,
) -> Expr:
    """Return the spellings of objects with as many members as asked, and with all witnesses.

    `others` has, for each set of witnesses as bits, a member that is all of them, and whether that must be the last.

    Raises:
        TooManyError: It takes too many rules.
    """
    machine = (_Unordered if any_order else _Object)(emitter, members, extra, asked, others, style)
    start = (0, 0, 0)
    ways = machine.begin(start)
    empty = [CLOSE_OBJECT] if machine.accepts(start) else []
    return seq(style.open_object, alt(*empty, *[seq(style.lead, way) for way in ways])) if ways or empty else never()
