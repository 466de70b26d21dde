"""Spellings of the numbers of a shape, in one of three ways (the option `numbers`).

    {"type": "integer", "minimum": 1, "maximum": 30}     plain: 7      any: 7, 7.0, 7.00
    {"type": "number", "maximum": 0.5}                   plain: 0.25   any: 0.25, 0.2500000000000000000000, -1e999
    {"const": 2.0}                                       plain: 2.0    any: 2, 2.0, 2.00

"plain" is what any reader of JSON gives back as the same value, of the same type: integers have digits only, numbers
are those that a double holds (doubles.py), and values of `enum` and `const` are written as numbers of the type that
they have in the schema. What would be invalid once it is a double is left out (rounding.py, fractions.py). Where a
schema's own bounds or divisors are beyond safe integers, its integers may be so, too.

"any" has more spellings of each value. An integer may end in zeros after the point, and have an exponent that is not
negative where it is free of bounds: `12`, `12.0`, `1.0e+2`, but not `1.2e1`. For numbers see ranges.py.

"digits" is between them: integers and constants as in "plain", but integers of any length, and other numbers as in
"any".

In draft 4, integers are written without a point and an exponent, whatever the option: kinds `WRITTEN_INTEGER` and
`WRITTEN_FRACTION`. Tested by tests/frontends/json_schema/sets/test_schema_numbers.py and test_schema_plain_numbers.py.
"""

from __future__ import annotations

from decimal import Decimal
from math import lcm
from typing import Final, Literal, TypeAlias

from maskwright.frontends.json_schema.sets.decimals import ceiling, digits_of, floor, is_integral, is_multiple
from maskwright.frontends.json_schema.sets.doubles import (
    DOUBLE_FORM,
    DOUBLE_TEXT,
    LARGE_TEXT,
    MAX_WHOLE_DIGITS,
    SAFE_INTEGER,
    SAFE_INTEGER_TEXT,
    mentions_more_than_doubles,
    safe_integers_from,
    safe_integers_to,
)
from maskwright.frontends.json_schema.sets.fractions import fractions_text, short_fractions_text
from maskwright.frontends.json_schema.sets.intersect import admits_number
from maskwright.frontends.json_schema.sets.ranges import (
    ANY_FORM,
    DIGIT,
    DIGITS,
    EXPONENT,
    FRACTION_PART,
    MINUS,
    NONZERO,
    NUMBER_TEXT,
    PLAIN_INTEGER,
    POINT,
    SOME_NONZERO,
    ZERO_FRACTION,
    integer_range,
    number_range,
)
from maskwright.frontends.json_schema.sets.rounding import bound_from, bound_to
from maskwright.frontends.json_schema.sets.shape import (
    ANY_KIND,
    FRACTION,
    INTEGERS,
    WRITTEN_FRACTION,
    WRITTEN_INTEGER,
    Exact,
    NumberShape,
)
from maskwright.ir import Expr, alt, and_, bytes_in, literal, optional, plus, ref, seq
from maskwright.support.memos import remembered

Numbers: TypeAlias = Literal["plain", "digits", "any"]

_ANY_INTEGER: Final = seq(
    PLAIN_INTEGER, ZERO_FRACTION, optional(seq(bytes_in(b"eE"), optional(literal(b"+")), plus(DIGIT)))
)
_NOT_INTEGRAL: Final = seq(PLAIN_INTEGER, POINT, SOME_NONZERO)
_POINTED: Final = seq(PLAIN_INTEGER, FRACTION_PART)
_DIGITS_ONLY: Final = alt(seq(optional(MINUS), NONZERO, DIGITS), literal(b"0"))
_DECIMAL: Final = alt(_POINTED, _DIGITS_ONLY)
_WRITTEN_FRACTION: Final = seq(PLAIN_INTEGER, alt(seq(FRACTION_PART, optional(EXPONENT)), EXPONENT))

FREE_INTEGER_TEXTS: Final[dict[Numbers, Expr]] = {
    "plain": SAFE_INTEGER_TEXT,
    "digits": _DIGITS_ONLY,
    "any": _ANY_INTEGER,
}
FREE_NUMBER_TEXTS: Final[dict[Numbers, Expr]] = {"plain": DOUBLE_TEXT, "digits": NUMBER_TEXT, "any": NUMBER_TEXT}


# Every layout opens its grammar with these rules. The last two are for plain numbers within bounds.
INTEGER_RULE: Final = ref(1)
NUMBER_RULE: Final = ref(2)
LARGE_RULE: Final = ref(3)
UNSIGNED_RULE: Final = ref(4)
_FORM_BY_RULES: Final = DOUBLE_FORM._replace(unsigned=UNSIGNED_RULE)


