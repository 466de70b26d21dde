"""Exact decimal numbers: what JSON texts mean, without rounding.

A number is an int or a `Decimal`; a float stands for its shortest spelling, as `repr` gives it. Only comparisons and
digit strings are used, never `Decimal` arithmetic, which rounds to the context's precision.

    >>> digits_of(Decimal("-12.50"))
    (True, '12', '5')

Tested by tests/frontends/json_schema/sets/test_schema_numbers.py.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.sets.shape import Exact

MAX_DIGITS: Final = 1000


def as_written(text: str) -> float | Decimal:
    """Return the number that a JSON text has here: a float if that is the very number, else a Decimal.

    Raises:
        ValueError: It is NaN or an infinity, which JSON does not have.
        InvalidOperation: The exponent is too large.

    >>> as_written("0.5"), as_written("1e400")
    (0.5, Decimal('1E+400'))
    """
    number, written = float(text), Decimal(text)
    if not written.is_finite():
        raise ValueError(f"{text} is not a JSON number")
    return number if Decimal(repr(number)) == written else written


def exact(value: Any) -> Exact | None:
    """Return a JSON number exactly; None if it is not a JSON number (a bool, an infinity, another type)."""
    if type(value) is int:
        _check_digits(value.bit_length() * 0.30103)
        return value
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        _check_digits(max(len(value.as_tuple().digits), abs(value.adjusted())))
        return value
    return None


def _check_digits(digits: float) -> None:
    if digits > MAX_DIGITS:
        hint = "use a number with fewer digits"
        raise LimitError(f"a number of the schema has more than {MAX_DIGITS} digits", limit="MAX_DIGITS", hint=hint)


def digits_of(value: Exact) -> tuple[bool, str, str]:
    """Return (is negative, digits before the point, digits after it): no superfluous zeros, and no negative zero."""
    sign, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    if exponent >= 0:
        whole, fraction = text + "0" * exponent, ""
    else:
        text = text.rjust(1 - exponent, "0")
        whole, fraction = text[:exponent], text[exponent:]
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return bool(sign) and (whole, fraction) != ("0", ""), whole, fraction


def is_integral(value: Exact) -> bool:
    """Whether there is no fractional part: 1.0 is integral."""
    return isinstance(value, int) or not digits_of(value)[2]


def floor(value: Exact) -> int:
    """Return the greatest integer that is not above `value`."""
    negative, whole, fraction = digits_of(value)
    if not negative:
        return int(whole)
    return -int(whole) - (1 if fraction else 0)


def ceiling(value: Exact) -> int:
    """Return the least integer that is not below `value`."""
    return -floor(negated(value))


def negated(value: Exact) -> Exact:
    """Return `-value`, not rounded."""
    return -value if isinstance(value, int) else value.copy_negate()


def is_multiple(value: Exact, of: Exact) -> bool:
    """Whether `value` is an integer times `of`."""
    _, whole, fraction = digits_of(value)
    _, unit_whole, unit_fraction = digits_of(of)
    scale = max(len(fraction), len(unit_fraction))
    return int(whole + fraction.ljust(scale, "0")) % int(unit_whole + unit_fraction.ljust(scale, "0")) == 0
