"""Spellings of numbers in a range, as regular expressions over digits.

    integers from 8 to 120   →   [8-9] | [1-9] [0-9] | "1" ([0-1] [0-9] | "20")

Bounds are digit strings of any length; nothing is rounded. An integer may end in zeros after the point, and in an
exponent that is not negative where it is free of bounds: `12`, `12.0`, `1.0e+2`, but not `1.2e1`. A number within
bounds is spelled as a plain decimal, or as `d.ddde±dd` with one digit other than 0 before the point: for these two
forms order is a regular property, for `0.00…0e…` with both parts free it is not. Bounds at 0 admit every spelling.
Zero may carry a sign, as JSON allows.

Size is linear in the digits of the bounds. Tested by tests/frontends/json_schema/test_schema_numbers.py.
"""

from __future__ import annotations

from decimal import Decimal
from math import lcm
from typing import Final

from maskwright.frontends.json_schema.decimals import ceiling, digits_of, floor, is_integral, is_multiple
from maskwright.frontends.json_schema.intersect import admits_number
from maskwright.frontends.json_schema.shape import FRACTION, INTEGER, Exact, NumberShape
from maskwright.ir import (
    EMPTY,
    Expr,
    alt,
    and_,
    byte_range,
    bytes_in,
    literal,
    never,
    optional,
    plus,
    repeat,
    seq,
    star,
)

DIGIT: Final = byte_range(0x30, 0x39)
_NONZERO: Final = byte_range(0x31, 0x39)
_DIGITS: Final = star(DIGIT)
_MINUS: Final = literal(b"-")
_POINT: Final = literal(b".")
_ZEROS: Final = star(literal(b"0"))
_SOME_NONZERO: Final = seq(_DIGITS, _NONZERO, _DIGITS)
_EXPONENT: Final = seq(bytes_in(b"eE"), optional(bytes_in(b"+-")), plus(DIGIT))
_FRACTION: Final = seq(_POINT, plus(DIGIT))
_ZERO_FRACTION: Final = optional(seq(_POINT, plus(literal(b"0"))))

NATURAL: Final = alt(literal(b"0"), seq(_NONZERO, _DIGITS))
_INTEGER: Final = seq(optional(_MINUS), NATURAL)
INTEGER_TEXT: Final = seq(
    _INTEGER, _ZERO_FRACTION, optional(seq(bytes_in(b"eE"), optional(literal(b"+")), plus(DIGIT)))
)
_UNSIGNED: Final = seq(NATURAL, optional(_FRACTION), optional(_EXPONENT))
NUMBER_TEXT: Final = seq(optional(_MINUS), _UNSIGNED)
_UNSIGNED_ZERO: Final = seq(literal(b"0"), _ZERO_FRACTION, optional(_EXPONENT))
_UNSIGNED_POSITIVE: Final = seq(
    alt(
        seq(_NONZERO, _DIGITS, optional(_FRACTION)),
        seq(literal(b"0."), _SOME_NONZERO),
    ),
    optional(_EXPONENT),
)


def _digit(first: str, last: str) -> Expr:
    return byte_range(ord(first), ord(last))


def _after(digit: str) -> Expr:
    return byte_range(ord(digit) + 1, 0x39)


def _before(digit: str) -> Expr:
    return byte_range(0x30, ord(digit) - 1)


def _repeated(count: int) -> Expr:
    return repeat(DIGIT, count, count)


# Integers


def _same_length_from(low: str) -> Expr:
    """Digit strings as long as `low` and not before it."""
    out = EMPTY
    for i in range(len(low) - 1, -1, -1):
        out = alt(seq(literal(low[i].encode()), out), seq(_after(low[i]), _repeated(len(low) - 1 - i)))
    return out


def _same_length_to(high: str) -> Expr:
    out = EMPTY
    for i in range(len(high) - 1, -1, -1):
        out = alt(seq(literal(high[i].encode()), out), seq(_before(high[i]), _repeated(len(high) - 1 - i)))
    return out


def _same_length(low: str, high: str) -> Expr:
    common = 0
    while common < len(low) and low[common] == high[common]:
        common += 1
    head = literal(low[:common].encode())
    if common == len(low):
        return head
    a, b, rest = low[common], high[common], len(low) - common - 1
    between = byte_range(ord(a) + 1, ord(b) - 1)
    return seq(
        head,
        alt(
            seq(literal(a.encode()), _same_length_from(low[common + 1 :])),
            seq(between, _repeated(rest)),
            seq(literal(b.encode()), _same_length_to(high[common + 1 :])),
        ),
    )


