"""Plain numbers as readers understand them: what is accepted is valid after it was rounded to a double."""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts

pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
from frontends.json_schema.sets.test_schema_plain_numbers import doubles, javascript
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo, UnsatisfiableError
from maskwright.frontends.json_schema.sets.decimals import exact
from maskwright.frontends.json_schema.sets.fractions import fractions_text, short_fractions_text
from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.frontends.json_schema.sets.rounding import bound_from, bound_to

COMPILER = GrammarCompiler(
    TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[256])
)
NO_INTEGER: Any = {"type": "number", "not": {"type": "integer"}}


@pytest.mark.parametrize("bound", [0.3, 1, 0.5, -5, 1e-7, 10**16, 2**53 + 3, 1.7976931348623157e308, 5e-324, 1e22])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_bound_is_the_last_decimal_that_becomes_a_double_within(bound: Any, is_open: bool) -> None:
    def is_within(value: float, sign: int) -> bool:
        if math.isinf(value):
            return False
        ours, theirs = sign * Fraction(Decimal(repr(value))), sign * Fraction(Decimal(repr(bound)))
        return ours < theirs if is_open else ours <= theirs

    for sign, moved in ((1, bound_to), (-1, bound_from)):
        last, last_open = moved(exact(bound), is_open)
        assert last is not None
        step = Decimal(1).scaleb(Decimal(last).adjusted() - 16)
        assert last_open or is_within(float(last), sign)
        for beyond in (Decimal(last) + sign * step, Decimal(last) + 2 * sign * step):
            assert not is_within(float(beyond), sign) or beyond * sign > Decimal(str(bound)) * sign


def test_fractions_are_the_decimals_that_do_not_become_integers() -> None:
    rng = random.Random(2)
    for _ in range(400):
        exponent = rng.randint(-3, 54)
        value = float(rng.randint(0, 2**exponent)) if exponent > 0 else float(rng.randint(0, 3))
        for _ in range(rng.randint(1, 3)):
            value = abs(math.nextafter(value, rng.choice([math.inf, -math.inf])))
        text = json.dumps(value)
        assert matches(fractions_text(), text.encode()) == (not value.is_integer()), text
        places = 17 - len(str(int(value)))
        near = Decimal(value) + Decimal(rng.randint(-9, 9)).scaleb(-places)
        text = f"{near:.{max(places, 0)}f}"
        if near > 0:
            assert matches(fractions_text(), text.encode()) == (not float(text).is_integer()), text
    for value in doubles(300):
        assert matches(fractions_text(), json.dumps(value).encode()) == (not value.is_integer()), value


def test_short_fractions() -> None:
    for text in ("0.5", "1.5", "12.25", "0.00000000000001", "12345678901234.5", "-3.05", "9.99999999999999", "2.50"):
        assert matches(short_fractions_text(), text.encode()), text
    for text in ("0.0", "1", "1.0", "01.5", "123456789012345.6", "0.000000000000001", "1.5e3"):
        assert not matches(short_fractions_text(), text.encode()), text


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "number", "exclusiveMaximum": 0.3}, ["0.29", "0.29999999999999993"], ["0.29999999999999999", "0.3"]),
        ({"type": "number", "exclusiveMinimum": 1}, ["2", "1.0000000000000002"], ["1.0000000000000001", "1.0"]),
        ({"type": "number", "maximum": 2**53 + 3}, ["9007199254740994.0"], ["9007199254740995.0"]),
        ({"type": "number", "exclusiveMaximum": 1e20}, ["99999999999999980000", "1e19"], ["99999999999999999999.0"]),
        ({"type": "number", "maximum": 1e16}, ["1e+16", "-1.5e300"], ["-1.798e+308", "-1e999"]),
        ({"type": "number", "maximum": 2**63 - 1}, [str(2**63 - 1), "0.5"], ["9223372036854775807.0", "-1e999"]),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 2**64}, ["5e-324", str(2**64)], ["1e-999", "0"]),
        (NO_INTEGER, ["1e-07", "0.30000000000000004", "3.9999999999999996", "2.5"], ["0.99999999999999999", "1e22"]),
        ({**NO_INTEGER, "maximum": 1e300}, ["1.5", "1e-07"], ["9007199254740993.5", "1e+300"]),
        ({**NO_INTEGER, "multipleOf": 0.5}, ["1.5", "-0.5"], ["1.0", "999999999999999.01", "0.25"]),
        ({"type": "number", "multipleOf": 0.01}, ["1e+22", "1.5e+16", "1.2345678901234568e+17"], ["1e-3", "1.234e0"]),
        ({"type": "number", "multipleOf": 1e-8}, ["1e-08", "1.5e-7", "1e-8", "1e+100"], ["1e-9", "1.55e-8"]),
        ({"type": "number", "multipleOf": 1}, ["1e+22", "1.5e+16", "1.5e1"], ["1.5e0", "1e-07", "1e999"]),
        ({"type": "number", "multipleOf": 25}, ["1e+22", "1.2345678901234575e+16"], ["1.2345678901234568e+16"]),
        ({"multipleOf": 0.125, "if": {"exclusiveMaximum": -4e-12}, "then": {"maximum": 1.7e308}}, ["-1.125"], ["0.1"]),
        ({"multipleOf": 0.125, "maximum": -4.439027896858461e-12}, ["-0.125", "-1e+16"], ["-4.439027896858461e-12"]),
        ({"multipleOf": 0.125, "exclusiveMinimum": -1.7e308, "maximum": -4e-12}, ["-1.125", "-1e+307"], ["-0.1", "0"]),
        ({"type": "number", "multipleOf": 0.5}, ["1.2e1", "12.5", "1e+16"], ["1.255e1", "1e-1"]),
        ({"type": "number", "multipleOf": 10_000}, ["1e+22", "1e4", "1.5e5"], ["1e3", "1.5e4"]),
        ({"type": "integer", "multipleOf": 5}, ["10"], ["1e1", "1e+22"]),
        ({"type": "number", "multipleOf": 3, "minimum": 2**63}, [str(3 * 2**62)], [str(2**63), "1e999"]),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_accepted_is_valid_when_it_is_read(schema: Any, right: list[str], wrong: list[str]) -> None:
    check_texts(schema, right, wrong)


