"""Documents that use no keyword: where the schema stands that is meant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from maskwright import Grammar, SchemaWarning

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": WEATHER}}
PROPERTIES = 'did you mean {{"type": "object", "properties": {{"{}": …}}}}?'
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "x"},
    "paths": {},
    "components": {"schemas": {"a/b": WEATHER, "c": {}}},
}


@pytest.mark.parametrize(
    ("schema", "pointer", "advice"),
    [
        ({"name": "x", "schema": WEATHER, "strict": True}, "/schema", "did you mean the schema in it at /schema?"),
        ({"name": "f", "parameters": WEATHER}, "/parameters", "did you mean the schema in it at /parameters?"),
        ({"name": "f", "input_schema": WEATHER}, "/input_schema", "did you mean the schema in it at /input_schema?"),
        ({"function": {"name": "f", "parameters": WEATHER}}, "/function", "in it at /function/parameters?"),
        (
            {"messages": [], "response_format": FORMAT},
            "/response_format",
            "in it at /response_format/json_schema/schema?",
        ),
        ({"name": {"type": "string"}, "age": {}}, "/name", PROPERTIES.format("name")),
        ({"name": "str", "age": "int"}, "/name", PROPERTIES.format("name")),
        ({"description": {"type": "string"}, "a/b": {}}, "/a~1b", PROPERTIES.format("a/b")),
        ({"schema": {"type": "string"}, "table": {"type": "string"}}, "/schema", PROPERTIES.format("schema")),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "a": {}}, "/a", PROPERTIES.format("a")),
        (OPENAPI, "/components", 'say which is meant, as in "$ref": "#/components/schemas/a~1b"'),
        ({"swagger": "2.0", "definitions": {"Pet": {}}}, "/definitions", 'as in "$ref": "#/definitions/Pet"'),
        ({"title": "Pets", "$defs": {"Pet": {}}}, "/$defs", 'say which is meant, as in "$ref": "#/$defs/Pet"'),
    ],
)
def test_a_document_that_uses_no_keyword_is_a_warning(schema: dict[str, Any], pointer: str, advice: str) -> None:
    message = f"at #{pointer}: no keyword of JSON Schema is used, so every value is valid; "
    with pytest.warns(SchemaWarning, match=f"{re.escape(message)}.*{re.escape(advice)}$"):
        report = Grammar.from_json_schema(schema).report
    assert len({found.pointer for found in report}) == len(report)
    assert [found.pointer for found in report if found.is_mistake] == [pointer]


def test_the_schema_that_was_meant() -> None:
    report = Grammar.from_json_schema({**OPENAPI, "$ref": "#/components/schemas/a~1b"}).report
    assert all(found.is_extension for found in report)


@pytest.mark.parametrize(
    "schema", [True, {}, {"title": "anything"}, {"x-a": {}}, {"example": {}}, {"a": "text"}, {"$defs": {}}]
)
def test_a_schema_that_admits_everything_on_purpose_is_none(schema: Any) -> None:
    assert all(found.is_extension for found in Grammar.from_json_schema(schema).report)
