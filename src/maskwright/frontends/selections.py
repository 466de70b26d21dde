"""Lists whose items are bound together: each at most once and in any order, or so many of one kind.

Both keep what was taken in the parameter of a rule (maskwright.parameters): a bit for each item, or a number. Nothing is
spelled out for each order or each count; the kernel makes the few instances that an output passes through.

    >>> builder = IRBuilder()
    >>> body = permutation(builder, "keys", [text("a"), text("b")], required=[1], separator=text(","))
    >>> print(builder.build(seq(text("{"), body, text("}"))).dump())
    root ::= "{" (first | "") "}"
    first::_ ::= "a" rest::set_bit(0) %if bit_clear(0) | "b" rest::set_bit(1) %if bit_clear(1)

Tested by tests/frontends/test_selections.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from maskwright.errors import LimitError
from maskwright.ir import EMPTY, OP_NEVER, UNBOUNDED, Expr, IRBuilder, alt, call, guard, never, ref, seq
from maskwright.parameters import (
    SELF,
    WHOLE,
    Bits,
    Condition,
    Value,
    bit_clear,
    both,
    compare,
    contains,
    increment,
    set_bit,
)

_BITS = WHOLE[1]


def permutation(
    builder: IRBuilder,
    name: str,
    items: Sequence[Expr],
    *,
    required: Collection[int] = (),
    separator: Expr = EMPTY,
    extra: Expr | None = None,
    minimum: int = 0,
    maximum: int = UNBOUNDED,
) -> Expr:
    """Each item at most once, in any order.

    Args:
        builder: Where the rules go.
        name: What they are called after.
        items: What may come; at most 64, fewer if the number of items counts too.
        required: Indices of the items that must come.
        separator: What stands between two items.
        extra: What may come besides, any number of times.
        minimum: How many must come, extras included.
        maximum: How many may come.

    Raises:
        LimitError: There are more items than a parameter has bits.
    """
    taken = sum(1 << i for i in required)
    counter = _Counter(len(items), minimum, maximum)
    done = both(contains(taken), counter.enough)
    choice, rest = builder.declare(f"{name}_choice"), builder.declare(f"{name}_rest")
    choices = [
        guard(bit_clear(i), seq(item, call(rest[1], set_bit(i).then(counter.step)))) for i, item in enumerate(items)
    ]
    if extra is not None and extra[0] != OP_NEVER:
        choices.append(seq(extra, call(rest[1], counter.step)))
    builder.define(choice, guard(counter.more, alt(*choices)))
    builder.define(rest, alt(guard(done, EMPTY), seq(separator, call(choice[1], SELF))))
    return alt(EMPTY if done.holds(0) else never(), ref(choice[1]))


def counted(
    builder: IRBuilder,
    name: str,
    counted_item: Expr,
    other_item: Expr,
    *,
    minimum: int = 0,
    maximum: int = UNBOUNDED,
    separator: Expr = EMPTY,
) -> Expr:
    """Any number of both items in any order, the first of them between `minimum` and `maximum` times."""
    counter = _Counter(0, minimum, maximum)
    choice, rest = builder.declare(f"{name}_choice"), builder.declare(f"{name}_rest")
    one_more = guard(counter.more, seq(counted_item, call(rest[1], counter.step)))
    builder.define(choice, alt(one_more, seq(other_item, call(rest[1], SELF))))
    builder.define(rest, alt(guard(counter.enough, EMPTY), seq(separator, call(choice[1], SELF))))
    return alt(EMPTY if counter.enough.holds(0) else never(), ref(choice[1]))


class _Counter:
    """A number in the bits that are left above `first`, just as wide as its bounds need."""

    def __init__(self, first: int, minimum: int, maximum: int) -> None:
        most = max(minimum, maximum)
        bits: Bits = (first, first + most.bit_length())
        if bits[1] > _BITS:
            raise LimitError(
                f"{first} items in any order, counted up to {most}, need {bits[1]} bits; a parameter has {_BITS}",
                limit="parameter_bits",
                hint="let fewer of them be in any order",
            )
        self.step: Value = increment(bits) if most > 0 else SELF
        self.enough: Condition = compare(">=", minimum, bits) if most > 0 else both()
        self.more: Condition = both()
        if maximum != UNBOUNDED:
            self.more = compare("<", maximum, bits) if maximum > 0 else compare("<", 0)