def number_text(shape: NumberShape, numbers: Numbers, *, as_operand: bool = False) -> Expr:
    """Return the spellings of the numbers of a kind within bounds; as an operand of a product, without references."""
    beyond = mentions_more_than_doubles(shape)
    return _text_within(shape.kind, shape.low, shape.low_open, shape.high, shape.high_open, beyond, numbers, as_operand)


@remembered(4096)
def _text_within(
    kind: int,
    low: Exact | None,
    low_open: bool,
    high: Exact | None,
    high_open: bool,
    beyond: bool,
    numbers: Numbers,
    as_operand: bool,
) -> Expr:
    """The same; `beyond`: with longer integers, as the bounds or divisors are beyond doubles."""
    shape = NumberShape()
    shape.kind, shape.low, shape.low_open, shape.high, shape.high_open = kind, low, low_open, high, high_open
    if kind in INTEGERS:
        return _integer_text(shape, numbers, LARGE_TEXT if as_operand else LARGE_RULE, beyond)
    if numbers == "plain" and kind == FRACTION:
        fractions = short_fractions_text() if as_operand else fractions_text()
        return and_(_double_text(shape, as_operand, beyond), fractions)
    if numbers == "plain":
        text = _double_text(shape, as_operand, beyond)
    elif low is not None or high is not None:
        text = number_range(low, low_open, high, high_open)
    else:
        text = NUMBER_TEXT
    if kind == FRACTION:
        return and_(text, _NOT_INTEGRAL)
    return and_(text, _WRITTEN_FRACTION) if kind == WRITTEN_FRACTION else text


def _double_text(shape: NumberShape, as_operand: bool, beyond: bool) -> Expr:
    """Numbers within bounds that a double holds; also longer integers, if bounds or divisors are beyond doubles."""
    low, low_open = bound_from(shape.low, shape.low_open)
    high, high_open = bound_to(shape.high, shape.high_open)
    if shape.kind == FRACTION:  # all of them are below what doubles count in ones
        low = None if low is not None and low < -SAFE_INTEGER else low
        high = None if high is not None and high > SAFE_INTEGER else high
    if low is None and high is None:
        text = NUMBER_TEXT if shape.kind == FRACTION else DOUBLE_TEXT
    elif low is not None and high is not None and low > high:  # no double lies between the bounds
        return number_range(shape.low, shape.low_open, shape.high, shape.high_open)
    else:
        by_rules = _FORM_BY_RULES if shape.kind == ANY_KIND and not as_operand else DOUBLE_FORM
        form = ANY_FORM if shape.kind == FRACTION else by_rules  # fractions are doubles already
        text = number_range(low, low_open, high, high_open, form)
    return alt(text, integers_text(shape)) if shape.kind == ANY_KIND and beyond else text


def integers_text(shape: NumberShape) -> Expr:
    """Integers within bounds, in digits; of any length, as far as the bounds let them."""
    return integer_range(*_integer_bounds(shape), minus_zero=False)


def _integer_text(shape: NumberShape, numbers: Numbers, large: Expr, beyond: bool) -> Expr:
    low, high = _integer_bounds(shape)
    if numbers == "any":
        is_bounded = low is not None or high is not None
        if shape.kind == WRITTEN_INTEGER:
            return integer_range(low, high, minus_zero=True) if is_bounded else PLAIN_INTEGER
        return seq(integer_range(low, high, minus_zero=True), ZERO_FRACTION) if is_bounded else _ANY_INTEGER
    if numbers == "plain" and not beyond:
        if low is None and high is None:
            return SAFE_INTEGER_TEXT
        if high is None and low is not None and low <= SAFE_INTEGER:
            return safe_integers_from(low, large)
        if low is None and high is not None and high >= -SAFE_INTEGER:
            return safe_integers_to(high, large)
    return integers_text(shape)


def _integer_bounds(shape: NumberShape) -> tuple[int | None, int | None]:
    low = high = None
    if shape.low is not None:
        low = ceiling(shape.low) + (1 if shape.low_open and is_integral(shape.low) else 0)
    if shape.high is not None:
        high = floor(shape.high) - (1 if shape.high_open and is_integral(shape.high) else 0)
    return low, high


def decimals_text(shape: NumberShape) -> Expr:
    """Return the plain spellings of the numbers of a kind within bounds, without exponents and of any length."""
    if shape.kind in INTEGERS:
        return integers_text(shape)
    text = number_range(shape.low, shape.low_open, shape.high, shape.high_open)
    kind = _NOT_INTEGRAL if shape.kind == FRACTION else _POINTED if shape.kind == WRITTEN_FRACTION else _DECIMAL
    return and_(text, kind)


