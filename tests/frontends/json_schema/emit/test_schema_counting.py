"""`contains`, `uniqueItems`, `minProperties`, `maxProperties`: what is counted, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from frontends.json_schema.checking import check, check_texts
from maskwright.errors import UnsupportedSchemaError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir

ONE: Any = {"const": "x"}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"contains": ONE}, [["x"], [1, "x"], ["x", 1], ["x", "x"], {}], [[], [1], [1, 2, "y"]]),
        ({"contains": ONE, "minContains": 2}, [["x", "x"], [1, "x", 2, "x", 3]], [[], ["x"], [1, "x", 2]]),
        ({"contains": ONE, "maxContains": 1}, [["x"], [1, "x", 2]], [[], [1], ["x", "x"], [1, "x", 2, "x"]]),
        ({"contains": ONE, "minContains": 0, "maxContains": 1}, [[], [1], ["x", 1]], [["x", "x"]]),
        ({"contains": ONE, "minContains": 0}, [[], [1], ["x", "x"]], []),
        ({"contains": ONE, "minContains": 2, "maxContains": 1}, [{}], [[], ["x"], ["x", "x"]]),
        ({"contains": True}, [[1], [1, 2]], [[]]),
        ({"contains": False}, ["a"], [[], [1]]),
        ({"contains": ONE, "maxItems": 2, "items": {"type": "string"}}, [["x"], ["a", "x"]], [["a"], ["a", "b", "x"]]),
        ({"contains": ONE, "prefixItems": [{"type": "null"}]}, [[None, "x"], [None, 1, "x"]], [[None], ["x"]]),
        (
            {"allOf": [{"contains": ONE}, {"contains": {"type": "null"}}]},
            [["x", None], [None, 1, "x"]],
            [["x"], [None]],
        ),
        ({"contains": ONE, "minItems": 3}, [["x", 1, 2], [1, 2, 3, "x"]], [["x", 1], [1, 2, 3], []]),
        (
            {"contains": ONE, "minContains": 2, "maxContains": 3, "minItems": 3, "maxItems": 4},
            [["x", "x", 1], [1, 2, "x", "x"], ["x", "x", "x", 1]],
            [["x", "x"], [1, 2, "x"], ["x", "x", "x", "x"], ["x", "x", 1, 2, 3], [1, 2, 3, "x"]],
        ),
        (
            {"allOf": [{"contains": ONE}, {"contains": {"type": "null"}}], "maxItems": 3, "prefixItems": [{}]},
            [["x", None], [1, None, "x"], [None, "x", 3]],
            [["x", 1, 2], [1, 2, None], [1, 2, "x", None]],
        ),
        ({"not": {"contains": ONE}}, [[], [1]], [["x"], [1, "x"], {}]),
        ({"not": {"items": ONE}}, [[1], ["x", 1, "x"]], [[], ["x"], ["x", "x"], 1]),
        ({"not": {"prefixItems": [True], "items": ONE}}, [[1, 1], [1, "x", 2]], [[], [1], [1, "x"]]),
    ],
    ids=str,
)
def test_contains(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


def test_bounds_beside_contains_may_be_large() -> None:
    schema = {"contains": ONE, "minContains": 3, "maxContains": 20, "minItems": 2, "maxItems": 1000}
    check(schema, [["x"] * 3, ["x"] * 20 + [1] * 20], [["x"] * 2, ["x"] * 21])
    assert len(schema_to_ir(schema).rules) < 100


def test_unique_items_out_of_finite_sets() -> None:
    schema = {"type": "array", "items": {"enum": ["a", 1, True, None]}, "uniqueItems": True}
    check(schema, [[], ["a"], [None, True, 1, "a"], [1, True]], [["a", "a"], [1, "a", 1], ["b"], [None, 1, None]])
    check_texts({**schema, "maxItems": 2}, ["[1, true]", "[1.0]"], ["[1, 1.0]", "[1, true, null]"], numbers="any")
    mixed = {"prefixItems": [{"const": "a"}, {"enum": ["a", "b"]}], "items": {"enum": ["b", "c"]}, "uniqueItems": True}
    check(mixed, [["a", "b", "c"], ["a"]], [["a", "a"], ["a", "b", "b"], ["a", "b", "c", "c"]])
    check({"type": "array", "items": {"type": "boolean"}, "uniqueItems": True}, [[True, False]], [[True, True]])


def test_many_different_items() -> None:
    numbers = list(range(40))
    check({"items": {"enum": numbers}, "uniqueItems": True}, [[], numbers, numbers[::-1]], [[*numbers, 7], [3, 3]])
    bounded = {"items": {"enum": numbers}, "uniqueItems": True, "minItems": 2, "maxItems": 3}
    check(bounded, [[1, 2], [7, 0, 39]], [[], [1], [1, 1], [1, 2, 3, 4]])


def test_unique_items_and_contains() -> None:
    schema = {"items": {"enum": [1, 2, "x"]}, "contains": ONE, "uniqueItems": True, "type": "array"}
    check(schema, [["x"], [1, "x", 2]], [[], [1, 2], ["x", "x"]])


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"maxItems": 2}, "uniqueItems": True},
        {"items": {"type": ["string", "object"], "maxProperties": 2}, "uniqueItems": True},
        {"prefixItems": [{"type": "string", "maxLength": 1}], "uniqueItems": True},
        {"items": {"enum": list(range(40))}, "contains": {"const": 3}, "uniqueItems": True},
        {"contains": ONE, "minContains": 5000},
        {"contains": ONE, "minContains": 5000, "maxItems": 9000},
        {"contains": ONE, "maxItems": 1 << 70},
    ],
    ids=lambda schema: str(schema)[:60],
)
def test_what_is_not_finite_or_too_large_is_refused(schema: Any) -> None:
    with pytest.raises(UnsupportedSchemaError):
        schema_to_ir(schema)


CLOSED: Any = {"properties": {name: {"type": "integer"} for name in "abcd"}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({**CLOSED, "minProperties": 2}, [{"a": 1, "c": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}], [{}, {"a": 1}]),
        ({**CLOSED, "maxProperties": 2}, [{}, {"d": 1}, {"a": 1, "d": 1}], [{"a": 1, "b": 1, "c": 1}]),
        ({**CLOSED, "minProperties": 2, "maxProperties": 2}, [{"b": 1, "c": 1}], [{"b": 1}, {"a": 1, "b": 1, "c": 1}]),
        (
            {**CLOSED, "required": ["b"], "minProperties": 2, "maxProperties": 3},
            [{"a": 1, "b": 1}, {"b": 1, "c": 1, "d": 1}],
            [{"b": 1}, {"a": 1, "c": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}],
        ),
        ({"maxProperties": 2}, [{}, {"x": 1}, {"x": 1, "y": 2}], [{"x": 1, "y": 2, "z": 3}]),
        (
            {"properties": {"a": {}}, "maxProperties": 2},
            [{"a": 1, "x": 1}, {"x": 1, "y": 1}],
            [{"a": 1, "x": 1, "y": 1}, {"x": 1, "y": 1, "z": 1}],
        ),
        ({"required": ["a"], "minProperties": 2}, [{"a": 1, "x": 1}, {"a": 1, "x": 1, "y": 1}], [{"a": 1}, {"x": 1}]),
    ],
    ids=str,
)
def test_numbers_of_members(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check({"type": "object", **schema}, valid, invalid)


def test_one_name_twice_is_one_member() -> None:
    check_texts({"required": ["a"], "minProperties": 2}, ['{"a": 1, "b": 1}'], ['{"a": 1}', '{"a": 1, "a": 1}'])
    check_texts(
        {"minProperties": 2},
        ['{"a": 1, "b": 1}', '{"é": {}, "a\\nb": [], "": 1}'],
        [
            '{"a": 1}',
            '{"a": 1, "a": 2}',
            '{"a": 1, "\\u0061": 2}',
            '{"a\\nb": 1, "a\\u000ab": 2}',
            '{"/": 1, "\\/": 1}',
        ],
    )


@pytest.mark.parametrize(
    ("rules", "pointer"),
    [
        ([{"minProperties": 3}, {"required": ["a"]}], "/allOf/0/minProperties"),
        ([{"minProperties": 2}, {"minProperties": 3}], "/allOf/1/minProperties"),
        ([{"minProperties": 3}, {"maxProperties": 9}], "/allOf/0/minProperties"),
        ([{"minProperties": 3}, {"not": {"minProperties": 9}}], "/allOf/0/minProperties"),
    ],
    ids=str,
)
def test_a_count_is_refused_where_it_is_asked_for(rules: list[Any], pointer: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as refused:
        schema_to_ir({"type": "object", "allOf": rules, "additionalProperties": {"$ref": "#"}})
    assert refused.value.pointer == pointer


def test_what_is_left_out_leaves_the_other_bound() -> None:
    schema = {"type": "object", "minProperties": 2, "maxProperties": 3, "additionalProperties": {"$ref": "#"}}
    valid, invalid = ['{"a": {}}', '{"a": {}, "b": {}}'], ['{"a": {}, "b": {}, "c": {}, "d": {}}']
    check_texts(schema, valid, invalid, on_unsupported="relax")
    report: list[Finding] = []
    schema_to_ir(schema, JsonSchemaOptions(on_unsupported="relax"), report)
    assert [finding.pointer for finding in report] == ["/minProperties"]
