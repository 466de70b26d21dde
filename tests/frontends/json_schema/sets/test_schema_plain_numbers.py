"""Numbers as they are usually written: what every reader of JSON gives back as the same value, of the same type."""

from __future__ import annotations

import json
import math
import random
import struct
import sys
from decimal import Decimal
from typing import Any

import pytest

from frontends.json_schema.checking import check_texts
from frontends.json_schema.grammar_matcher import accepts_text
from maskwright.errors import OptionError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.sets.doubles import DOUBLE_TEXT, SAFE_INTEGER, SAFE_INTEGER_TEXT
from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.ir import Expr

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def javascript(value: float) -> str:
    """As `JSON.stringify` writes a finite double (ECMA-262, Number::toString)."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, point = "".join(map(str, digits)), len(digits) + exponent
    minus = "-" if sign else ""
    if len(text) <= point <= 21:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return minus + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return minus + "0." + "0" * -point + text
    fraction = "." + text[1:] if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{point - 1:+d}"


def doubles(count: int) -> list[float]:
    rng = random.Random(3)
    found = [0.0, -0.0, 5e-324, sys.float_info.min, sys.float_info.max, 1e16, 1e21, 1e22, 0.1, 1e-5, 1e-7, 2.0**53]
    found += [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(count)]
    found += [rng.uniform(-1, 1) * 10 ** rng.randint(-8, 25) for _ in range(count)]
    found += [round(rng.uniform(-1000, 1000), rng.randint(0, 4)) for _ in range(count)]
    return [value for value in found if math.isfinite(value)]


def test_all_that_is_written_of_doubles_is_there() -> None:
    for value in doubles(1000):
        for text in (json.dumps(value), javascript(value)):
            assert matches(DOUBLE_TEXT, text.encode()), text


def test_what_is_read_is_the_same_value() -> None:
    assert javascript(1e21) == "1e+21"
    assert javascript(123456789012345680000.0) == "123456789012345680000"
    texts = ["1e999", "-1e309", "1.8e308", "1.7976931348623158e308", "1e-999", "4e-324", "1e-324", "3." + "1" * 17]
    texts += [
        "0." + "12" * 9,
        "1" * 18,
        "1" + "0" * 21,
        "0." + "0" * 21,
        "00",
        "01",
        "1.",
        ".5",
        "+1",
        "e1",
        "1e",
    ]
    assert [text for text in texts if matches(DOUBLE_TEXT, text.encode())] == []


def samples(expr: Expr, alphabet: bytes, count: int) -> list[str]:
    """Texts of an expression, by random walks over its derivatives."""
    from maskwright.frontends.derivatives import derivative, nullable
    from maskwright.ir import OP_NEVER

    rng = random.Random(5)
    found = []
    for _ in range(count):
        text, at = b"", expr
        for _ in range(60):
            ways = [byte for byte in alphabet if derivative(at, byte)[0] != OP_NEVER]
            if not ways or (nullable(at) and rng.random() < 0.1):
                break
            byte = rng.choice(ways)
            text, at = text + bytes([byte]), derivative(at, byte)
        if nullable(at):
            found.append(text.decode())
    return found


def test_all_that_is_there_is_read_as_a_double_of_these_digits() -> None:
    for text in samples(DOUBLE_TEXT, b"-+.eE0123456789", 1500) + samples(DOUBLE_TEXT, b"1.e+308", 500):
        assert float(json.loads(text)) == float(text)
        value, digits = float(text), Decimal(text).normalize().as_tuple().digits
        assert math.isfinite(value)
        assert len(digits) <= 17, text
        assert value == 0 or abs(Decimal(value) / Decimal(text) - 1) <= Decimal(2) ** -53 or abs(value) < 2.3e-308, text
        assert (value == 0) == (Decimal(text) == 0), text


def test_integers_are_safe_ones_in_digits() -> None:
    rng = random.Random(4)
    for value in (
        0,
        1,
        -1,
        10,
        SAFE_INTEGER,
        -SAFE_INTEGER,
        *[rng.randint(-SAFE_INTEGER, SAFE_INTEGER) for _ in range(300)],
    ):
        assert matches(SAFE_INTEGER_TEXT, str(value).encode())
    for text in ("-0", "1.0", "1e0", "00", "01", "", "-", str(2**53), str(-(2**53)), "1" * 17, "9" * 16):
        assert not matches(SAFE_INTEGER_TEXT, text.encode()), text


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, ["0", "-7", "123"], ["1.0", "1e0", "1e999", "-0", "9007199254740992"]),
        ({"type": "integer", "minimum": 1}, ["1", str(SAFE_INTEGER)], ["0", "1.0", "9007199254740992"]),
        ({"type": "integer", "minimum": -3, "maximum": 5}, ["-3", "0", "5"], ["-0", "5.0", "6"]),
        ({"type": "integer", "maximum": 2**63 - 1}, [str(2**63 - 1), str(-(10**30))], [str(2**63), "1.0"]),
        ({"type": "integer", "minimum": 2**53}, [str(2**53), "1" + "0" * 40], [str(2**53 - 1), "1e20"]),
        ({"type": "integer", "exclusiveMinimum": 2**53 - 1}, [str(2**53), "1" + "0" * 40], [str(2**53 - 1)]),
        ({"type": "integer", "exclusiveMaximum": 1 - 2**53}, [str(-(2**53))], [str(1 - 2**53)]),
        ({"type": "integer", "multipleOf": 5}, ["0", "-15", "10"], ["10.0", "12", "1" + "0" * 16]),
        ({"type": "integer", "multipleOf": 7}, ["0", "-14", "700000000000007"], ["7.0", "12", "7" * 18]),
        ({"type": "number"}, ["0", "-0.0", "1.50", "12", "1E-3", "6.02e+23"], ["1e999", "12e3", "0e5", "01"]),
        ({"type": "number", "minimum": 0}, ["0", "0.0", "3.25", "1e-7", "1e+300"], ["-1", "1e999", "0." + "3" * 18]),
        ({"minimum": 0, "maximum": 1}, ["0", "0.5", "1.0", "2e-5"], ["1.1", "0." + "3" * 18, "1e-400"]),
        ({"type": "number", "maximum": 10**60}, ["1" + "0" * 60, "1e60"], ["2" + "0" * 60]),
        ({"type": "number", "multipleOf": 0.01}, ["0.25", "3", "3.0"], ["0.255", "0." + "0" * 30]),
        ({"type": "number", "multipleOf": 1}, ["3", "3.0", "10"], ["3.5", "3." + "0" * 22]),
        ({"type": "number", "multipleOf": 0.3}, ["0.9", "3", "3.0", "-1.20"], ["1", "3" * 25, "0.3" + "0" * 20]),
        ({"type": "number", "not": {"type": "integer"}}, ["0.5", "-3.25"], ["1.0", "2", "0." + "3" * 18]),
        ({"type": ["integer", "string"]}, ["1", '"1"'], ["1.0"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["1", "null"], ["1.0"]),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, ["1", "1.0"], ["1e999"]),
        ({}, ["1", "1.0", "[1.5, 2]"], ["1e999", "[1e999]", '{"a": 1e999}']),
        ({"items": {"type": "integer"}, "uniqueItems": True, "maxItems": 1}, ["[1]"], ["[1.0]"]),
        ({"type": "array", "contains": {"type": "integer"}, "items": {"type": "number"}}, ["[0.5, 1]"], ["[0.5]"]),
        ({"patternProperties": {"^a": {"type": "integer"}}}, ['{"a": 1}'], ['{"a": 1.0}']),
    ],
    ids=str,
)  # fmt: skip
def test_plain_numbers(schema: Any, right: list[str], wrong: list[str]) -> None:
    check_texts(schema, right, wrong)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"const": 2}, ["2"], ["2.0", "2.00", "2e0"]),
        ({"const": 2.0}, ["2.0"], ["2", "2.00"]),
        ({"type": "integer", "const": 2.0}, ["2"], ["2.0"]),
        ({"type": "number", "enum": [0, 0.5, 1]}, ["0", "0.5", "1"], ["0.0", "1.0", "-0", "0.50"]),
        ({"enum": [0.0]}, ["0.0", "-0.0"], ["0", "-0"]),
        ({"const": 1e-7}, ["1e-07", "1e-7", "0.0000001"], ["1E-7"]),
        ({"const": 1e300}, ["1e+300"], ["1" + "0" * 300]),
        ({"const": 2**70}, [str(2**70)], [f"{2**70}.0"]),
        ('{"const": 0.12345678901234567890123}', ["0.12345678901234567890123"], ["0.12345678901234568"]),
        ('{"enum": [1e3]}', ["1000.0"], ["1000", "1e3"]),
        ({"enum": [[1, 2.0]]}, ["[1, 2.0]"], ["[1.0, 2.0]", "[1, 2]"]),
        ({"enum": [{"a": 1}]}, ['{"a": 1}'], ['{"a": 1.0}']),
        ({"items": {"enum": [1, 2.5]}, "uniqueItems": True}, ["[2.5, 1]"], ["[1.0]", "[1, 1]"]),
        ({"items": {"type": "integer", "enum": [1.0, 2.0]}, "uniqueItems": True}, ["[2, 1]"], ["[1.0]", "[1, 1]"]),
        ({"type": "integer", "multipleOf": 100_003, "minimum": 1, "maximum": 300_000}, ["200006"], ["200006.0"]),
        ({"multipleOf": 100_003.0, "minimum": 1, "maximum": 300_000}, ["200006", "200006.0"], ["200007"]),
    ],
    ids=str,
)  # fmt: skip
def test_values_are_written_in_their_type(schema: Any, right: list[str], wrong: list[str]) -> None:
    check_texts(schema, right, wrong)


@pytest.mark.parametrize("numbers", ["plain", "digits", "any"])
def test_in_draft_4_an_integer_is_written_as_one(numbers: str) -> None:
    for schema, right, wrong in [
        ({"type": "integer"}, ["1", "-12"], ["1.0", "1e0", "1.5"]),
        ({"type": "integer", "minimum": 3}, ["3", "20"], ["3.0", "2"]),
        ({"type": "integer", "multipleOf": 3}, ["3", "-21"], ["3.0", "4"]),
        ({"type": "integer", "enum": [1.0, 2]}, ["1", "2"], ["1.0", "2.0"]),
        ({"type": "number", "not": {"type": "integer"}}, ["1.0", "1.5", "1e3"], ["1"]),
        ({"type": "number", "not": {"type": "integer", "enum": [1, 2]}}, ["1.0", "3", "1.5"], ["1", "2"]),
        ({"type": "number", "not": {"type": "integer", "minimum": 5}}, ["5.0", "3", "7.5"], ["5", "9"]),
        ({"type": "number", "not": {"type": "integer"}, "multipleOf": 3}, ["3.0", "-6.0"], ["3", "3.5"]),
        ({"type": "number", "not": {"type": "integer"}, "enum": [1.0]}, ["1.0"], ["1"]),
        ({"type": "array", "items": {"type": "integer"}}, ["[1]"], ["[1.0]"]),
        ({"items": {"type": "integer", "enum": [1, 2]}, "uniqueItems": True}, ["[2, 1]"], ["[1.0]", "[1, 1]"]),
        ({"type": ["integer", "null"]}, ["1", "null"], ["1.0"]),
        ({"properties": {"n": {"type": "integer"}}}, ['{"n": 1}'], ['{"n": 1.0}']),
    ]:
        check_texts({"$schema": DRAFT_4, **schema}, right, wrong, numbers=numbers)


def test_digits_have_integers_of_any_length_and_no_other_spelling() -> None:
    check_texts({"type": "integer"}, ["1", "-12", str(2**70)], ["1.0", "1e3", "1.5", "-0"], numbers="digits")
    check_texts({"type": "integer", "minimum": 3}, ["3", str(2**70)], ["2", "3.0"], numbers="digits")
    check_texts({"type": "integer", "maximum": 3}, ["3", str(-(2**70))], ["4", "3.0"], numbers="digits")
    check_texts({"type": "integer", "multipleOf": 7}, ["7", str(7 * 2**70)], ["8", "7.0"], numbers="digits")
    check_texts({"type": "number"}, ["1e999", "12e3", "0." + "1" * 40, str(2**70)], ["01"], numbers="digits")
    check_texts({"type": "number", "minimum": 0.5}, ["0.5", "1e999", "0." + "9" * 40], ["0.4"], numbers="digits")
    check_texts({"enum": [1, 2.0]}, ["1", "2.0"], ["1.0", "2"], numbers="digits")
    check_texts({"type": "array", "items": {"type": "integer"}}, [f"[{2**70}]"], ["[1.0]"], numbers="digits")
    check_texts({"properties": {"n": {}}}, [f'{{"n": {2**70}}}', '{"n": 1e999}'], ['{"n": 01}'], numbers="digits")


def test_any_has_all_spellings() -> None:
    check_texts({"type": "integer"}, ["1", "1.0", "1e3", "-0", str(2**70)], ["1.5"], numbers="any")
    check_texts({"type": "number"}, ["1e999", "-0", "12e3", "0." + "1" * 40], ["01"], numbers="any")
    check_texts({"enum": [1, 2.0]}, ["1", "1.0", "2", "2.00"], ["1.5"], numbers="any")


@pytest.mark.parametrize(
    ("schema", "only_any"),
    [
        ({"type": "integer", "minimum": 17}, "17.0"),
        ({"const": 4.0}, "4"),
        ({"$schema": DRAFT_4, "type": "integer"}, str(2**53)),
        ({"$schema": DRAFT_4, "properties": {"n": {"type": "integer"}}}, f'{{"n": {2**53}}}'),
    ],
    ids=str,
)
def test_the_ways_do_not_share_what_is_kept(schema: Any, only_any: str) -> None:
    ways = [schema_to_ir(schema, JsonSchemaOptions(numbers=numbers)) for numbers in ("plain", "any", "plain", "any")]
    assert [accepts_text(grammar, only_any) for grammar in ways] == [False, True] * 2
    digits = schema_to_ir(schema, JsonSchemaOptions(numbers="digits"))
    assert accepts_text(digits, only_any) == (str(2**53) in only_any)


def test_another_way_is_an_error() -> None:
    with pytest.raises(OptionError, match='numbers must be "plain", "digits" or "any", not \'exact\''):
        JsonSchemaOptions(numbers="exact")  # type: ignore[arg-type]