def is_long(shape: NumberShape) -> bool:
    """Whether the plain spellings of the numbers of a kind within bounds are not limited in length by the bounds."""
    return shape.kind not in INTEGERS or shape.low is None or shape.high is None


# Finite sets

_MAX_FINITE: Final = 500


def admitted_values(shape: NumberShape) -> list[Exact]:
    """Return the values of a finite set that are multiples as the shape asks."""
    return [
        value
        for value in shape.values or ()
        if all(is_multiple(value, divisor) for divisor, _ in shape.multiple_of)
        and not any(is_multiple(value, divisor) for divisor, _ in shape.not_multiple_of)
    ]


def has_no_multiple(shape: NumberShape) -> bool:
    """Whether there is no multiple between the bounds."""
    if shape.low is None or shape.high is None or not shape.multiple_of or shape.kind in (FRACTION, WRITTEN_FRACTION):
        return False
    low, high, unit, _ = _scaled(shape)
    first = low // unit + 1 if shape.low_open else -(-low // unit)
    last = -(-high // unit) - 1 if shape.high_open else high // unit
    return first > last


def _scaled(shape: NumberShape) -> tuple[int, int, int, int]:
    """The bounds of a shape, and what its numbers are multiples of, times a power of ten that makes them integers."""
    assert shape.low is not None
    assert shape.high is not None
    parts = list(map(digits_of, (shape.low, shape.high, *[divisor for divisor, _ in shape.multiple_of])))
    scale = max(len(fraction) for _, _, fraction in parts)
    low, high, *units = (
        int(whole + fraction.ljust(scale, "0")) * (-1 if negative else 1) for negative, whole, fraction in parts
    )
    return low, high, lcm(*units, 10**scale) if shape.kind in INTEGERS else lcm(*units), scale


def finite_multiples(shape: NumberShape) -> NumberShape | None:
    """Return the numbers of a shape as a finite set, if they are a few multiples between two bounds."""
    if shape.low is None or shape.high is None or not shape.multiple_of:
        return None
    if shape.kind in (FRACTION, WRITTEN_FRACTION):
        return None
    low, high, unit, scale = _scaled(shape)
    if (high - low) // unit >= _MAX_FINITE:
        return None
    found = [Decimal(f"{n}e-{scale}") for n in range(-(-low // unit) * unit, high + 1, unit)]
    out = NumberShape()
    out.kind = shape.kind
    out.not_multiple_of = shape.not_multiple_of
    # Of no value it is said in which type it is meant.
    integers = [floor(value) for value in found if is_integral(value) and admits_number(shape, value)]
    others = [value for value in found if shape.kind not in INTEGERS and admits_number(shape, value)]
    out.values = (*integers, *others)
    return out


def values_text(shape: NumberShape, numbers: Numbers) -> Expr:
    """Return the spellings of a finite set of numbers."""
    if numbers != "any" or shape.kind == WRITTEN_INTEGER:
        return alt(*[literal(text.encode()) for value in admitted_values(shape) for text in _plain_texts(value)])
    return _any_values(shape)


def _plain_texts(value: Exact) -> list[str]:
    """An integer in digits; another number with a point, as far as that is not too long, or an exponent."""
    if isinstance(value, int):
        return [str(value)]
    negative, whole, fraction = digits_of(value)
    sign = "-" if negative else ""
    texts = [f"{sign}{whole}.{fraction or 0}"]
    shortest = _shortest(value)
    if shortest:
        texts = [shortest, *([] if len(whole) > MAX_WHOLE_DIGITS else texts)]
        texts += [shortest.replace("e-0", "e-")] if "e-0" in shortest else []  # as JavaScript has it
    return [*texts, "-0.0"] if value == 0 else texts


def _shortest(value: Decimal) -> str | None:
    """What `json.dumps` writes of a value that it writes with an exponent, if that is exact."""
    text = repr(float(value))
    return text if "e" in text and Decimal(text) == value else None


def _any_values(shape: NumberShape) -> Expr:
    """Plain, or as `json.dumps` writes them; integers with zeros after the point."""
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
        shortest = None if isinstance(value, int) else _shortest(value)
        if shortest:
            others.append(literal(shortest.encode()))
    zeros = seq(POINT, plus(literal(b"0"))) if shape.kind == WRITTEN_FRACTION else ZERO_FRACTION
    return alt(seq(alt(*integral), zeros), *others)
