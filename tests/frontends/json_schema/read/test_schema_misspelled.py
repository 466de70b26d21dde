"""Misspelled keywords are reported; extensions are not taken for them."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
from maskwright import Grammar
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS
from maskwright.frontends.json_schema.read.misspelled import meant_by


def test_no_keyword_is_taken_for_another() -> None:
    assert [keyword for keyword in KEYWORDS if meant_by(keyword) is not None] == []


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "meant"),
    [
        ({"propertys": {"a": {}}}, "/propertys", "propertys", "properties"),
        ({"type": "object", "propertys": {}}, "/propertys", "propertys", "properties"),
        ({"type": "string", "minLenght": 3}, "/minLenght", "minLenght", "minLength"),
        ({"items": {"type": "string", "max_length": 3}}, "/items/max_length", "max_length", "maxLength"),
        ({"properties": {"a": {"Type": "string"}}}, "/properties/a/Type", "Type", "type"),
        ({"type": "object", "additionalProps": {}, "require": ["a"]}, "/require", "require", "required"),
        ({"anyof": [{"type": "null"}]}, "/anyof", "anyof", "anyOf"),
        ({"allOf": [{"minimun": 3}]}, "/allOf/0/minimun", "minimun", "minimum"),
        ({"$defs": {"a": {"patern": "^a"}}, "$ref": "#/$defs/a"}, "/$defs/a/patern", "patern", "pattern"),
    ],
    ids=str,
)
def test_a_misspelled_keyword_is_a_finding(schema: Any, pointer: str, keyword: str, meant: str) -> None:
    for _ in range(2):  # what leaves were is kept
        [found] = [finding for finding in Grammar.from_json_schema(schema).report if finding.pointer == pointer]
        assert found.keyword == keyword
        assert found.outcome == "annotation"
        assert found.reason == f"unknown keyword {keyword!r}; did you mean {meant!r}?"
    [outcome] = [outcome for outcome in maskwright.check(schema).keywords if outcome.pointer == pointer]
    assert outcome[1:] == (keyword, "annotation", f"unknown keyword {keyword!r}", f"did you mean {meant!r}?")


@pytest.mark.parametrize(
    "keyword",
    [
        *("x-type", "x-enum", "x_items", "_format", "discriminator", "example", "examples", "nullable", "xml", "form"),
        *("errorMessage", "enumNames", "titel", "descripton", "readonly", "defaults", "requires", "extends", "name"),
        *("label", "order", "group", "units", "widget", "hint", "faker", "tags", "version", "kind", "category", "t"),
        *("hidden", "visible", "ui:widget", "javaType", "tsType", "$comment", "$async", "values", "multiple"),
        *("markdownDescription", "constraints"),
    ],
)  # fmt: skip
def test_extensions_and_annotations_are_none(keyword: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", keyword: "text"}}, keyword: "text"}
    assert not [found for found in Grammar.from_json_schema(schema).report if "unknown" in found.reason]


def test_names_of_members_are_not_keywords() -> None:
    schema = {"properties": {"propertys": {}, "typ": {}}, "required": ["minLenght"], "default": {"anyof": 1}}
    assert Grammar.from_json_schema(schema).report == ()


def test_what_is_near_nothing_is_unknown() -> None:
    assert [meant_by(keyword) for keyword in ("foo", "", "a" * 1000, "itms", "item", "ref")] == [
        None, None, None, "items", "items", "$ref",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "pointer", "meant"),
    [
        ({"name": "x", "schema": {"type": "integer"}, "strict": True}, "/schema", "the value of 'schema'"),
        ({"name": {"type": "string"}, "age": {}}, "/name", '{"type": "object", "properties": {"name": …}}'),
        ({"name": "str", "age": "int"}, "/name", '{"type": "object", "properties": {"name": …}}'),
        ({"description": {"type": "string"}, "a/b": {}}, "/a~1b", '{"type": "object", "properties": {"a/b": …}}'),
    ],
)
def test_a_schema_that_uses_no_keyword_is_a_finding(schema: Any, pointer: str, meant: str) -> None:
    [found] = Grammar.from_json_schema(schema).report
    reason = f"no keyword of JSON Schema is used, so every value is valid; did you mean {meant}?"
    assert found == (pointer, pointer[1:].replace("~1", "/"), "annotation", reason)


@pytest.mark.parametrize(
    "schema", [True, {}, {"title": "anything"}, {"$schema": "x"}, {"x-a": {}}, {"example": {}}, {"a": "text"}]
)
def test_a_schema_that_admits_everything_on_purpose_is_none(schema: Any) -> None:
    assert Grammar.from_json_schema(schema).report == ()
