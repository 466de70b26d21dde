"""Numbers that are not integers, to readers that make doubles of them.

    0.5   -3.25   1e-07   3.9999999999999996     but not   2.0   0.99999999999999999, which becomes 1.0

A decimal with the whole part n, from 2**e up to 2**(e+1) - 1, becomes an integer if it is within 2**(e-53) of one: half
the distance between doubles there. So with k digits before the point and 17 - k behind it, the latter are between two
bounds, which depend on e and k alone. Below 1, they may be as low as doubles are. All of `json.dumps` is among these.
Source: IEEE 754, rounding to nearest. Made once. Tested by tests/frontends/json_schema/sets/test_schema_rounding.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from maskwright.frontends.json_schema.sets.doubles import ZEROS_AFTER_POINT, scientific
from maskwright.frontends.json_schema.sets.ranges import DIGIT, MINUS, NONZERO, POINT, natural_range
from maskwright.ir import EMPTY, Expr, alt, byte_range, literal, optional, repeat, seq

_SIGNIFICANT_DIGITS: Final = 17
_EXACT_DIGITS: Final = 15  # decimals of so many are all different doubles
_MANTISSA_BITS: Final = 53
_MOST_EXPONENT: Final = -2  # 9.9999999999999999e-1 is 1.0


@lru_cache(maxsize=1)
def fractions_text() -> Expr:
    """Return the numbers of up to 17 digits that are not integers, nor become such."""
    parts = []
    for exponent in range(_MANTISSA_BITS - 1):
        low, end = 2**exponent, 2 ** (exponent + 1)
        while low < end:  # whole parts of equally many digits
            top = min(end, 10 ** len(str(low))) - 1
            places = _SIGNIFICANT_DIGITS - len(str(low))
            margin = (10**places << exponent) >> _MANTISSA_BITS
            parts.append(seq(natural_range(str(low), str(top)), POINT, _between(margin, places)))
            low = top + 1
    return seq(optional(MINUS), alt(_below_one(), *parts, scientific(_MOST_EXPONENT)))


@lru_cache(maxsize=1)
def short_fractions_text() -> Expr:
    """Return those of up to 15 digits without exponent, of which none becomes an integer: operands of products."""
    parts = []
    ending = NONZERO
    for places in range(1, _EXACT_DIGITS):
        whole = seq(NONZERO, repeat(DIGIT, _EXACT_DIGITS - places - 1, _EXACT_DIGITS - places - 1))
        parts.append(seq(alt(whole, repeat(DIGIT, 1, 1)) if places == _EXACT_DIGITS - 1 else whole, POINT, ending))
        ending = alt(seq(literal(b"0"), ending), _first(1, 9, repeat(DIGIT, 0, places)))
    return seq(optional(MINUS), alt(*parts))


def _below_one() -> Expr:
    rest = repeat(DIGIT, 0, _SIGNIFICANT_DIGITS - 1)
    small = seq(literal(b"0"), repeat(literal(b"0"), 0, ZEROS_AFTER_POINT - 1), NONZERO, rest)
    margin = 10**_SIGNIFICANT_DIGITS >> (_MANTISSA_BITS + 1)
    return seq(literal(b"0."), alt(small, _first(1, 8, rest), _near_one(margin, _SIGNIFICANT_DIGITS)))


def _between(margin: int, places: int) -> Expr:
    """Up to so many digits that, with zeros after them, are more than a margin above 0 and below a power of ten."""
    if places == 1:
        return byte_range(ord("1") + margin, ord("9") - margin)
    rest = repeat(DIGIT, 0, places - 1)
    return alt(_near_zero(margin, places), _first(1, 8, rest), _near_one(margin, places))


def _near_zero(margin: int, places: int) -> Expr:
    """Those that begin with 0."""
    low, out = str(margin + 1).rjust(places, "0"), EMPTY
    for i in range(places - 1, 0, -1):
        same = seq(literal(low[i].encode()), out)
        above = _first(int(low[i]) + 1, 9, repeat(DIGIT, 0, places - 1 - i))
        out = alt(optional(same) if not low[i:].strip("0") else same, above)
    return seq(literal(b"0"), out)


def _near_one(margin: int, places: int) -> Expr:
    """Those that begin with 9."""
    high, out = str(10**places - 1 - margin), EMPTY
    for i in range(places - 1, 0, -1):
        below = _first(0, int(high[i]) - 1, repeat(DIGIT, 0, places - 1 - i))
        out = optional(alt(seq(literal(high[i].encode()), out), below))
    return seq(literal(b"9"), out)


def _first(low: int, high: int, rest: Expr) -> Expr:
    """Digits of which the first is between two."""
    return seq(byte_range(ord("0") + low, ord("0") + high), rest)