def natural_range(low: str, high: str | None) -> Expr:
    """Natural numbers without leading zeros, bounds included; `high` None is no bound."""
    if high is None:
        longer = seq(_NONZERO, repeat(DIGIT, len(low)))
        return alt(_same_length(low, "9" * len(low)), longer)
    if len(low) == len(high):
        return _same_length(low, high) if low <= high else never()
    if len(low) > len(high):
        return never()
    parts = [_same_length(low, "9" * len(low))]
    if len(high) - len(low) > 1:
        parts.append(seq(_NONZERO, repeat(DIGIT, len(low), len(high) - 2)))
    parts.append(_same_length("1" + "0" * (len(high) - 1), high))
    return alt(*parts)


def integer_range(low: int | None, high: int | None) -> Expr:
    """Integers between the bounds, included; None is no bound."""
    parts = []
    if high is None or high >= 0:
        parts.append(natural_range(str(max(low or 0, 0)), None if high is None else str(high)))
    if low is None or low <= 0:
        least = str(-high) if high is not None and high < 0 else "0"
        parts.append(seq(_MINUS, natural_range(least, None if low is None else str(-low))))
    return alt(*parts)


# Numbers with a fraction: bounds on the digits after the point


def _fraction_from(low: str, strict: bool) -> Expr:
    """What may follow the whole part, `.`digits or nothing, at or above 0.`low`."""
    if not low:
        return seq(_POINT, _SOME_NONZERO) if strict else optional(_FRACTION)
    out = _SOME_NONZERO if strict else _DIGITS
    for digit in reversed(low):
        out = alt(seq(literal(digit.encode()), out), seq(_after(digit), _DIGITS))
    return seq(_POINT, out)


def _fraction_to(high: str, strict: bool) -> Expr:
    if not high:
        return never() if strict else _ZERO_FRACTION
    out = never() if strict else _ZEROS
    for i in range(len(high) - 1, -1, -1):
        tail = out if i == len(high) - 1 else optional(out)
        out = alt(seq(literal(high[i].encode()), tail), seq(_before(high[i]), _DIGITS))
    return optional(seq(_POINT, out))


def _plain(low: tuple[str, str], low_open: bool, high: tuple[str, str] | None, high_open: bool) -> Expr:
    """Plain decimals without sign."""
    whole, fraction = low
    if high is None:
        above = natural_range(str(int(whole) + 1), None)
        return alt(seq(literal(whole.encode()), _fraction_from(fraction, low_open)), seq(above, optional(_FRACTION)))
    top, top_fraction = high
    if int(whole) > int(top):
        return never()
    start, end = _fraction_from(fraction, low_open), _fraction_to(top_fraction, high_open)
    if whole == top:
        return seq(literal(whole.encode()), and_(start, end))
    parts = [seq(literal(whole.encode()), start), seq(literal(top.encode()), end)]
    if int(top) - int(whole) > 1:
        parts.append(seq(natural_range(str(int(whole) + 1), str(int(top) - 1)), optional(_FRACTION)))
    return alt(*parts)


# Numbers as d.ddde±dd


def _exponent_range(low: int | None, high: int | None) -> Expr:
    parts = []
    if high is None or high >= 0:
        top = None if high is None else str(high)
        parts.append(seq(optional(literal(b"+")), _ZEROS, natural_range(str(max(low or 0, 0)), top)))
    if low is None or low <= 0:
        least = str(-high) if high is not None and high < 0 else "0"
        parts.append(seq(_MINUS, _ZEROS, natural_range(least, None if low is None else str(-low))))
    return seq(bytes_in(b"eE"), alt(*parts))


def _scientific_of(bound: tuple[str, str]) -> tuple[str, str, int] | None:
    """Return a positive bound as (first digit, further digits, exponent); None for zero."""
    digits = (bound[0] + bound[1]).lstrip("0")
    if not digits:
        return None
    leading_zeros = len(bound[0] + bound[1]) - len(digits)
    return digits[0], digits[1:].rstrip("0"), len(bound[0]) - 1 - leading_zeros


