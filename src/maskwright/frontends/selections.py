"""Selections of items: each at most once, in any order or in theirs, and so many of them.

They keep what was taken in the parameter of a rule (maskwright.ir.parameters): a bit for each item, or a number.
Nothing is spelled out for each order or each count; the kernel makes the few instances that an output passes through.
Where items in any order are more than the bits, some may share a few: a group of three keeps in two bits the number of
the last one taken, so these three come in their own order, wherever the others come.

    >>> from maskwright.ir import text
    >>> builder = IRBuilder()
    >>> keys = Selection([text("a"), text("b")], required=[1], separator=text(","))
    >>> body = permutation(builder, "key", keys)
    >>> print(builder.build(body).dump())
    key_choice::_ ::= "b" key_rest::set_bit(0) %if bit_clear(0) | "a" key_rest::set_bit(1) %if bit_clear(1)
    key_rest::_ ::= "" %if bit_set(0) | "," key_choice::_

Tested by tests/frontends/test_selections.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from maskwright.errors import LimitError
from maskwright.ir import (
    EMPTY,
    OP_EMPTY,
    OP_NEVER,
    UNBOUNDED,
    Expr,
    IRBuilder,
    alt,
    alt_of_distinct,
    call,
    guard,
    never,
    ref,
    seq,
)
from maskwright.ir.parameters import (
    ALL_BITS,
    FALSE,
    SELF,
    TRUE,
    WHOLE,
    Bits,
    Condition,
    Value,
    bit_clear,
    both,
    compare,
    compare_count,
    contains,
    increment,
    masked,
    set_bit,
)

_BITS: Final = WHOLE[1]
MOST_ITEMS: Final = 256  # in any order, some of them in groups: each is a way on wherever one may come


class Selection(NamedTuple):
    """What may be selected, each item at most once.

    Attributes:
        items: What may come; in any order at most 64, or MOST_ITEMS in groups; fewer if the number of items counts too.
        required: Indices of the items that must come.
        separator: What stands between two items.
        extra: What may come besides, any number of times.
        minimum: How many must come, extras included.
        maximum: How many may come.
    """

    items: Sequence[Expr]
    required: Collection[int] = ()
    separator: Expr = EMPTY
    extra: Expr | None = None
    minimum: int = 0
    maximum: int = UNBOUNDED


def permutation(builder: IRBuilder, name: str, selection: Selection, *, may_group: bool = False) -> Expr:
    """The items of a selection in any order; the rules are called after `name`.

    With `may_group`, optional items that are too many come in groups, and within a group in their own order.

    Raises:
        LimitError: There are more items than a parameter has bits; a number of extras needs some too.
    """
    # Required items have the lowest bits and are listed first: the shortest way to the end begins with them. Only the
    # others count, against bounds that leave room for what is required, so that no choice leads to a dead end.
    items, extra = selection.items, selection.extra
    must = frozenset(selection.required)
    needed = [item for i, item in enumerate(items) if i in must]
    free = [item for i, item in enumerate(items) if i not in must]
    bounds = _bounds_of_optional(selection, len(needed))
    has_extra = extra is not None and extra[0] != OP_NEVER
    may_group = may_group and (bounds is None or bounds[0] == 0 or has_extra)
    if len(items) > (MOST_ITEMS if may_group else _BITS):
        raise _too_many_bits(len(items))
    if bounds is None or (bounds[0] > len(free) and not has_extra):
        return never()
    has_number = has_extra or len(items) > _BITS  # of the optional ones taken; else the bits are counted
    reserved = _bits_of_number(*bounds) if has_number else 0
    places = _places(len(needed), len(free), reserved) if may_group else _single(len(items))
    end = places[-1].bits[1] if places else 0
    limits = _number(end, *bounds) if has_number else _set_bits((len(needed), len(items)), *bounds)
    done = both(contains((1 << len(needed)) - 1), limits.enough)
    choice, rest = builder.declare(f"{name}_choice"), builder.declare(f"{name}_rest")

    def taking(place: _Place, item: Expr, step: Value) -> Expr:
        return guard(place.may_take, seq(item, call(rest[1], place.take.then(step))))

    required_choices = [taking(place, item, SELF) for place, item in zip(places, needed, strict=False)]
    free_choices = [taking(place, item, limits.step) for place, item in zip(places[len(needed) :], free, strict=True)]
    if extra is not None and has_extra:
        free_choices.append(seq(extra, call(rest[1], limits.step)))
    choices = [*required_choices, *[guard(limits.more, c) for c in free_choices]]
    possible = [each for each in choices if each[0] != OP_NEVER]  # each takes another bit
    builder.define(choice, alt_of_distinct(possible) if possible else never())
    builder.define(rest, alt(guard(done, EMPTY), seq(selection.separator, call(choice[1], SELF))))
    return alt(EMPTY if done.holds(0) else never(), ref(choice[1]))


class _Place(NamedTuple):
    """Where it is kept that an item was taken: the number in these bits becomes `number`, which was below that."""

    bits: Bits
    number: int

    @property
    def may_take(self) -> Condition:
        first, last = self.bits
        return bit_clear(first) if last == first + 1 else compare("<", self.number, self.bits)

    @property
    def take(self) -> Value:
        first, last = self.bits
        if last == first + 1:
            return set_bit(first)
        return masked(ALL_BITS & ~((1 << last) - (1 << first)), self.number << first)


def _single(count: int) -> list[_Place]:
    return [_Place((bit, bit + 1), 1) for bit in range(count)]


def _places(num_required: int, num_optional: int, num_reserved: int) -> list[_Place]:
    """The places of required items, then of optional ones, the last of which share the bits of groups if need be.

    Raises:
        LimitError: They do not fit, whatever the size of the groups.
    """
    room = _BITS - num_required - num_reserved
    missing = max(num_optional - room, 0)
    width, num_groups = 1, 0
    while missing and (not num_groups or num_groups * width > room):
        width += 1
        if width > room:
            raise _too_many_bits(num_required + num_optional + num_reserved)
        num_groups = -(-missing // ((1 << width) - 1 - width))  # each holds so many more than its bits could alone
    num_single = min(num_optional, room - num_groups * width)
    places = _single(num_required + num_single)
    first = num_required + num_single
    for i in range(num_optional - num_single):
        group, position = divmod(i, (1 << width) - 1)
        places.append(_Place((first + group * width, first + (group + 1) * width), position + 1))
    return places


def ordered(builder: IRBuilder, name: str, selection: Selection) -> Expr:
    """The items of a selection in their order, then extras; the rules are called after `name`.

    Raises:
        LimitError: The bounds need more bits than a parameter has.
    """
    items, extra, separator = selection.items, selection.extra, selection.separator
    must = frozenset(selection.required)
    bounds = _bounds_of_optional(selection, len(must))
    if bounds is None:
        return never()
    limits = _number(0, *bounds)
    # What may come from an item on where something stands before it, and where nothing does.
    after = builder.declare(f"{name}_rest")
    more = never() if extra is None else guard(limits.more, seq(extra, call(after[1], limits.step)))
    done = guard(limits.enough, EMPTY)
    builder.define(after, alt(done, seq(separator, more)))
    first = builder.add(f"{name}_choice", alt(done, more)) if separator[0] != OP_EMPTY else after
    for i in range(len(items) - 1, -1, -1):
        step = SELF if i in must else limits.step
        taken = seq(items[i], call(after[1], step))
        taken = taken if i in must else guard(limits.more, taken)

        def choice(left: Expr, taken: Expr = taken, skips: bool = i not in must) -> Expr:
            return alt(taken, call(left[1], SELF)) if skips else taken

        first, after = (
            builder.add(f"{name}_choice", choice(first)),
            builder.add(f"{name}_rest", choice(after, seq(separator, taken))),
        )
    return first


def _bounds_of_optional(selection: Selection, num_required: int) -> tuple[int, int] | None:
    """How many may come besides what is required; None if no number will do."""
    minimum = max(selection.minimum - num_required, 0)
    if selection.maximum == UNBOUNDED:
        return minimum, UNBOUNDED
    maximum = selection.maximum - num_required
    return None if maximum < minimum else (minimum, maximum)


class _Limits(NamedTuple):
    """How things that are taken are counted: what each adds, when there are enough, and when one more may come."""

    step: Value
    enough: Condition
    more: Condition


def _set_bits(bits: Bits, minimum: int, maximum: int) -> _Limits:
    """Count the bits that are set among these; there may be none at all."""
    if bits[0] == bits[1]:
        return _Limits(SELF, TRUE, TRUE)
    more = TRUE if maximum == UNBOUNDED else compare_count("<", maximum, bits)
    return _Limits(SELF, compare_count(">=", minimum, bits), more)


def _number(first: int, minimum: int, maximum: int) -> _Limits:
    """Keep a number in the bits from `first` on, as many as its bounds need."""
    most = max(minimum, maximum)
    if most <= 0:
        return _Limits(SELF, TRUE, TRUE if maximum == UNBOUNDED else FALSE)
    bits = (first, first + _bits_of_number(minimum, maximum))
    if bits[1] > _BITS:
        raise _too_many_bits(bits[1])
    more = TRUE if maximum == UNBOUNDED else compare("<", maximum, bits)
    return _Limits(increment(bits), compare(">=", minimum, bits), more)


def _bits_of_number(minimum: int, maximum: int) -> int:
    return max(minimum, maximum, 0).bit_length()


def _too_many_bits(needed: int) -> LimitError:
    return LimitError(
        f"items in any order need {needed} bits of state, and at most {_BITS} are supported",
        limit="parameter_bits",
        hint="use fewer items in any order",
    )
