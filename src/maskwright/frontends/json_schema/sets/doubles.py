"""The numbers that a double holds, as one expression: what `numbers="plain"` writes.

    -12.50   0.001   6.02e23   5e-324       but not   1e999   1e-999   3.141592653589793238462643383279

RFC 7493 (I-JSON), section 2.2: no greater magnitude or precision than a double provides. So there are at most 17
significant digits, which tell all doubles apart, and an exponent stands behind one digit other than 0, with which it is
between those of the largest and of the smallest double. A whole part may go on in zeros up to 21 digits, as
JavaScript writes 1e20. What `json.dumps` and `JSON.stringify` write of a finite double is among these texts.

Integers are those of at most 2**53 - 1, which the same section asks for: each is told apart from its neighbours.
Cost: made once. Tested by tests/frontends/json_schema/sets/test_schema_plain_numbers.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.ranges import DIGIT, MINUS, NONZERO, POINT, Form, natural_range
from maskwright.frontends.json_schema.sets.shape import INTEGERS, Exact, NumberShape
from maskwright.ir import EMPTY, Expr, alt, byte_range, bytes_in, literal, never, optional, repeat, seq

SAFE_INTEGER: Final = 2**53 - 1
_SIGNIFICANT_DIGITS: Final = 17
MAX_WHOLE_DIGITS: Final = 21
ZEROS_AFTER_POINT: Final = 20
_LARGEST: Final = "17976931348623157"  # the digits of the largest double, times 10**292
_LARGEST_EXPONENT: Final = 308
_LEAST_EXPONENT: Final = -323
_SMALLEST: Final = seq(literal(b"5"), bytes_in(b"eE"), literal(b"-324"))


def _fraction(most: int) -> Expr:
    """A point and up to so many digits, or nothing."""
    return optional(seq(POINT, repeat(DIGIT, 1, most))) if most else EMPTY


def _decimals_from_one() -> Expr:
    """Without exponent, 1 or more: so many digits before the point leave the others for behind it."""
    rest = repeat(literal(b"0"), 0, MAX_WHOLE_DIGITS - _SIGNIFICANT_DIGITS)
    for num_digits in range(_SIGNIFICANT_DIGITS - 1, 0, -1):
        rest = alt(_fraction(_SIGNIFICANT_DIGITS - num_digits), seq(DIGIT, rest))
    return seq(NONZERO, rest)


def _decimals_below_one() -> Expr:
    """Without exponent, above 0 and below 1: the first zeros are not significant."""
    zeros = repeat(literal(b"0"), 0, ZEROS_AFTER_POINT)
    return seq(literal(b"0."), zeros, NONZERO, repeat(DIGIT, 0, _SIGNIFICANT_DIGITS - 1))


def _exponent(least: int, most: int) -> Expr:
    """An exponent; one of a single digit may have a zero before it, as in Python's 1e-07."""
    parts = []
    for sign, low, high in ((optional(literal(b"+")), max(least, 0), most), (MINUS, max(-most, 1), -least)):
        if low <= high:
            padded = seq(literal(b"0"), natural_range(str(low), str(min(high, 9)))) if low <= 9 else None
            plain = natural_range(str(low), str(high))
            parts.append(seq(sign, plain if padded is None else alt(plain, padded)))
    return seq(bytes_in(b"eE"), alt(*parts))


def _up_to(digits: str) -> Expr:
    """What follows the point in a fraction of at most 0.`digits`, in as many digits or fewer."""
    out = never()
    for i in range(len(digits) - 1, -1, -1):
        same = seq(literal(digits[i].encode()), optional(out))
        below = seq(byte_range(0x30, ord(digits[i]) - 1), repeat(DIGIT, 0, len(digits) - 1 - i))
        out = same if digits[i] == "0" else alt(same, below)
    return out


def scientific(most: int) -> Expr:
    """Numbers without sign with an exponent of at most so much, below the largest."""
    return alt(seq(NONZERO, _fraction(_SIGNIFICANT_DIGITS - 1), _exponent(_LEAST_EXPONENT, most)), _SMALLEST)


def _scientific() -> Expr:
    largest = seq(literal(_LARGEST[:1].encode()), optional(seq(POINT, _up_to(_LARGEST[1:]))))
    return alt(scientific(_LARGEST_EXPONENT - 1), seq(largest, _exponent(_LARGEST_EXPONENT, _LARGEST_EXPONENT)))


_ZERO: Final = seq(literal(b"0"), optional(seq(POINT, repeat(literal(b"0"), 1, ZEROS_AFTER_POINT))))
_DECIMALS: Final = alt(_decimals_from_one(), _decimals_below_one(), _ZERO)
_SCIENTIFIC: Final = _scientific()
# The two as they are: the kernel knows them again, by identity, as operands of products.
DOUBLE_TEXT: Final = alt(seq(optional(MINUS), _DECIMALS), seq(optional(MINUS), _SCIENTIFIC))
UNSIGNED_DOUBLE_TEXT: Final = alt(_DECIMALS, _SCIENTIFIC)
DOUBLE_FORM: Final = Form(
    UNSIGNED_DOUBLE_TEXT,
    alt(_decimals_from_one(), _decimals_below_one(), _SCIENTIFIC),
    _ZERO,
    _DECIMALS,
    _SCIENTIFIC,
    MAX_WHOLE_DIGITS,
)

# Safe integers of as many digits as the largest has.
_LARGE_FROM: Final = 10**15
LARGE_TEXT: Final = natural_range(str(_LARGE_FROM), str(SAFE_INTEGER))
SAFE_INTEGER_TEXT: Final = alt(
    literal(b"0"), seq(optional(MINUS), alt(natural_range("1", str(_LARGE_FROM - 1)), LARGE_TEXT))
)


def safe_integers_from(low: int, large: Expr) -> Expr:
    """Safe integers from a bound up; `large` are those of 16 digits."""
    below = seq(MINUS, natural_range("1", str(-low))) if low < 0 else never()
    return alt(below, _natural_from(max(low, 0), large))


def safe_integers_to(high: int, large: Expr) -> Expr:
    """Safe integers up to a bound; `large` are those of 16 digits, without sign."""
    above = natural_range("0", str(high)) if high >= 0 else never()
    return alt(seq(MINUS, _natural_from(max(-high, 1), large)), above)


def _natural_from(low: int, large: Expr) -> Expr:
    if low >= _LARGE_FROM:
        return natural_range(str(low), str(SAFE_INTEGER))
    return alt(natural_range(str(low), str(_LARGE_FROM - 1)), large)


def mentions_more_than_doubles(shape: NumberShape) -> bool:
    """Whether a schema itself has bounds or divisors beyond safe integers or doubles: its integers may be so, too.

    Of other numbers, only what is written as an integer says so: 1e60 is a double.
    """
    values = [value for value in (shape.low, shape.high) if shape.kind in INTEGERS or isinstance(value, int)]
    values += [divisor for divisor, _ in shape.multiple_of]
    return any(_is_beyond(value) for value in values if value is not None)


def _is_beyond(value: Exact) -> bool:
    if -SAFE_INTEGER <= value <= SAFE_INTEGER:
        _, whole, fraction = digits_of(value)
        return len((whole + fraction).lstrip("0")) > _SIGNIFICANT_DIGITS
    return True
