"""How schemas and tags are read as XGrammar reads them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("pydantic", reason="an optional dependency")
from maskwright.compat.xgrammar.reading import as_xgrammar_reads, schema_data, tag_data

FREE = {"type": "object"}
OPEN = {"type": "object", "additionalProperties": True}
# a schema, and what becomes of it
SCHEMAS: list[tuple[Any, Any]] = [
    (FREE, OPEN),
    (
        {"type": ["object", "null"], "title": "x"},
        {"type": ["object", "null"], "title": "x", "additionalProperties": True},
    ),
    ({"type": "object", "minProperties": 1}, {"type": "object", "minProperties": 1, "additionalProperties": True}),
    ({"type": "object", "properties": {}}, {"type": "object", "properties": {}}),
    ({"type": "object", "required": ["a"]}, {"type": "object", "required": ["a"]}),
    ({"type": "object", "properties": {"a": FREE}}, {"type": "object", "properties": {"a": OPEN}}),
    ({"items": FREE, "prefixItems": [FREE, 3]}, {"items": OPEN, "prefixItems": [OPEN, 3]}),
    ({"anyOf": [FREE, {"type": "null"}]}, {"anyOf": [OPEN, {"type": "null"}]}),
    ({"properties": {}, "allOf": [FREE]}, {"properties": {}, "allOf": [FREE]}),
    ({"$ref": "#/$defs/a", "$defs": {"a": FREE}}, {"$ref": "#/$defs/a", "$defs": {"a": OPEN}}),
    ({"type": "object", "$ref": "#"}, {"type": "object", "$ref": "#"}),
    ({"enum": [FREE], "const": FREE, "default": FREE}, {"enum": [FREE], "const": FREE, "default": FREE}),
    ({"properties": {"properties": FREE}}, {"properties": {"properties": OPEN}}),
    (True, True),
    ([1], [1]),
]


@pytest.mark.parametrize(("schema", "expected"), SCHEMAS, ids=str)
def test_objects_that_say_nothing_are_opened(schema: Any, expected: Any) -> None:
    before = copy.deepcopy(schema)
    assert as_xgrammar_reads(schema) == expected
    assert schema == before
    assert schema_data(json.dumps(schema), True) == expected
    assert schema_data(json.dumps(schema), False) == schema


def test_depth_is_no_problem() -> None:
    deep: Any = FREE
    for _ in range(3000):
        deep = {"items": deep}
    read = as_xgrammar_reads(deep)
    for _ in range(3000):
        read = read["items"]
    assert read == OPEN


def test_numbers_in_texts_stay_exact() -> None:
    data = schema_data('{"minimum": 0.1, "maximum": 0.1234567890123456789012, "type": "number"}', True)
    assert type(data["minimum"]) is float
    assert str(data["maximum"]) == "0.1234567890123456789012"
    assert schema_data('{"minimum": NaN}', True) == '{"minimum": NaN}'
    assert schema_data("{", True) == "{"


def test_tags_are_read_where_formats_stand() -> None:
    tag = {
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "regex", "pattern": "[0-9]"},
                {"type": "json_schema", "json_schema": {"const": {"type": "regex", "pattern": "x"}, "items": FREE}},
                {"type": "json_schema", "json_schema": FREE, "strict_mode": False},
                {"type": "dispatch", "rules": [["<", {"type": "regex", "pattern": "y"}]]},
            ],
        }
    }
    before = copy.deepcopy(tag)
    first, second, third, fourth = tag_data(tag)["format"]["elements"]
    assert tag == before
    assert first["pattern"] == "(?a:[0-9])"
    assert second["json_schema"] == {"const": {"type": "regex", "pattern": "x"}, "items": OPEN}
    assert third["json_schema"] == FREE
    assert fourth["rules"][0][1]["pattern"] == "(?a:y)"
    assert tag_data(json.dumps(tag)) == tag_data(tag)