VALUES = [0, 1, -1, 5, 10, 2**53 - 1, 0.0, -0.0, 1.0, 100.0, 0.5, 0.1, -0.1, 1e-7, 1.5e-7, 1.5e16, 1e22, 5e-324]
VALUES += [1.7976931348623157e308, -1e-7, 0.30000000000000004, 123456.789, 1e100, 1.2345678901234567e21, -2.5, 10**17]


def test_multiples_beside_long_bounds_stay_within_limits() -> None:
    bound = -4.439027896858461e-12
    parts = [{"type": ["integer", "number"]}, {"exclusiveMinimum": 78, "exclusiveMaximum": 1.7976931348623157e308}]
    schema = {"multipleOf": 0.125, "if": {"anyOf": parts, "exclusiveMaximum": bound}, "then": {"type": "number"}}
    compiled = COMPILER.compile_json_schema(schema)
    for text, is_accepted in ((repr(bound), False), ("-1.125", True), ("-1e+300", True), ("3", True)):
        matcher = GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.accept_token(256)) == is_accepted, text


def random_schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    keywords = ["type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "multipleOf"]
    schema: dict[str, Any] = {}
    for keyword in rng.choices(keywords + ["allOf", "anyOf", "not"] * (depth < 2), k=rng.randint(1, 3)):
        if keyword == "type":
            schema[keyword] = rng.choice(["integer", "number", ["integer", "string"], ["number", "null"]])
        elif keyword == "enum":
            schema[keyword] = rng.sample(VALUES, 3)
        elif keyword == "multipleOf":
            schema[keyword] = rng.choice([1, 2, 5, 10, 0.5, 0.1, 0.01, 2.5, 1e-8, 1.0, 1000])
        elif keyword in ("allOf", "anyOf"):
            schema[keyword] = [random_schema(rng, depth + 1) for _ in range(2)]
        else:
            schema[keyword] = random_schema(rng, depth + 1) if keyword == "not" else rng.choice(VALUES)
    return schema


def number(value: Any) -> Fraction:
    return Fraction(Decimal(repr(value)))


def is_valid(schema: dict[str, Any], value: Any, *, typed: bool) -> bool:
    """Whether a number is valid; `typed`: to a reader that tells 1 and 1.0 apart."""

    def same(other: Any) -> bool:
        return number(other) == number(value) and not (typed and type(other) is not type(value))

    types = {"integer": isinstance(value, int) or (value.is_integer() and not typed), "number": True}
    asked = {
        "type": lambda wanted: any(types.get(t) for t in ([wanted] if isinstance(wanted, str) else wanted)),
        "enum": lambda values: any(map(same, values)),
        "const": same,
        "minimum": lambda bound: number(value) >= number(bound),
        "maximum": lambda bound: number(value) <= number(bound),
        "exclusiveMinimum": lambda bound: number(value) > number(bound),
        "exclusiveMaximum": lambda bound: number(value) < number(bound),
        "multipleOf": lambda divisor: (number(value) / number(divisor)).denominator == 1,
        "allOf": lambda parts: all(is_valid(part, value, typed=typed) for part in parts),
        "anyOf": lambda parts: any(is_valid(part, value, typed=typed) for part in parts),
        "not": lambda part: not is_valid(part, value, typed=typed),
    }
    return all(asked[keyword](wanted) for keyword, wanted in schema.items())


def test_random_schemas_and_spellings() -> None:
    rng = random.Random(8)
    num_accepted = num_rejected = 0
    for _ in range(120):
        schema = random_schema(rng)
        try:
            matcher = GrammarMatcher(COMPILER.compile_json_schema(schema))
        except UnsatisfiableError:
            matcher = None
        forbids_multiples = "not" in json.dumps(schema) and "multipleOf" in json.dumps(schema)
        values = [*rng.sample(VALUES, 12), *rng.sample(doubles(20), 8)]
        values += [math.nextafter(float(value), rng.choice([-math.inf, math.inf])) for value in values[:12]]
        for value in filter(math.isfinite, values):
            usual = {json.dumps(value), javascript(value) if isinstance(value, float) else str(value)}
            plain = format(Decimal(repr(value)), "f")
            for text in {*usual, plain, f"{value:.3e}", f"{value:.1f}", f"{value:.17g}"}:
                read = json.loads(text)
                is_accepted = False
                if matcher is not None:
                    matcher.reset()
                    is_accepted = matcher.accept_string(text) and matcher.accept_token(256)
                if is_accepted:
                    num_accepted += 1
                    assert math.isfinite(read), (schema, text)
                    assert is_valid(schema, read, typed=False), (schema, text)
                elif text in usual and not forbids_multiples and not (type(read) is int and abs(read) >= 2**53):
                    num_rejected += 1
                    both = is_valid(schema, read, typed=False) and is_valid(schema, read, typed=True)
                    assert not both, (schema, text)
    assert min(num_accepted, num_rejected) > 500