def _scientific_from(low: tuple[str, str], low_open: bool) -> Expr:
    mantissa = seq(_NONZERO, optional(_FRACTION))
    bound = _scientific_of(low)
    if bound is None:
        return seq(mantissa, _exponent_range(None, None))
    first, rest, exponent = bound
    equal = alt(seq(literal(first.encode()), _fraction_from(rest, low_open)), seq(_after(first), optional(_FRACTION)))
    return alt(seq(mantissa, _exponent_range(exponent + 1, None)), seq(equal, _exponent_range(exponent, exponent)))


def _scientific_to(high: tuple[str, str], high_open: bool) -> Expr:
    mantissa = seq(_NONZERO, optional(_FRACTION))
    bound = _scientific_of(high)
    if bound is None:
        return never()
    first, rest, exponent = bound
    below = byte_range(0x31, ord(first) - 1)
    equal = alt(seq(literal(first.encode()), _fraction_to(rest, high_open)), seq(below, optional(_FRACTION)))
    return alt(seq(mantissa, _exponent_range(None, exponent - 1)), seq(equal, _exponent_range(exponent, exponent)))


def _magnitude(low: tuple[str, str], low_open: bool, high: tuple[str, str] | None, high_open: bool) -> Expr:
    """Numbers without sign between two bounds that are not negative."""
    if high is None and low == ("0", ""):
        return _UNSIGNED_POSITIVE if low_open else _UNSIGNED
    if high == ("0", ""):
        return never() if high_open or low_open or low != ("0", "") else _UNSIGNED_ZERO
    scientific = _scientific_from(low, low_open)
    if high is not None:
        scientific = and_(scientific, _scientific_to(high, high_open))
    return alt(_plain(low, low_open, high, high_open), scientific)


def number_range(low: Exact | None, low_open: bool, high: Exact | None, high_open: bool) -> Expr:
    """Numbers between two bounds; None is no bound, `open` leaves the bound itself out."""
    parts = []
    low_parts = digits_of(low) if low is not None else None
    high_parts = digits_of(high) if high is not None else None
    zero = ("0", "")
    if high_parts is None or not high_parts[0]:
        bounded = low_parts is not None and not low_parts[0]
        start, start_open = (low_parts[1:], low_open) if low_parts and bounded else (zero, False)
        parts.append(_magnitude(start, start_open, high_parts and high_parts[1:], high_open))
    if low_parts is None or low_parts[0] or low_parts[1:] == zero:
        # Magnitudes run the other way. At or above zero in `high` nothing but the sign is asked.
        negative_top = high_parts is not None and (high_parts[0] or high_parts[1:] == zero)
        start, start_open = (high_parts[1:], high_open) if high_parts and negative_top else (zero, False)
        parts.append(seq(_MINUS, _magnitude(start, start_open, low_parts and low_parts[1:], low_open)))
    return alt(*parts)


_LAST_DIGITS_LIMIT: Final = 3
_MAX_FINITE: Final = 500


def multiple_text(multiple: Exact) -> Expr | None:
    """Plain spellings of the multiples of a number that divides a power of ten; None for other numbers."""
    _, whole, fraction = digits_of(multiple)
    scale = len(fraction)
    unit = int(whole + fraction)
    if unit == 0:
        return None
    width = next((k for k in range(_LAST_DIGITS_LIMIT + 1) if 10**k % unit == 0), None)
    if width is None:
        while unit % 10 == 0:
            unit //= 10
        return _round_text(whole) if unit == 1 and not scale else None
    return _ending_text(unit, width, scale)


def _round_text(whole: str) -> Expr:
    zeros = len(whole) - 1
    return seq(optional(_MINUS), alt(literal(b"0"), seq(_NONZERO, _DIGITS, literal(b"0" * zeros))), _ZERO_FRACTION)


def _ending_text(unit: int, width: int, scale: int) -> Expr:
    """Numbers whose digits, `scale` of them after the point, end in a multiple of `unit` modulo 10**width."""
    endings = [f"{n:0{width}d}" for n in range(0, 10**width, unit)] if width else [""]
    parts = []
    for ending in endings:
        padded = ending.rjust(scale, "?") if len(ending) < scale else ending
        whole_end, fraction_end = padded[: len(padded) - scale], padded[len(padded) - scale :]
        whole = _whole_ending(whole_end)
        parts.append(seq(whole, _fraction_ending(fraction_end)))
    return seq(optional(_MINUS), alt(*parts))


