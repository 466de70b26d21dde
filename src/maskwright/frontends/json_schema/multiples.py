"""`multipleOf` for any number: an automaton that computes remainders, written as rules.

    {"type": "integer", "multipleOf": 3}   →   a rule for each remainder: r1 ::= [0369] r1 | [147] r2 | [258] r0

Numbers are written plainly, without an exponent. A state is the derivative of the expression for the numbers within
bounds, by what was read so far, and the remainder for each multiple. Divisors of powers of ten need none of this: the
last digits tell (numerals.py).
Cost: at most MAX_STATES states. Tested by tests/frontends/json_schema/test_schema_numbers.py.
"""

from __future__ import annotations

from math import lcm
from typing import NamedTuple, TypeAlias

from maskwright.frontends.json_schema.decimals import digits_of, is_multiple
from maskwright.frontends.json_schema.derivatives import derivative, nullable
from maskwright.frontends.json_schema.shape import Exact
from maskwright.ir import EMPTY, OP_NEVER, Expr, IRBuilder, alt, byte_set, never, seq

MAX_STATES = 3200
_BYTES = b"-0123456789."


class TooManyStatesError(Exception):
    """The automaton has more than MAX_STATES states."""


class _Divisor(NamedTuple):
    """An integer times a power of ten, `unit / 10**scale`, and whether numbers must be multiples of it or must not."""

    unit: int
    scale: int
    wanted: bool


def multiples_rule(text: Expr, multiples: list[Exact], others: list[Exact], builder: IRBuilder) -> Expr:
    """Return the numbers of an expression that are multiples of all of `multiples`, and of none of `others`.

    Raises:
        TooManyStatesError: It takes too many rules.
    """
    # A multiple of 24 is one of 8, and what is no multiple of 8 is none of 24.
    multiples = [v for i, v in enumerate(multiples) if not any(is_multiple(o, v) for o in _beside(multiples, i, v))]
    others = [v for i, v in enumerate(others) if not any(is_multiple(v, o) for o in _beside(others, i, v))]
    divisors = [_divisor(value, True) for value in multiples] + [_divisor(value, False) for value in others]
    if lcm(*[divisor.unit for divisor in divisors]) > MAX_STATES:
        raise TooManyStatesError
    bounds = _Bounds(text)
    start: _State = (0, tuple([(0, -1)] * len(divisors)))
    states = {start: builder.declare("multiple")}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        ways: dict[Expr, int] = {}
        for byte, following in bounds.steps[state[0]].items():
            after = (following, tuple(map(_next_remainder, state[1], divisors, [byte] * len(divisors))))
            if after not in states:
                states[after] = builder.declare("multiple")
                waiting.append(after)
            target = states[after]
            ways[target] = ways.get(target, 0) | 1 << byte
        parts = [seq(byte_set(mask), target) for target, mask in ways.items()]
        if bounds.accepts[state[0]] and all(map(_is_right, state[1], divisors)):
            parts.append(EMPTY)
        builder.define(states[state], alt(*parts))
        if len(states) > MAX_STATES:
            for rule in states.values():
                builder.define(rule, never())
            raise TooManyStatesError
    return states[start]


def _beside(values: list[Exact], index: int, value: Exact) -> list[Exact]:
    """The other values, of equal ones those before."""
    return [other for i, other in enumerate(values) if other != value or i < index]


# The remainder of the digits so far, -1 for "no multiple any more"; the places of them after the point, -1 before it.
_Remainder: TypeAlias = "tuple[int, int]"
_State: TypeAlias = "tuple[int, tuple[_Remainder, ...]]"


class _Bounds:
    """The automaton of an expression over numbers: steps by byte, and which states accept."""

    def __init__(self, text: Expr) -> None:
        self.steps: list[dict[int, int]] = []
        self.accepts: list[bool] = []
        known = {text: 0}
        open_texts = [text]
        for expr in open_texts:
            steps = {}
            for byte in _BYTES:
                after = derivative(expr, byte)
                if after[0] != OP_NEVER:
                    if after not in known:
                        known[after] = len(known)
                        open_texts.append(after)
                    steps[byte] = known[after]
            self.steps.append(steps)
            self.accepts.append(nullable(expr))
            if len(known) > MAX_STATES:
                raise TooManyStatesError


def _divisor(value: Exact, wanted: bool) -> _Divisor:
    _, whole, fraction = digits_of(value)
    return _Divisor(int(whole + fraction), len(fraction), wanted)


def _next_remainder(remainder: _Remainder, divisor: _Divisor, byte: int) -> _Remainder:
    value, places = remainder
    if byte == 0x2D or value < 0:
        return remainder
    if byte == 0x2E:
        return value, 0
    digit = byte - 0x30
    if places == divisor.scale:
        return (-1, -1) if digit else remainder
    return (10 * value + digit) % divisor.unit, places + 1 if places >= 0 else -1


def _is_right(remainder: _Remainder, divisor: _Divisor) -> bool:
    value, places = remainder
    is_multiple = value >= 0 and value * 10 ** (divisor.scale - max(places, 0)) % divisor.unit == 0
    return is_multiple == divisor.wanted
