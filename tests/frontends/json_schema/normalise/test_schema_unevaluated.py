"""`unevaluatedProperties` and `unevaluatedItems`: what counts as seen, through every applicator."""

from __future__ import annotations

from typing import Any

import pytest

from frontends.json_schema.checking import check

A: Any = {"properties": {"a": {"type": "integer"}}}
B: Any = {"properties": {"b": {"type": "integer"}}}
CLOSED: Any = {"unevaluatedProperties": False}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({**A, **CLOSED}, [{}, {"a": 1}, 3], [{"x": 1}, {"a": "s"}]),
        ({**CLOSED, "patternProperties": {"^x": True}}, [{"x": 1}, {"xy": 1}], [{"a": 1}]),
        ({"allOf": [A, B], **CLOSED}, [{"a": 1, "b": 1}], [{"x": 1}, {"a": 1, "x": 1}]),
        ({"allOf": [{**A, "additionalProperties": True}], **CLOSED}, [{"x": 1}], [{"a": "s"}]),
        ({"anyOf": [A, B], **CLOSED}, [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}], [{"x": 1}, {"a": "s", "b": "s"}]),
        (
            {"anyOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **CLOSED},
            [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
            [{}, {"a": 1, "b": "s"}, {"a": 1, "x": 1}],
        ),
        (
            {"oneOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **CLOSED},
            [{"a": 1}, {"b": 1}],
            [{"a": 1, "b": 1}, {}],
        ),
        (
            {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": B, **CLOSED},
            [{"a": 1}, {"a": 1, "b": 2}, {}],
            [{"b": 1}, {"a": 2}, {"a": 1, "x": 1}],
        ),
        ({"not": {"required": ["x"], "properties": {"x": True}}, **CLOSED}, [{}], [{"x": 1}, {"y": 1}]),
        ({"not": {"not": A}, **CLOSED}, [{}], [{"a": 1}]),
        ({**A, "dependentSchemas": {"a": B}, **CLOSED}, [{"a": 1, "b": 1}, {"a": 1}], [{"b": 1}, {"a": 1, "x": 1}]),
        ({"$ref": "#/$defs/a", "$defs": {"a": A}, **B, **CLOSED}, [{"a": 1, "b": 1}], [{"x": 1}]),
        ({"allOf": [{**A, "unevaluatedProperties": True}], **CLOSED}, [{"x": 1}, {"a": 1}], [{"a": "s"}]),
        ({"allOf": [A], "unevaluatedProperties": {"type": "null"}}, [{"a": 1, "x": None}], [{"x": 1}, {"a": None}]),
    ],
    ids=str,
)
def test_properties(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


FULL: Any = {"unevaluatedItems": False}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"prefixItems": [True], **FULL}, [[], [1], {}], [[1, 2]]),
        ({"allOf": [{"prefixItems": [True, {"type": "null"}]}], **FULL}, [[1], [1, None]], [[1, 2], [1, None, 1]]),
        ({"allOf": [{"items": {"type": "null"}}], **FULL}, [[None, None]], [[1]]),
        (
            {"anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, {"const": 2}]}], **FULL},
            [[1], [1, 2], [3, 2]],
            [[1, 3], [3, 3], [1, 2, 3]],
        ),
        (
            {"prefixItems": [True], "contains": {"type": "string"}, **FULL},
            [["a"], [1, "a", "b"]],
            [[1], [1, 2], [1, "a", 2]],
        ),
        ({"contains": {"type": "string"}, "minContains": 0, **FULL}, [[], ["a"], ["a", "b"]], [[1], ["a", 1]]),
        ({"allOf": [{"contains": {"type": "string"}}], **FULL}, [["a"]], [[], [1], ["a", 1]]),
    ],
    ids=str,
)
def test_items(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


def test_in_2019_contains_sees_nothing() -> None:
    draft = {"$schema": "https://json-schema.org/draft/2019-09/schema"}
    check({**draft, "contains": {"type": "string"}, **FULL}, [{}], [["a"], ["a", 1]])