def _whole_ending(ending: str) -> Expr:
    if not ending:
        return NATURAL
    return and_(NATURAL, alt(seq(_DIGITS, literal(ending.encode())), literal((ending.lstrip("0") or "0").encode())))


def _fraction_ending(ending: str) -> Expr:
    """`.` and these digits, `?` being any, then zeros; zeros at the end may be left out."""
    parts: list[Expr] = []
    for cut in range(len(ending), -1, -1):
        if set(ending[cut:]) - {"0", "?"}:
            break
        kept = [DIGIT if c == "?" else literal(c.encode()) for c in ending[:cut]]
        parts.append(seq(_POINT, *kept, _ZEROS if cut == len(ending) else EMPTY) if kept else EMPTY)
    return alt(*parts, _ZERO_FRACTION) if not set(ending) - {"0", "?"} else alt(*parts)


_NOT_INTEGRAL: Final = seq(_INTEGER, _POINT, _SOME_NONZERO)


def number_text(shape: NumberShape) -> Expr:
    """Return the spellings of the numbers of a kind within bounds."""
    bounded = shape.low is not None or shape.high is not None
    if shape.kind == INTEGER:
        return seq(integer_range(*_integer_bounds(shape)), _ZERO_FRACTION) if bounded else INTEGER_TEXT
    text = number_range(shape.low, shape.low_open, shape.high, shape.high_open) if bounded else NUMBER_TEXT
    return and_(text, _NOT_INTEGRAL) if shape.kind == FRACTION else text


def admitted_values(shape: NumberShape) -> list[Exact]:
    """Return the values of a finite set that are multiples as the shape asks."""
    return [
        value
        for value in shape.values or ()
        if all(is_multiple(value, divisor) for divisor, _ in shape.multiple_of)
        and not any(is_multiple(value, divisor) for divisor, _ in shape.not_multiple_of)
    ]


def finite_multiples(shape: NumberShape) -> NumberShape | None:
    """Return the numbers of a shape as a finite set, if they are a few multiples between two bounds."""
    if shape.low is None or shape.high is None or not shape.multiple_of or shape.kind == FRACTION:
        return None
    parts = list(map(digits_of, (shape.low, shape.high, *[divisor for divisor, _ in shape.multiple_of])))
    scale = max(len(fraction) for _, _, fraction in parts)
    low, high, *units = (
        int(whole + fraction.ljust(scale, "0")) * (-1 if negative else 1) for negative, whole, fraction in parts
    )
    unit = lcm(*units, 10**scale) if shape.kind == INTEGER else lcm(*units)
    if (high - low) // unit >= _MAX_FINITE:
        return None
    out = NumberShape()
    out.not_multiple_of = shape.not_multiple_of
    found = [Decimal(f"{n}e-{scale}") for n in range(-(-low // unit) * unit, high + 1, unit)]
    out.values = tuple(value for value in found if admits_number(shape, value))
    return out


def values_text(shape: NumberShape) -> Expr:
    """Return the spellings of a finite set of numbers: plain, those of `json.dumps`, integers with zeros after them."""
    integral: list[Expr] = []
    others: list[Expr] = []
    for value in admitted_values(shape):
        negative, whole, fraction = digits_of(value)
        sign = "-" if negative else ""
        if fraction:
            others.append(literal(f"{sign}{whole}.{fraction}".encode()))
        elif whole == "0":
            integral += (literal(b"0"), literal(b"-0"))
        else:
            integral.append(literal(f"{sign}{whole}".encode()))
        if isinstance(value, Decimal) and "e" in repr(float(value)) and Decimal(repr(float(value))) == value:
            others.append(literal(repr(float(value)).encode()))
    return alt(seq(alt(*integral), _ZERO_FRACTION), *others)


def _integer_bounds(shape: NumberShape) -> tuple[int | None, int | None]:
    low = high = None
    if shape.low is not None:
        low = ceiling(shape.low) + (1 if shape.low_open and is_integral(shape.low) else 0)
    if shape.high is not None:
        high = floor(shape.high) - (1 if shape.high_open and is_integral(shape.high) else 0)
    return low, high
