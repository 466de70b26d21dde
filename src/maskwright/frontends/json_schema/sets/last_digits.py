"""`multipleOf` for divisors of powers of ten: the last digits tell.

    multipleOf 0.25   →   digits, then nothing or a point and 0*, 250*, 50* or 750*; 1e+16, and so on

With an exponent, which tells where the last digit stands, fewer digits are multiples whatever they are: 1.2e+1 is
one of 0.5. Exact endings are told apart where `json.dumps` writes exponents only, as automata grow with them. From some
exponent on, all that 17 digits can say is a multiple.
Tested by tests/frontends/json_schema/sets/test_schema_numbers.py and test_schema_rounding.py.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.ranges import (
    DIGIT,
    DIGITS,
    MINUS,
    NATURAL,
    NONZERO,
    POINT,
    ZERO_FRACTION,
    ZEROS,
    exponent_range,
)
from maskwright.frontends.json_schema.sets.shape import Exact
from maskwright.ir import EMPTY, Expr, alt, and_, literal, optional, repeat, seq

_LAST_DIGITS_LIMIT: Final = 3
_MOST_DIGITS_AFTER_FIRST: Final = 16  # of 17, as doubles have; `json.dumps` writes exponents from here on,
_LEAST_DECIMAL: Final = -4  # and below this one


def multiple_text(multiple: Exact) -> Expr | None:
    """Spellings of the multiples of a number that divides a power of ten; None for other numbers."""
    _, whole, fraction = digits_of(multiple)
    scale = len(fraction)
    unit = int(whole + fraction)
    if unit == 0:
        return None
    width = next((k for k in range(_LAST_DIGITS_LIMIT + 1) if 10**k % unit == 0), None)
    if width is not None:
        return seq(optional(MINUS), alt(_ending_text(unit, width, scale), _scientific(unit, width, scale)))
    if whole.rstrip("0") == "1" and not scale:
        return seq(optional(MINUS), alt(_round_text(whole), _scientific(unit, len(whole) - 1, 0)))
    return None


def _round_text(whole: str) -> Expr:
    zeros = len(whole) - 1
    return seq(alt(literal(b"0"), seq(NONZERO, DIGITS, literal(b"0" * zeros))), ZERO_FRACTION)


def _ending_text(unit: int, width: int, scale: int) -> Expr:
    """Numbers whose digits, `scale` of them after the point, end in a multiple of `unit` modulo 10**width."""
    endings = [f"{n:0{width}d}" for n in range(0, 10**width, unit)] if width else [""]
    parts = []
    for ending in endings:
        padded = ending.rjust(scale, "?") if len(ending) < scale else ending
        whole_end, fraction_end = padded[: len(padded) - scale], padded[len(padded) - scale :]
        whole = _whole_ending(whole_end)
        parts.append(seq(whole, _fraction_ending(fraction_end)))
    return alt(*parts)


def _whole_ending(ending: str) -> Expr:
    if not ending:
        return NATURAL
    return and_(NATURAL, alt(seq(DIGITS, literal(ending.encode())), literal((ending.lstrip("0") or "0").encode())))


def _fraction_ending(ending: str) -> Expr:
    """`.` and these digits, `?` being any, then zeros; zeros at the end may be left out."""
    parts: list[Expr] = []
    for cut in range(len(ending), -1, -1):
        if set(ending[cut:]) - {"0", "?"}:
            break
        kept = [DIGIT if c == "?" else literal(c.encode()) for c in ending[:cut]]
        parts.append(seq(POINT, *kept, ZEROS if cut == len(ending) else EMPTY) if kept else EMPTY)
    return alt(*parts, ZERO_FRACTION) if not set(ending) - {"0", "?"} else alt(*parts)


def _scientific(unit: int, width: int, scale: int) -> Expr:
    """Numbers as `d.ddde±dd` with at most 17 digits, in units of 10**-scale multiples of `unit`."""
    every = _MOST_DIGITS_AFTER_FIRST + width - scale  # from here on, all of them
    parts = [seq(NONZERO, _fraction(_MOST_DIGITS_AFTER_FIRST), exponent_range(every, None))]
    for exponent in range(-scale, every):
        free = exponent + scale - width  # so many digits may follow the first, whatever they are
        mantissas = [seq(NONZERO, _fraction(free))] if free >= 0 else []
        lengths = range(max(free + 1, 0), min(exponent + scale, _MOST_DIGITS_AFTER_FIRST) + 1)
        for length in lengths if exponent < _LEAST_DECIMAL or exponent >= _MOST_DIGITS_AFTER_FIRST else ():
            shift = exponent + scale - length
            mantissas += _mantissas(length, unit // gcd(unit, 10**shift), width - shift)
        parts.append(seq(alt(*mantissas), exponent_range(exponent, exponent)))
    return alt(*parts)


def _mantissas(length: int, unit: int, width: int) -> list[Expr]:
    """Mantissas of so many digits after the first whose digits are a multiple of `unit`, which divides 10**width."""
    if width > _LAST_DIGITS_LIMIT:
        return []  # of a power of ten: they end in zeros, and there is a shorter one
    if length < width:
        return [_mantissa(str(n)) for n in range(unit, 10 ** (length + 1), unit) if n >= 10**length]
    first = seq(NONZERO, POINT, repeat(DIGIT, length - width, length - width))
    return [seq(first, literal(f"{n:0{width}d}".encode())) for n in range(0, 10**width, unit)]


def _mantissa(digits: str) -> Expr:
    return literal((digits[0] + (f".{digits[1:]}" if digits[1:] else "")).encode())


def _fraction(most: int) -> Expr:
    return optional(seq(POINT, repeat(DIGIT, 1, most))) if most > 0 else EMPTY
