"""`multipleOf` for any number: an automaton that computes remainders, written as rules; or a remainder in a register.

    {"type": "integer", "multipleOf": 3}       →   a rule for each remainder: r1 ::= [0369] r1 | [147] r2 | [258] r0
    {"type": "integer", "multipleOf": 86400}   →   multiple([0-9]+, 86400)

Beyond a few remainders, the kernel computes them from digit to digit. What must not be a multiple takes rules.

Numbers are written plainly, without an exponent. A state is the derivative of the expression for the numbers within
bounds, by what was read so far, and the remainder of the digits by all divisors' least common multiple, as far as it
matters: of the remainder by 30, what follows sees that by 3. Divisors of powers of ten need none of this: the last
digits tell (numerals.py).
Cost: of rules, at most MAX_STATES states, and MAX_ALL_STATES in a document, of some 0.1 ms each, whose masks are kept.
Past MAX_REMAINDERS remainders, a register is cheaper: benchmarks/results/2026-11-24-multiples.md.
Tested by tests/frontends/json_schema/sets/test_schema_numbers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import gcd, lcm
from typing import Final, TypeAlias

from maskwright.frontends.derivatives import byte_classes, derivative, nullable
from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.ranges import DIGIT, MINUS, POINT
from maskwright.frontends.json_schema.sets.shape import Exact
from maskwright.ir import (
    EMPTY,
    MAX_MODULUS,
    MAX_SCALE,
    OP_NEVER,
    Expr,
    IRBuilder,
    alt,
    alt_of_distinct,
    and_,
    byte_set,
    call,
    guard,
    multiple,
    never,
    optional,
    repeat,
    seq,
)
from maskwright.ir.parameters import Value, compare, increment
from maskwright.support.interruption import interrupt_checkpoint

MAX_STATES: Final = 3200
MAX_ALL_STATES: Final = 4800  # of all automata of a document
MAX_REMAINDERS: Final = 50  # that rules are made for, rather than a register
MAX_DIGITS: Final = 15
_CHARACTERS: Final = b"-0123456789."
_BYTES: Final = sum(1 << byte for byte in _CHARACTERS)
_DIGITS: Final = sum(1 << byte for byte in b"0123456789")
_COUNT: Final = (0, 4)  # of digits: the rules' parameter
_UNCHANGED: Final = Value()
_MINUS_BYTE, _POINT_BYTE, _ZERO_BYTE = b"-.0"


class TooManyStatesError(Exception):
    """The automaton has more than MAX_STATES states, or those of the document more than MAX_ALL_STATES.

    Of numbers in a register: these are too large, or some must not be multiples.
    """


def multiples_rule(
    text: Expr, multiples: list[Exact], others: list[Exact], builder: IRBuilder, *, counts_digits: bool = False
) -> Expr:
    """Return the numbers of an expression that are multiples of all of `multiples`, and of none of `others`.

    With `counts_digits`, they have at most MAX_DIGITS digits, which doubles hold however they are put.

    Raises:
        TooManyStatesError: It takes too many rules.
    """
    # A multiple of 24 is one of 8, and what is no multiple of 8 is none of 24.
    multiples = _needed(multiples, lambda unit, other: other % unit == 0)
    others = _needed(others, lambda unit, other: unit % other == 0)
    remainders = _Remainders(multiples, others)
    if remainders.matters_before > MAX_REMAINDERS and not others:
        return multiples_in_register(text, multiples, others, builder, counts_digits=counts_digits)
    bounds = _bounds(text)
    most = min(MAX_STATES, MAX_ALL_STATES - builder.num_named("multiple"))
    if most <= 0:
        raise TooManyStatesError
    start = (0, remainders.start)
    rules = {start: builder.declare("multiple")}
    waiting = [start]
    while waiting:
        interrupt_checkpoint()
        state = waiting.pop()
        at, remainder = state
        ways: dict[Expr, int] = {}
        left_after = remainders.steps(remainder)
        for byte, following in bounds.steps[at].items():
            left = left_after[byte]
            if left is None:
                continue
            after = (following, left)
            target = rules.get(after)
            if target is None:
                target = rules[after] = builder.declare("multiple")
                waiting.append(after)
            ways[target] = ways.get(target, 0) | 1 << byte
        parts = [part for target, mask in ways.items() for part in _steps(mask, target, counts_digits)]
        if bounds.accepts[at] and remainder[2]:
            parts.append(EMPTY)
        builder.define(rules[state], alt_of_distinct(parts) if parts else never())
        if len(rules) > most:
            for rule in rules.values():
                builder.define(rule, never())
            raise TooManyStatesError
    return rules[start]


def multiples_in_register(
    text: Expr, multiples: list[Exact], others: list[Exact], builder: IRBuilder, *, counts_digits: bool = False
) -> Expr:
    """Return the same as `multiples_rule` in one rule, which computes remainders.

    Raises:
        TooManyStatesError: It cannot: a number is too large, or there are `others`.
    """
    if others:
        raise TooManyStatesError
    divisors, scale = _scaled(multiples)
    modulus = lcm(*divisors)
    if modulus > MAX_MODULUS or scale > MAX_SCALE:
        raise TooManyStatesError
    return builder.add("multiple", multiple(and_(text, _SHORT) if counts_digits else text, modulus, scale))


def _scaled(values: list[Exact]) -> tuple[list[int], int]:
    """The values, in units of 10**-scale; and that scale."""
    digits = [digits_of(value)[1:] for value in values]
    scale = max((len(fraction) for _, fraction in digits), default=0)
    return [int(whole + fraction.ljust(scale, "0")) for whole, fraction in digits], scale


def _short_number() -> Expr:
    """Numbers of at most MAX_DIGITS digits."""
    rest = EMPTY
    for left in range(1, MAX_DIGITS):
        rest = optional(alt(seq(DIGIT, rest), seq(POINT, repeat(DIGIT, 1, left))))
    return seq(optional(MINUS), DIGIT, rest)


_SHORT: Final = _short_number()


def _steps(mask: int, target: Expr, counts_digits: bool) -> list[Expr]:
    """The ways on by one of some bytes."""
    if not counts_digits:
        return [seq(byte_set(mask), target)]
    digits, others = mask & _DIGITS, mask & ~_DIGITS
    parts = []
    if digits:
        further = seq(byte_set(digits), call(target[1], increment(_COUNT)))
        parts.append(guard(compare("<", MAX_DIGITS, _COUNT), further))
    if others:
        parts.append(seq(byte_set(others), call(target[1], _UNCHANGED)))
    return parts


def _needed(values: list[Exact], is_said_by: Callable[[int, int], bool]) -> list[Exact]:
    """The values that no other one says already, in equal units; each once."""
    values = list(dict.fromkeys(values))
    units, _ = _scaled(values)
    return [
        value
        for value, unit in zip(values, units, strict=True)
        if not any(is_said_by(unit, other) for other in units if other != unit)
    ]


# The remainder of the digits so far, as far as it matters to what follows; how many of them stood after the point, -1
# before it; whether the number is right as it is.
_Remainder: TypeAlias = "tuple[int, int, bool]"


class _Remainders:
    """Numbers by their remainders: all divisors are integers divided by `10**scale`."""

    def __init__(self, multiples: list[Exact], others: list[Exact]) -> None:
        divisors, scale = _scaled([*multiples, *others])
        self.scale = scale
        self.wanted, self.others = divisors[: len(multiples)], divisors[len(multiples) :]
        unit = lcm(*divisors)
        # By the number of digits after the point: what decides about a number, and about what its next digit makes.
        self.units = [unit // gcd(unit, 10 ** (scale - places)) for places in range(scale + 1)]
        self.matters = [unit // gcd(unit, 10) for unit in self.units[1:]] + [1]
        self.matters_before = lcm(self.units[0] // gcd(self.units[0], 10), self.matters[0])
        if self.matters_before > MAX_STATES:
            raise TooManyStatesError
        self.start = self._seen(0, -1)
        self._steps: dict[_Remainder, dict[int, _Remainder | None]] = {}

    def steps(self, remainder: _Remainder) -> dict[int, _Remainder | None]:
        """Return the remainder after one more byte, whichever; None if nothing can be right then."""
        known = self._steps.get(remainder)
        if known is None:
            known = self._steps[remainder] = {byte: self._after(remainder, byte) for byte in _CHARACTERS}
        return known

    def _after(self, remainder: _Remainder, byte: int) -> _Remainder | None:
        value, places, is_right = remainder
        if byte == _MINUS_BYTE:
            return remainder
        if byte == _POINT_BYTE:
            return value % self.matters[0], 0, is_right
        digit = byte - _ZERO_BYTE
        if places < self.scale:
            return self._seen(10 * value + digit, places + 1 if places >= 0 else -1)
        if digit == 0:
            return remainder
        return None if self.wanted else (0, places, True)  # too small a fraction to be a multiple of anything

    def _seen(self, value: int, places: int) -> _Remainder:
        number = value * 10 ** (self.scale - max(places, 0))
        is_right = not any(number % divisor for divisor in self.wanted) and all(number % each for each in self.others)
        return value % (self.matters_before if places < 0 else self.matters[places]), places, is_right


class _Bounds:
    """The automaton of an expression over numbers: steps by byte, and which states accept."""

    def __init__(self, text: Expr) -> None:
        self.steps: list[dict[int, int]] = []
        self.accepts: list[bool] = []
        known = {text: 0}
        open_texts = [text]
        for expr in open_texts:
            steps = {}
            for members in byte_classes(_BYTES, expr):
                after = derivative(expr, members[0])
                if after[0] != OP_NEVER:
                    if after not in known:
                        known[after] = len(known)
                        open_texts.append(after)
                    steps.update(dict.fromkeys(members, known[after]))
            self.steps.append(steps)
            self.accepts.append(nullable(expr))
            if len(known) > MAX_STATES:
                raise TooManyStatesError


@lru_cache(maxsize=64)
def _bounds(text: Expr) -> _Bounds:
    return _Bounds(text)
