"""Numbers between bounds, as regular expressions over digits.

    integers from 8 to 120   →   [8-9] | [1-9] [0-9] | "1" ([0-1] [0-9] | "20")

Bounds are digit strings of any length; nothing is rounded. A number within bounds is written as a plain decimal, or as
`d.ddde±dd` with one digit other than 0 before the point: for these two forms order is a regular property, for
`0.00…0e…` with both parts free it is not. Bounds at 0 admit every form. Zero may have a sign, as JSON allows.

Size is linear in the digits of the bounds. Tested by tests/frontends/json_schema/sets/test_schema_numbers.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.shape import Exact
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
NONZERO: Final = byte_range(0x31, 0x39)
DIGITS: Final = star(DIGIT)
MINUS: Final = literal(b"-")
POINT: Final = literal(b".")
ZEROS: Final = star(literal(b"0"))
SOME_NONZERO: Final = seq(DIGITS, NONZERO, DIGITS)
EXPONENT: Final = seq(bytes_in(b"eE"), optional(bytes_in(b"+-")), plus(DIGIT))
FRACTION_PART: Final = seq(POINT, plus(DIGIT))
ZERO_FRACTION: Final = optional(seq(POINT, plus(literal(b"0"))))

NATURAL: Final = alt(literal(b"0"), seq(NONZERO, DIGITS))
PLAIN_INTEGER: Final = seq(optional(MINUS), NATURAL)
_UNSIGNED: Final = seq(NATURAL, optional(FRACTION_PART), optional(EXPONENT))
NUMBER_TEXT: Final = seq(optional(MINUS), _UNSIGNED)
_UNSIGNED_ZERO: Final = seq(literal(b"0"), ZERO_FRACTION, optional(EXPONENT))
_UNSIGNED_POSITIVE: Final = seq(
    alt(
        seq(NONZERO, DIGITS, optional(FRACTION_PART)),
        seq(literal(b"0."), SOME_NONZERO),
    ),
    optional(EXPONENT),
)


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
        longer = seq(NONZERO, repeat(DIGIT, len(low)))
        return alt(_same_length(low, "9" * len(low)), longer)
    if len(low) == len(high):
        return _same_length(low, high) if low <= high else never()
    if len(low) > len(high):
        return never()
    parts = [_same_length(low, "9" * len(low))]
    is_round = high == "9" * len(high)
    longest = len(high) if is_round else len(high) - 1
    if longest > len(low):
        parts.append(seq(NONZERO, repeat(DIGIT, len(low), longest - 1)))
    if not is_round:
        parts.append(_same_length("1" + "0" * (len(high) - 1), high))
    return alt(*parts)


def integer_range(low: int | None, high: int | None, *, minus_zero: bool) -> Expr:
    """Integers between the bounds, included; None is no bound. `minus_zero` says whether 0 may be written `-0`."""
    parts = []
    if high is None or high >= 0:
        parts.append(natural_range(str(max(low or 0, 0)), None if high is None else str(high)))
    if low is None or low <= 0:
        least = str(-high) if high is not None and high < 0 else "0" if minus_zero else "1"
        parts.append(seq(MINUS, natural_range(least, None if low is None else str(-low))))
    return alt(*parts)


# Numbers with a fraction: bounds on the digits after the point


def _fraction_from(low: str, strict: bool) -> Expr:
    """What may follow the whole part, `.`digits or nothing, at or above 0.`low`."""
    if not low:
        return seq(POINT, SOME_NONZERO) if strict else optional(FRACTION_PART)
    out = SOME_NONZERO if strict else DIGITS
    for digit in reversed(low):
        out = alt(seq(literal(digit.encode()), out), seq(_after(digit), DIGITS))
    return seq(POINT, out)


def _fraction_to(high: str, strict: bool) -> Expr:
    if not high:
        return never() if strict else ZERO_FRACTION
    out = never() if strict else ZEROS
    for i in range(len(high) - 1, -1, -1):
        tail = out if i == len(high) - 1 else optional(out)
        out = alt(seq(literal(high[i].encode()), tail), seq(_before(high[i]), DIGITS))
    return optional(seq(POINT, out))


def _plain(low: tuple[str, str], low_open: bool, high: tuple[str, str] | None, high_open: bool) -> Expr:
    """Plain decimals without sign."""
    whole, fraction = low
    if high is None:
        above = natural_range(str(int(whole) + 1), None)
        return alt(
            seq(literal(whole.encode()), _fraction_from(fraction, low_open)), seq(above, optional(FRACTION_PART))
        )
    top, top_fraction = high
    if int(whole) > int(top):
        return never()
    start, end = _fraction_from(fraction, low_open), _fraction_to(top_fraction, high_open)
    if whole == top:
        return seq(literal(whole.encode()), and_(start, end))
    parts = [seq(literal(whole.encode()), start), seq(literal(top.encode()), end)]
    if int(top) - int(whole) > 1:
        parts.append(seq(natural_range(str(int(whole) + 1), str(int(top) - 1)), optional(FRACTION_PART)))
    return alt(*parts)


# Numbers as d.ddde±dd


def exponent_range(low: int | None, high: int | None) -> Expr:
    """`e` and an exponent between the bounds, included; None is no bound."""
    parts = []
    if high is None or high >= 0:
        top = None if high is None else str(high)
        parts.append(seq(optional(literal(b"+")), ZEROS, natural_range(str(max(low or 0, 0)), top)))
    if low is None or low <= 0:
        least = str(-high) if high is not None and high < 0 else "0"
        parts.append(seq(MINUS, ZEROS, natural_range(least, None if low is None else str(-low))))
    return seq(bytes_in(b"eE"), alt(*parts))


def _scientific_of(bound: tuple[str, str]) -> tuple[str, str, int] | None:
    """Return a positive bound as (first digit, further digits, exponent); None for zero."""
    digits = (bound[0] + bound[1]).lstrip("0")
    if not digits:
        return None
    leading_zeros = len(bound[0] + bound[1]) - len(digits)
    return digits[0], digits[1:].rstrip("0"), len(bound[0]) - 1 - leading_zeros


def _scientific_from(low: tuple[str, str], low_open: bool) -> Expr:
    mantissa = seq(NONZERO, optional(FRACTION_PART))
    bound = _scientific_of(low)
    if bound is None:
        return seq(mantissa, exponent_range(None, None))
    first, rest, exponent = bound
    equal = alt(
        seq(literal(first.encode()), _fraction_from(rest, low_open)), seq(_after(first), optional(FRACTION_PART))
    )
    return alt(seq(mantissa, exponent_range(exponent + 1, None)), seq(equal, exponent_range(exponent, exponent)))


def _scientific_to(high: tuple[str, str], high_open: bool) -> Expr:
    mantissa = seq(NONZERO, optional(FRACTION_PART))
    bound = _scientific_of(high)
    if bound is None:
        return never()
    first, rest, exponent = bound
    below = byte_range(0x31, ord(first) - 1)
    equal = alt(seq(literal(first.encode()), _fraction_to(rest, high_open)), seq(below, optional(FRACTION_PART)))
    return alt(seq(mantissa, exponent_range(None, exponent - 1)), seq(equal, exponent_range(exponent, exponent)))


class Form(NamedTuple):
    """How numbers without sign are written: all, those above 0, and 0; what decimals and scientific ones match.

    `whole_digits` is how many digits decimals have before the point at most; None if it is not limited.
    """

    unsigned: Expr
    positive: Expr
    zero: Expr
    decimals: Expr | None
    scientific: Expr | None
    whole_digits: int | None


ANY_FORM: Final = Form(_UNSIGNED, _UNSIGNED_POSITIVE, _UNSIGNED_ZERO, None, None, None)


def _magnitude(low: tuple[str, str], low_open: bool, high: tuple[str, str] | None, high_open: bool, form: Form) -> Expr:
    """Numbers without sign between two bounds that are not negative."""
    if high is None and low == ("0", ""):
        return form.positive if low_open else form.unsigned
    if high == ("0", ""):
        return never() if high_open or low_open or low != ("0", "") else form.zero
    decimals = [_decimals(low, low_open, high, high_open, form.whole_digits)]
    scientific = [_scientific_from(low, low_open)]
    if high is not None:
        scientific.append(_scientific_to(high, high_open))
    if form.decimals is not None and form.scientific is not None:
        decimals.append(form.decimals)
        scientific.append(form.scientific)
    return alt(and_(*decimals), and_(*scientific))


def _decimals(
    low: tuple[str, str], low_open: bool, high: tuple[str, str] | None, high_open: bool, whole_digits: int | None
) -> Expr:
    """Plain decimals without sign; bounds that are longer than any of them are not spelled out."""
    if whole_digits is not None:
        if len(low[0]) > whole_digits:
            return never()
        if high is not None and len(high[0]) > whole_digits:
            high = None
    return _plain(low, low_open, high, high_open)


def number_range(low: Exact | None, low_open: bool, high: Exact | None, high_open: bool, form: Form = ANY_FORM) -> Expr:
    """Numbers between two bounds; None is no bound, `open` leaves the bound itself out."""
    parts = []
    low_parts = digits_of(low) if low is not None else None
    high_parts = digits_of(high) if high is not None else None
    zero = ("0", "")
    if high_parts is None or not high_parts[0]:
        bounded = low_parts is not None and not low_parts[0]
        start, start_open = (low_parts[1:], low_open) if low_parts and bounded else (zero, False)
        parts.append(_magnitude(start, start_open, high_parts and high_parts[1:], high_open, form))
    if low_parts is None or low_parts[0] or low_parts[1:] == zero:
        # Magnitudes run the other way. At or above zero in `high` nothing but the sign is asked.
        negative_top = high_parts is not None and (high_parts[0] or high_parts[1:] == zero)
        start, start_open = (high_parts[1:], high_open) if high_parts and negative_top else (zero, False)
        parts.append(seq(MINUS, _magnitude(start, start_open, low_parts and low_parts[1:], low_open, form)))
    return alt(*parts)
