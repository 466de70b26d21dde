"""What readers round: decimals that satisfy a schema, and as doubles do not.

    exclusiveMaximum 0.3   0.29999999999999999 is less, but every reader makes 0.3 of it
    not an integer         0.99999999999999999 has a fraction, but becomes 1.0 (fractions.py)

Texts of up to 17 digits are rounded to the nearest double, and the order of numbers stays. So a bound moves to the last
decimal of 17 digits that becomes a double within it; one that is a double and belongs to the range stays as it is.
Source: IEEE 754, rounding to nearest. Tested by tests/frontends/json_schema/sets/test_schema_rounding.py.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from math import inf, nextafter
from sys import float_info
from typing import Final, TypeAlias

from maskwright.frontends.json_schema.sets.decimals import negated
from maskwright.frontends.json_schema.sets.shape import Exact

_LARGEST: Final = Decimal(repr(float_info.max))
_SIGNIFICANT_DIGITS: Final = 17
_EXACT: Final = Context(prec=1200, Emin=-2000, Emax=2000)  # enough for all doubles and their means
_DOWN: Final = Context(prec=_SIGNIFICANT_DIGITS, rounding=ROUND_FLOOR, Emin=-2000, Emax=2000)

Bound: TypeAlias = "tuple[Exact | None, bool]"  # None is no bound; whether the bound itself is left out


def bound_to(high: Exact | None, is_open: bool) -> Bound:
    """Return the upper bound of the decimals that become doubles within an upper bound."""
    if high is None or high == 0:
        return high, is_open
    if high > _LARGEST:
        return None, False
    if high < -_LARGEST or (is_open and high == -_LARGEST):
        return -_LARGEST, True
    double = float(high)
    if not is_open and _is_within(double, high, is_open):
        return high, is_open
    while not _is_within(double, high, is_open):
        double = nextafter(double, -inf)
    middle = _EXACT.divide(_EXACT.add(Decimal(double), Decimal(nextafter(double, inf))), Decimal(2))
    last = _DOWN.plus(middle)
    if float(last) > double:  # a tie that is rounded up
        last = _DOWN.next_minus(last)
    return (last, False) if last < high else (high, is_open)


def bound_from(low: Exact | None, is_open: bool) -> Bound:
    """Return the lower bound of the decimals that become doubles within a lower bound."""
    if low is None:
        return None, is_open
    bound, is_open = bound_to(negated(low), is_open)
    return None if bound is None else negated(bound), is_open


def _is_within(double: float, high: Exact, is_open: bool) -> bool:
    value = Decimal(repr(double))
    return value < high if is_open else value <= high
