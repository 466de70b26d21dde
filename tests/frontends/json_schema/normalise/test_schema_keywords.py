"""Each keyword: what it admits, what it does not, and what is malformed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from frontends.json_schema.checking import check
from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir

SAMPLES: list[Any] = [None, True, False, 0, -1, 1.5, "", "a", "é\n", [], [1], {}, {"a": 1}]

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    (True, SAMPLES, []),
    ({}, SAMPLES, []),
    (False, [], SAMPLES),
    ({"type": "null"}, [None], SAMPLES[1:]),
    ({"type": "boolean"}, [True, False], [None, 0, "", [], {}]),
    ({"type": "integer"}, [0, -1, 10**30], [1.5, "1", True]),
    ({"type": ["integer", "number"]}, [0, 1.5], ["1"]),
    ({"type": ["string", "null"]}, ["", None], [0, []]),
    ({"minLength": 2.0}, ["ab", 5, None, [], {}], ["", "a"]),
    ({"maxLength": 1}, ["", "a", "é", "😀", "\n", 5], ["ab"]),
    ({"minLength": 1, "maxLength": 2, "type": "string"}, ["a", "ab"], ["", "abc", 1]),
    ({"pattern": "b"}, ["b", "abc", 3], ["", "ac"]),
    ({"pattern": "^b$"}, ["b"], ["ab", "ba", ""]),
    ({"pattern": "^a+$", "maxLength": 2, "type": "string"}, ["a", "aa"], ["", "aaa", "b"]),
    ({"minimum": 3}, [3, 3.5, 100, "x", None], [2, 2.99, -3]),
    ({"maximum": Decimal("0.3")}, [0.3, 0.29, -7, 0], [0.31, 1, 0.30001]),
    ({"exclusiveMinimum": 0}, [1, 0.001, 1e-7], [0, -1]),
    ({"minimum": 2, "exclusiveMinimum": True}, [3, 2.1], [2, 1]),
    ({"maximum": 2, "exclusiveMaximum": False}, [2, 1], [2.1, 3]),
    ({"exclusiveMinimum": True}, [2, "x"], []),
    ({"type": "integer", "minimum": -5, "maximum": 12}, list(range(-5, 13)), [-6, 13, 100, 3.5]),
    ({"multipleOf": 0.5}, [0, 1, 2.5, -0.5], [0.25, 1.1]),
    ({"multipleOf": 5, "minimum": 7}, [10, 15, 100], [5, 7, 12]),
    ({"type": "integer", "multipleOf": 1000000}, [0, 5000000], [1, 500000]),
    (
        {"enum": [1, "a", None, True, [1, "x"], {"k": [2]}]},
        [1, "a", None, True, [1, "x"], {"k": [2]}],
        [0, False, [1], {}],
    ),
    ({"enum": ["a", 1], "type": "string"}, ["a"], [1]),
    ({"enum": ["a", "abc", "b"], "pattern": "a", "maxLength": 2}, ["a"], ["abc", "b"]),
    ({"enum": [1, 5, 2.5], "type": "integer", "minimum": 2}, [5], [1, 2.5]),
    ({"enum": [[1], [1, 2], {"a": 1}], "maxItems": 1, "maxProperties": 0}, [[1]], [[1, 2], {"a": 1}]),
    ({"enum": ["2020-01-01", "2020-02-30"], "format": "date"}, ["2020-01-01"], ["2020-02-30"]),
    ({"const": False}, [False], [0, True]),
    ({"const": 9007199254740993}, [9007199254740993], [9007199254740992]),
    ({"const": 2.0}, [2, 2.0], [3]),
    ({"items": {"type": "null"}}, [[], [None, None], 3], [[1]]),
    ({"items": False}, [[], "x"], [[1]]),
    ({"items": [{"type": "null"}, {"type": "string"}]}, [[], [None], [None, "a"], [None, "a", 5]], [[1], [None, 1]]),
    ({"items": [{"type": "null"}], "additionalItems": False}, [[], [None]], [[None, 1]]),
    ({"prefixItems": [{"const": 1}], "items": {"const": 2}}, [[], [1], [1, 2, 2]], [[2], [1, 1]]),
    ({"prefixItems": [{"const": 1}, False]}, [[], [1]], [[1, 1]]),
    (
        {"prefixItems": [{"const": 1}, {"const": 2}], "minItems": 2, "maxItems": 3},
        [[1, 2], [1, 2, 0]],
        [[1], [1, 2, 0, 0]],
    ),
    ({"minItems": 2, "maxItems": 3}, [[1, 2], [1, 2, 3]], [[], [1], [1, 2, 3, 4]]),
    ({"maxItems": 0}, [[]], [[1]]),
    ({"uniqueItems": True, "maxItems": 1}, [[], [1]], [[1, 1]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"contains": {}, "minContains": 2}, [[1, 2]], [[1]]),
    ({"contains": {"const": 1}, "minContains": 0}, [[], [2]], []),
    ({"unevaluatedItems": False, "prefixItems": [True]}, [[], [1]], [[1, 1]]),
    ({"allOf": [{"minLength": 1}, {"maxLength": 2}, {"type": "string"}]}, ["a", "ab"], ["", "abc", 1]),
    ({"allOf": [{"type": "string"}, {"type": "number"}]}, [], ["a", 1]),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, ["a", 3, None], [2]),
    ({"type": "string", "anyOf": [{"maxLength": 2}, {"const": "abc"}, {"type": "null"}]}, ["ab", "abc"], ["abd", None]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES, ids=[str(c[0])[:70] for c in CASES])
def test_keyword(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid, numbers="any")


MALFORMED: list[tuple[Any, str]] = [
    ({"type": "strng"}, "/type"),
    ({"type": "any"}, "/type"),
    ({"type": ""}, "/type"),
    ({"properties": {1: {}}}, "/properties"),
    ({"type": []}, "/type"),
    ({"type": ["string", 3]}, "/type"),
    ({"type": {"a": 1}}, "/type"),
    ({"minLength": -1}, "/minLength"),
    ({"minLength": 1.5}, "/minLength"),
    ({"maxLength": True}, "/maxLength"),
    ({"maxLength": float("inf")}, "/maxLength"),
    ({"minimum": "3"}, "/minimum"),
    ({"multipleOf": 0}, "/multipleOf"),
    ({"pattern": 3}, "/pattern"),
    ({"format": 3}, "/format"),
    ({"enum": 3}, "/enum"),
    ({"enum": [{1, 2}]}, "/enum"),
    ({"const": float("nan")}, "/const"),
    ({"properties": []}, "/properties"),
    ({"properties": {"a/b": 3}}, "/properties/a~1b"),
    ({"properties": {"a": {"items": {"type": "x"}}}}, "/properties/a/items/type"),
    ({"required": "a"}, "/required"),
    ({"required": [1]}, "/required"),
    ({"patternProperties": 1}, "/patternProperties"),
    ({"dependentRequired": {"a": "b"}}, "/dependentRequired"),
    ({"prefixItems": {}}, "/prefixItems"),
    ({"prefixItems": [1]}, "/prefixItems/0"),
    ({"items": [True], "prefixItems": [True]}, "/items"),
    ({"uniqueItems": 1}, "/uniqueItems"),
    ({"allOf": []}, "/allOf"),
    ({"anyOf": {}}, "/anyOf"),
    ({"oneOf": [3]}, "/oneOf/0"),
    ({"not": 3}, "/not"),
]


@pytest.mark.parametrize(("schema", "pointer"), MALFORMED, ids=[str(c[0]) for c in MALFORMED])
def test_malformed_schemas_are_errors_at_their_place(schema: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_to_ir(schema)
    assert not isinstance(caught.value, UnsupportedSchemaError)
    assert caught.value.pointer == pointer
    assert caught.value.hint


UNSUPPORTED: list[tuple[Any, str]] = [
    ({"uniqueItems": True, "items": {"maxProperties": 1}}, "/uniqueItems"),
    ({"properties": {"a": {"contains": {"const": 1}, "minContains": 99999}}}, "/properties/a/contains"),
    ({"not": {"multipleOf": 0.123456789}}, "/not/multipleOf"),
    ({"multipleOf": 123456789012345678901}, "/multipleOf"),
    ({"pattern": "(?:(?=.*b)a)*"}, "/pattern"),
    ({"minProperties": 3, "additionalProperties": {"$ref": "#"}}, "/minProperties"),
    ({"not": {"uniqueItems": True}}, "/not"),
]


@pytest.mark.parametrize(("schema", "pointer"), UNSUPPORTED, ids=[str(c[0]) for c in UNSUPPORTED])
def test_what_cannot_be_enforced_is_refused_or_reported(schema: Any, pointer: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_ir(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, pointer.rsplit("/", 1)[1])
    assert caught.value.hint
    report: list[Finding] = []
    if caught.value.keyword != "pattern":
        schema_to_ir(schema, JsonSchemaOptions(on_unsupported="relax"), report)
        assert [(f.pointer, f.outcome) for f in report] == [(pointer, "relaxed")]


def test_a_refused_keyword_of_another_type_does_no_harm() -> None:
    check({"type": "string", "uniqueItems": True, "minProperties": 5}, ["a"], [1, []])


def test_unknown_formats_are_reported_annotations() -> None:
    report: list[Finding] = []
    schema_to_ir({"items": {"format": "colour"}}, report=report)
    assert [(f.pointer, f.outcome) for f in report] == [("/items/format", "annotation")]


def test_keywords_of_later_drafts_are_annotations() -> None:
    draft4 = "http://json-schema.org/draft-04/schema#"
    check({"$schema": draft4, "const": 1, "enum": [2, [3], {"a": 4}]}, [2, [3], {"a": 4}], [1, [4], {"a": 3}])
    check(
        {"$schema": draft4, "definitions": {"a": {"type": "null"}}, "$ref": "#/definitions/a", "type": "string"},
        [None],
        ["a"],
    )


def test_recursion_at_the_same_instance_is_an_error() -> None:
    for schema in (
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "items": {"$ref": "#/$defs/a"}},
    ):
        with pytest.raises(SchemaError):
            schema_to_ir(schema)


def test_nesting_and_combining_have_limits() -> None:
    deep: Any = {"type": "string"}
    for _ in range(3000):
        deep = {"allOf": [deep]}
    with pytest.raises(LimitError):
        schema_to_ir(deep)
    explosive: Any = {"type": "string"}
    for _ in range(14):
        explosive = {"oneOf": [explosive, {"type": "object", "properties": {"a": explosive}, "required": ["a"]}]}
    with pytest.raises((LimitError, UnsupportedSchemaError)):
        schema_to_ir(explosive)


def test_schemas_as_text_keep_their_numbers() -> None:
    for text, fragment in (('{"a": ', "is not valid JSON"), ("3", "object or a boolean"), ('{"minimum": NaN}', "NaN")):
        with pytest.raises(SchemaError, match=fragment):
            schema_to_ir(text)
    assert schema_to_ir('{"const": 0.1000000000000000000001}').rules[-1].body[1] == b"0.1000000000000000000001"
    assert schema_to_ir(b'{"type": "null"}') == schema_to_ir({"type": "null"})
    with pytest.raises(LimitError):
        schema_to_ir('{"minimum": 1' + "0" * 2000 + "}")
    for exponent in ("9" * 30, "-" + "9" * 30):  # beyond what decimal reads
        with pytest.raises(LimitError):
            schema_to_ir('{"minimum": 1e' + exponent + "}")
    with pytest.raises(LimitError):
        schema_to_ir("[" * 100_000)


@pytest.mark.parametrize(
    ("schema", "said", "hint"),
    [
        ({"uniqueItems": "true"}, "uniqueItems must be a boolean, not 'true'", "write true without quotes"),
        ({"minItems": "3"}, "minItems must be an integer >= 0, not '3'", "write 3 without quotes"),
        ({"minimum": "-1.5"}, "minimum must be a number, not '-1.5'", "write -1.5 without quotes"),
        ({"minItems": None}, "minItems must be an integer >= 0, not null", "write an integer >= 0"),
        ({"enum": True}, "enum must be an array, not true", "write an array"),
    ],
)
def test_values_of_the_wrong_type_are_shown_as_json(schema: dict[str, Any], said: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_to_ir(schema)
    assert (caught.value.message.endswith(said), caught.value.hint) == (True, hint)
