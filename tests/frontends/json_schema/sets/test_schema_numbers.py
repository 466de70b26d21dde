"""Numbers: every bound against every spelling, exactly; test_schema_plain_numbers.py has those of plain numbers."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from frontends.json_schema.checking import check, check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from labels import label
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.sets.decimals import ceiling, digits_of, exact, floor, is_integral, is_multiple
from maskwright.frontends.json_schema.sets.last_digits import multiple_text
from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.frontends.json_schema.sets.ranges import integer_range, number_range

BOUNDS = [None, *map(Decimal, ("-12", "-1.05", "-1", "-0.3", "0", "0.07", "0.3", "1", "1.05", "9.99", "12", "120.5"))]
SPELLINGS = [
    "0", "-0", "0.0", "-0.00", "0e5", "1", "-1", "1.0", "1.00", "1.05", "1.050", "1.0500001", "1.04", "1.049999",
    "9.98", "9.99", "9.990", "9.991", "10", "11.9", "12", "12.0", "12.01", "13", "99", "119", "120", "120.5", "120.50",
    "120.51", "121", "1000", "0.3", "0.30", "0.30000001", "0.29", "0.299", "0.07", "0.070", "0.069", "0.0701", "0.5",
    "1e0", "1E+0", "1.05e0", "1.2e1", "1.2e+01", "1.21e1", "1.205e2", "1.2051e2", "3e-1", "3e-01", "2.9e-1", "3.1e-1",
    "7e-2", "1e-300", "1e300", "9.99e0", "9.991e0", "9.9e-1", "1e2", "1.0e1", "1e-1", "-1e300",
]  # fmt: skip
NOT_JSON = ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "--1", "0x1", "1 ", "00", "-01", "1.e1", "e1", "١"]


def has_a_free_form(text: str) -> bool:
    """Whether the spelling is one that bounded numbers have: plain, or with one digit other than 0 before the point."""
    mantissa = text.lstrip("-").lower().split("e")
    return len(mantissa) == 1 or (mantissa[0][0] != "0" and (len(mantissa[0]) == 1 or mantissa[0][1] == "."))


@pytest.mark.parametrize("low", BOUNDS)
@pytest.mark.parametrize("high", BOUNDS)
def test_number_ranges(low: Decimal | None, high: Decimal | None) -> None:
    if low is None and high is None:
        return
    spellings = [s for text in SPELLINGS for s in {text, "-" + text.lstrip("-")} if has_a_free_form(text)]
    for low_open in (False, True):
        for high_open in (False, True):
            expr = number_range(low, low_open, high, high_open)
            for text in spellings:
                value = Decimal(text)
                inside = (low is None or value > low or (value == low and not low_open)) and (
                    high is None or value < high or (value == high and not high_open)
                )
                assert matches(expr, text.encode()) == inside, (low, low_open, high, high_open, text)
            assert not any(matches(expr, text.encode()) for text in NOT_JSON)


def test_integer_ranges_exhaustively() -> None:
    for low in [None, *range(-25, 26, 3), 99, 100, 101]:
        for high in [None, *range(-25, 26, 4), 99, 100, 1234]:
            expr = integer_range(low, high, minus_zero=True)
            for n in [*range(-130, 131), 999, 1000, 1233, 1234, 1235, -5000, 10**20]:
                inside = (low is None or n >= low) and (high is None or n <= high)
                assert matches(expr, str(n).encode()) == inside, (low, high, n)
            zero = (low is None or low <= 0) and (high is None or high >= 0)
            assert matches(expr, b"-0") == zero
            assert not any(matches(expr, text.encode()) for text in NOT_JSON)


def test_large_bounds_are_exact() -> None:
    big = 2**64
    expr = integer_range(-big, big, minus_zero=True)
    assert [matches(expr, str(n).encode()) for n in (big, big + 1, -big, -big - 1)] == [True, False, True, False]
    check_texts({"minimum": 2**53 + 1, "type": "integer"}, [str(2**53 + 1)], [str(2**53)])
    check_texts(
        {"maximum": 1e30}, ["1" + "0" * 30, "1e30", "1e+30"], ["1" + "0" * 29 + "1", "1.0000001e30"], numbers="any"
    )
    check_texts({"maximum": 0.3}, ["0.3", "0.30000"], ["0.30000000000000001", "0.300001"], numbers="any")


def test_random_ranges() -> None:
    rng = random.Random(1)
    for _ in range(300):
        low, high = sorted(Decimal(rng.randint(-3000, 3000)).scaleb(-rng.randint(0, 3)) for _ in range(2))
        expr = number_range(low, False, high, False)
        for _ in range(30):
            near = rng.choice((low, high, Decimal(rng.randint(-4000, 4000)).scaleb(-rng.randint(0, 4))))
            value = near + rng.choice((0, 1, -1)) * Decimal(1).scaleb(-rng.randint(0, 5))
            assert matches(expr, f"{value:f}".encode()) == (low <= value <= high), (low, high, value)


@pytest.mark.parametrize(
    "of", ["1", "2", "5", "10", "25", "0.01", "0.5", "0.25", "100", "2.5", "1000000", "0.125", "20"]
)
def test_multiples(of: str) -> None:
    expr = multiple_text(Decimal(of))
    assert expr is not None
    texts = [
        "0",
        "-0",
        "0.0",
        "1",
        "2",
        "2.0",
        "5",
        "0.5",
        "0.50",
        "0.25",
        "0.250",
        "0.01",
        "0.10",
        "0.1",
        "0.001",
        "10",
    ]
    texts += ["25", "50", "75.00", "2.5", "7.5", "7.49", "100", "1000000", "3000000", "1500000", "0.125", "0.375", "15"]
    for text in [*texts, *(f"-{t}" for t in texts[3:])]:
        assert matches(expr, text.encode()) == is_multiple(Decimal(text), Decimal(of)), (of, text)


def test_other_multiples_have_no_form() -> None:
    assert [multiple_text(n) for n in (3, 7, 60, Decimal("0.3"))] == [None] * 4


def test_decimals() -> None:
    assert [exact(v) for v in (1, 0.1, True, "1", float("nan"), None)] == [1, Decimal("0.1"), None, None, None, None]
    assert digits_of(Decimal("-12.50")) == (True, "12", "5")
    assert digits_of(Decimal("1E+3")) == (False, "1000", "")
    assert digits_of(Decimal("-0.0")) == (False, "0", "")
    cases: list[Any] = [Decimal("2.5"), Decimal("-2.5"), Decimal("-0.5"), 3, Decimal("4.0")]
    assert [floor(v) for v in cases] == [2, -3, -1, 3, 4]
    assert [ceiling(v) for v in cases] == [3, -2, 0, 3, 4]
    assert [is_integral(v) for v in cases] == [False, False, False, True, True]


def test_spellings_of_constants() -> None:
    check_texts({"const": 1.5}, ["1.5"], ["1.50", "15e-1", "1"], numbers="any")
    check_texts({"const": 2.0}, ["2", "2.0", "2.00"], ["2.5", "20", "2e0"], numbers="any")
    check_texts({"const": 1e-7}, ["0.0000001", "1e-07"], ["1e-7"], numbers="any")
    check_texts({"const": -0.0}, ["0", "0.0", "-0", "-0.0"], ["1", "0.01"], numbers="any")
    check_texts({"const": 5, "type": "integer"}, ["5", "5.0"], ["5.1", "-5"], numbers="any")
    check_texts(
        {"type": "integer"},
        ["0", "-0", "12", "1.0", "-3.00", "1e3", "1.0E+2"],
        ["01", "1.5", "1.", "1e-1", "1.5e1"],
        numbers="any",
    )
    check_texts(
        {"type": "integer", "minimum": 3, "maximum": 20},
        ["3", "3.0", "20.00"],
        ["2", "20.5", "3e0", "3e2"],
        numbers="any",
    )
    check_texts({"type": "number"}, ["0", "-0.0", "1e3", "1E-3", "1.50"], NOT_JSON, numbers="any")


@pytest.mark.parametrize(
    ("schema", "divides"),
    [
        ({"multipleOf": 3}, lambda v: v % 3 == 0),
        ({"multipleOf": 7, "type": "integer", "minimum": -20, "exclusiveMaximum": 150}, lambda v: v % 7 == 0),
        ({"multipleOf": 1.5}, lambda v: v % Decimal("1.5") == 0),
        ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}]}, lambda v: v % 12 == 0),
        ({"multipleOf": 0.03, "minimum": 0.1}, lambda v: v % Decimal("0.03") == 0),
        ({"type": "number", "not": {"multipleOf": 5}}, lambda v: v % 5 != 0),
        ({"not": {"anyOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, "type": "integer"}, lambda v: abs(v % 6) in (1, 5)),
    ],
    ids=label,
)  # fmt: skip
def test_multiples_by_remainders(schema: Any, divides: Any) -> None:
    grammar = schema_to_ir(schema, JsonSchemaOptions(numbers="any"))
    low, high = schema.get("minimum", -(10**9)), schema.get("exclusiveMaximum", 10**9)
    for n in [*range(-700, 700), 123456, 10**8 - 1, 999_999]:
        for text in (str(n), f"{Decimal(n) / 100:f}", f"{n}.0"):
            value = Decimal(text)
            is_kind = schema.get("type") != "integer" or value == int(value)
            expected = is_kind and low <= value < high and divides(value)
            assert accepts_text(grammar, text) == expected, (schema, text)


def test_a_few_multiples_between_bounds_are_a_finite_set() -> None:
    check({"multipleOf": 100_003, "minimum": -100_003, "maximum": 300_000}, [-100_003, 0, 200_006], [1, 300_009])
    check({"type": "integer", "multipleOf": 1.7777, "minimum": 0, "maximum": 20_000}, [0, 17777], [1.7777, 1])
    check({"type": "integer", "multipleOf": 1.7777, "maximum": 20_000, "minimum": 0}, [17777.0], [1.7], numbers="any")
    check({"type": "number", "multipleOf": 1.7777, "exclusiveMinimum": 0, "maximum": 4}, [1.7777, 3.5554], [0, 1])


def test_divisors_that_others_imply_are_not_counted() -> None:
    check({"type": "integer", "allOf": [{"multipleOf": n} for n in (1024, 2, 64, 8)]}, [2048, 0], [1023, 64])
    check({"type": "integer", "multipleOf": 24, "not": {"multipleOf": 8}}, [], [24, 8, 0])
    apart = {"type": "integer", "allOf": [{"not": {"multipleOf": n}} for n in (8, 800, 8)]}
    check(apart, [4, 801], [8, 0, 1600])
