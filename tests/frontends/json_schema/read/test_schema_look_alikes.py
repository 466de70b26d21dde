"""Constraints of other languages are reported with what to write instead; annotations of the same name are not."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import maskwright
from maskwright import Grammar, SchemaWarning
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS
from maskwright.frontends.json_schema.read.look_alikes import is_look_alike, look_alike

STRING = {"type": "string"}
MEMBERS = {"a": STRING}


def advice(schema: dict[str, Any]) -> list[str]:
    """What is said of the mistakes in a schema, after the name of the keyword."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        report = Grammar.from_json_schema(schema).report
    mistakes = [found for found in report if found.is_mistake]
    checked = maskwright.check(schema).warnings
    assert [(k.pointer, f"{k.reason}; {k.suggestion}") for k in checked] == [(f.pointer, f.reason) for f in mistakes]
    return [found.reason.partition("; ")[2] for found in mistakes]


@pytest.mark.parametrize(
    ("schema", "instead"),
    [
        ({"type": "integer", "min": 3}, "'minimum'"),
        ({"type": ["number", "null"], "max": 3.5}, "'maximum'"),
        ({"min": 3}, "'minimum'"),
        ({"type": "string", "min": 3}, "'minLength'"),
        ({"type": ["string", "null"], "max": 3}, "'maxLength'"),
        ({"type": "array", "min": 1}, "'minItems'"),
        ({"type": "object", "max": 1}, "'maxProperties'"),
        ({"type": "integer", "minValue": 3}, "'minimum'"),
        ({"type": "integer", "gt": 3}, "'exclusiveMinimum'"),
        ({"type": "integer", "range": [1, 3]}, "'minimum' and 'maximum'"),
        ({"type": "string", "length": 3}, "'minLength' and 'maxLength'"),
        ({"type": "array", "length": 3}, "'minItems' and 'maxItems'"),
        ({"type": "string", "min_len": 3}, "'minLength'"),
        ({"type": "string", "regex": "^a"}, "'pattern'"),
        ({"type": "string", "regexp": {"pattern": "^a", "flags": "i"}}, "'pattern'"),
        ({"type": "string", "values": ["a", "b"]}, "'enum'"),
        ({"choices": ["a", 1, None]}, "'enum'"),
        ({"type": "string", "allowedValues": ["a"]}, "'enum'"),
        ({"dataType": "string"}, "'type'"),
        ({"type": "object", "property": MEMBERS}, "'properties'"),
        ({"props": MEMBERS}, "'properties'"),
        ({"type": "object", "required_properties": ["a"]}, "'required'"),
        ({"type": "object", "additionalProps": False}, "'additionalProperties'"),
        ({"type": "array", "elements": STRING}, "'items'"),
        ({"type": "array", "unique": True}, "'uniqueItems'"),
        ({"type": "object", "extends": {"required": ["a"]}}, "'allOf'"),
        ({"type": "integer", "divisibleBy": 3}, "'multipleOf'"),
    ],
    ids=str,
)
def test_a_constraint_of_another_language_is_a_mistake(schema: dict[str, Any], instead: str) -> None:
    assert advice(schema) == [f"did you mean {instead}?"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": {"a": {"type": "string", "optional": False}}}, "list it in required, in the object around it"),
        ({"disallow": "string"}, 'write "not": {"type": …}'),
        ({"anyRequired": ["a", "b"]}, 'write "anyOf": [{"required": ["…"]}, …]'),
        ({"formatMinimum": "2020-01-01"}, "JSON Schema has no bounds of formats; a pattern can narrow them"),
    ],
    ids=str,
)  # fmt: skip
def test_some_take_more_than_another_name(schema: dict[str, Any], said: str) -> None:
    assert advice(schema) == [said]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "nullable": True}, 'write "type": ["string", "null"]'),
        ({"type": "string", "enum": ["a"], "nullable": True}, 'write "type": ["string", "null"], and null in enum'),
        ({"type": ["string", "integer"], "nullable": True}, 'write "null" in type, too'),
        ({"anyOf": [STRING, {"type": "integer"}], "nullable": True}, 'write "anyOf": [{…}, {"type": "null"}]'),
        ({"enum": ["a"], "nullable": True}, 'write "anyOf": [{…}, {"type": "null"}]'),
        ({"$ref": "#/$defs/a", "$defs": {"a": STRING}, "nullable": True}, 'write "anyOf": [{…}, {"type": "null"}]'),
    ],
    ids=str,
)
def test_nullable_where_null_is_refused(schema: dict[str, Any], said: str) -> None:
    assert advice(schema) == [said]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": False},
        {"type": ["string", "null"], "nullable": True},
        {"anyOf": [STRING, {"type": "null"}], "nullable": True},
        {"oneOf": [STRING, {"type": ["null", "integer"]}], "nullable": True},
        {"enum": ["a", None], "nullable": True},
        {"nullable": True},
        {"type": "string", "x-nullable": True},
    ],
    ids=str,
)
def test_nullable_that_changes_nothing_is_no_mistake(schema: dict[str, Any]) -> None:
    assert advice(schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1, "min": 0},  # bounds of a slider, for example
        {"type": "integer", "min": "a"},
        {"type": "integer", "max": True},
        {"type": "string", "values": "text"},
        {"type": "string", "values": [{"label": "a"}]},
        {"enum": ["a"], "choices": ["A"]},
        {"oneOf": [{"const": 1}], "options": ["one"]},
        {"type": "string", "options": {"hidden": True}},
        {"type": "string", "unique": True},
        {"type": "object", "attributes": ["private"]},
        {"type": "object", "fields": {}},
        {"properties": {"a": {"type": "string", "optional": True}}},
        {"type": "object", "extends": "Base"},
        {"type": "object", "length": {"type": "integer"}},
        {"_" + "m" * 10_000 + "in": 1},
    ],
    ids=lambda it: str(it)[:60],
)
def test_annotations_of_the_same_name_are_none(schema: dict[str, Any]) -> None:
    assert advice(schema) == []


def test_no_keyword_looks_like_another_one() -> None:
    assert [keyword for keyword in KEYWORDS if is_look_alike(keyword)] == []


def test_what_is_not_in_the_table_looks_like_nothing() -> None:
    assert look_alike("label", 3, {}) is None
