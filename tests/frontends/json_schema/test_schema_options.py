"""Options: checked when made, and what they change."""

from __future__ import annotations

import dataclasses
from typing import Any

import jsonschema
import pytest
import referencing.jsonschema

from frontends.json_schema.checking import check, check_texts
from frontends.json_schema.grammar_matcher import accepts
from maskwright.errors import OptionError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import (
    Finding,
    JsonSchemaKeywords,
    JsonSchemaOptions,
    read_options,
    schema_to_ir,
)


@pytest.mark.parametrize(
    "wrong",
    [
        {"on_unsupported": "ignore"},
        {"max_whitespace_cnt": -1},
        {"indent": -1},
        {"separators": (";", ":")},
        {"separators": (",", "x:")},
        {"separators": (",",)},
        {"indent": 2},
        {"indent": "2"},
        {"max_whitespace_cnt": 2.5},
        {"separators": (",", ":"), "max_whitespace_cnt": 3},
        {"whitespace_pattern": "x"},
        {"whitespace_pattern": 1},
        {"whitespace_pattern": " ", "any_whitespace": False},
        {"whitespace_pattern": " ", "max_whitespace_cnt": 32},
        {"whitespace_pattern": " ", "indent": 0},
        {"whitespace_pattern": " ", "separators": (",", ":")},
        {"separators": 1},
        {"separators": (1, 2)},
        {"strict_mode": "false"},
        {"any_order": []},
        {"ensure_ascii": 2},
        {"any_whitespace": None},
        {"on_unsupported": []},
        {"formats": {}},
    ],
    ids=str,
)
def test_wrong_options_are_errors(wrong: dict[str, Any]) -> None:
    option = next(iter(wrong))
    with pytest.raises(OptionError, match=option) as caught:
        JsonSchemaOptions(**wrong)
    assert caught.value.option == option
    assert isinstance(caught.value, ValueError)


def test_keywords_are_the_fields() -> None:
    fields = {each.name: each.type for each in dataclasses.fields(JsonSchemaOptions)}
    assert fields.keys() == JsonSchemaKeywords.__annotations__.keys()
    for name, written in JsonSchemaKeywords.__annotations__.items():
        field = fields[name].removesuffix(" | None")
        assert written.__forward_arg__ == (field if field == "Any" else f"{field} | None"), name


def test_none_is_the_default() -> None:
    assert read_options(dict.fromkeys(JsonSchemaKeywords.__annotations__)) == JsonSchemaOptions()
    assert read_options({"strict_mode": True, "indent": None}) == JsonSchemaOptions(strict_mode=True)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("strict", "'strict_mode'"),
        ("strict_mod", "'strict_mode'"),
        ("additional_properties", "'strict_mode'"),
        ("whitespace", "'any_whitespace'"),
        ("max_whitespace", "'max_whitespace_cnt'"),
        ("on_unsuported", "'on_unsupported'"),
        ("max_tokens", "pass it to GrammarMatcher"),
        ("xyz", "the options are: any_whitespace, "),
    ],
)
def test_unknown_options_are_errors(name: str, meant: str) -> None:
    with pytest.raises(OptionError, match=f"unknown option '{name}'") as caught:
        read_options({name: True})
    assert meant in str(caught.value.hint)
    assert caught.value.option == name


def test_options_are_values() -> None:
    assert JsonSchemaOptions() == JsonSchemaOptions(True, 32, None, None, False, "error")
    assert hash(JsonSchemaOptions()) == hash(JsonSchemaOptions())


def test_strict_mode_closes_what_is_declared() -> None:
    schema = {"properties": {"a": {"type": "null"}}}
    check(schema, [{"a": None}, {}], [{"b": 1}, {"a": None, "b": 1}], strict_mode=True)
    check({**schema, "additionalProperties": True}, [{"a": None, "b": 1}], [], strict_mode=True)
    check({"prefixItems": [{"const": 1}]}, [[1], []], [[1, 2]], strict_mode=True)
    check({"prefixItems": [{"const": 1}], "items": True}, [[1, 2]], [], strict_mode=True)
    both = {"allOf": [schema, {"properties": {"b": {"const": 1}}}]}
    check(both, [{"a": None, "b": 1}], [{"b": 2}, {"c": 1}], strict_mode=True)


def test_strict_mode_closes_every_object() -> None:
    for schema in (
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "description": "nothing declared"},
        {"type": ["object", "null"]},
        {"anyOf": [{"type": "object"}, {"type": "null"}]},
        {"type": "object", "maxProperties": 3},
    ):
        nested = {"type": "object", "properties": {"o": schema, "a": {"type": "array", "items": schema}}}
        for options in ({"strict_mode": True}, {"strict_mode": True, "any_order": True}):
            check(schema, [{}], [{"zz": 1}], **options)
            check(nested, [{"o": {}}, {"a": [{}, {}]}], [{"o": {"z": 1}}, {"a": [{"z": 1}]}], **options)
        texts = ['{\n "o": {}\n}'], ['{\n "o": {\n  "z": 1\n }\n}']
        check_texts(nested, *texts, strict_mode=True, any_whitespace=False, indent=1)
    check({"$ref": "#/$defs/o", "$defs": {"o": {"type": "object"}}}, [{}], [{"z": 1}], strict_mode=True)
    check({"type": "object", "required": ["a"]}, [{"a": {"b": 1}}], [{}, {"a": 1, "b": 2}], strict_mode=True)


def test_strict_mode_leaves_open_what_says_so() -> None:
    for schema in (
        True,
        {},
        {"minLength": 3},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "unevaluatedProperties": {}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "patternProperties": {"^z": {}}},
    ):
        check(schema, [{}, {"zz": 1}], [], strict_mode=True)
        check({"properties": {"o": schema}}, [{"o": {"zz": 1}}], [{"p": 1}], strict_mode=True)


def test_members_in_any_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["b"],
        "additionalProperties": {"type": "integer"},
    }
    texts = [
        '{"b": null}',
        '{"c": null, "x": 1, "b": null, "a": null}',
        '{"x": 1, "b": null}',
        '{"a": null, "b": null}',
    ]
    check_texts(schema, texts, ['{"a": null}', '{"b": null, "b": null}', '{"x": null, "b": null}'], any_order=True)
    check_texts(schema, texts[::3], texts[1:3])
    counted = {**schema, "additionalProperties": False, "maxProperties": 2, "minProperties": 2}
    check_texts(
        counted, ['{"c": null, "b": null}'], ['{"b": null}', '{"c": null, "b": null, "a": null}'], any_order=True
    )
    some = {"properties": {"a": {}, "b": {}}, "not": {"additionalProperties": {"type": "null"}}}
    check_texts(some, ['{"b": 0, "a": 1}', '{"b": 1, "x": 1}'], ['{"b": null}', '{"x": 1, "a": null}'], any_order=True)


@pytest.mark.parametrize(("count", "reversed_too"), [(40, True), (70, True), (300, False)])
def test_very_large_objects_keep_the_declared_order(count: int, reversed_too: bool) -> None:
    schema = {
        "properties": {f"p{i}": {"type": "null"} for i in range(count)},
        "additionalProperties": False,
        "type": "object",
    }
    backwards = ['{"p39": null, "p1": null}']
    right, wrong = ['{"p1": null, "p39": null}'], ['{"p1": null, "p1": null}']
    check_texts(schema, right + backwards * reversed_too, wrong + backwards * (not reversed_too), any_order=True)


def test_patterns_that_overlap_too_much_are_left_out_with_what_depends_on_them() -> None:
    patterns = {letter: {"type": "integer"} for letter in "abcdefgh"}
    schema = {"patternProperties": patterns, "additionalProperties": False, "propertyNames": {"maxLength": 3}}
    report: list[Finding] = []
    schema_to_ir(schema, JsonSchemaOptions(on_unsupported="relax"), report)
    assert [finding.pointer for finding in report] == ["/patternProperties", "/additionalProperties"]
    valid = [{"ab": 1}, {"xyz": 1}, {"a": "left out"}]
    check(schema, valid, [{"abcd": 1}], on_unsupported="relax")
    with pytest.raises(UnsupportedSchemaError, match="patternProperties"):
        schema_to_ir(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"if": {"uniqueItems": True}, "then": {"type": "null"}, "else": False}},
        {"not": {"allOf": [{"$ref": "#/$defs/once"}, {"maxItems": 0}]}},
        {"if": {"not": {"$ref": "#/$defs/once"}}, "then": {"maxItems": 2}, "else": {"minItems": 1}},
        {"oneOf": [{"not": {"$ref": "#/$defs/once"}}, {"minItems": 1}, {"maxItems": 0}]},
        {"items": {"not": {"not": {"not": {"$ref": "#/$defs/once"}}}}},
    ],
    ids=str,
)
def test_what_is_left_out_is_not_complemented(schema: Any) -> None:
    """The complement of something wider is something narrower: then valid values would be lost."""
    schema = {**schema, "type": "array", "$defs": {"once": {"not": {"not": {"not": {"uniqueItems": True}}}}}}
    judge = jsonschema.Draft202012Validator(schema)
    values = [[], [1], [1, 1], [[]], [[1, 1]], [[1, 1], [2]], [[1], [1]]]
    valid = [value for value in values if judge.is_valid(value)]
    assert valid
    report: list[Finding] = []
    grammar = schema_to_ir(schema, JsonSchemaOptions(on_unsupported="relax"), report)
    assert [value for value in valid if not accepts(grammar, value)] == []
    assert any(finding.outcome == "relaxed" for finding in report)


def test_what_stands_for_a_boolean_or_a_count_is_one() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "prefixItems": [{"type": "null"}]}
    for wanted, given in (
        ({"strict_mode": False}, {"strict_mode": 0}),
        ({"strict_mode": True, "any_order": True}, {"strict_mode": 1, "any_order": 1}),
        ({"any_whitespace": False, "indent": 1}, {"any_whitespace": 0, "indent": True}),
        ({"any_whitespace": False, "separators": (", ", ":")}, {"any_whitespace": 0, "separators": [", ", ":"]}),
    ):
        expected = schema_to_ir(schema, JsonSchemaOptions(**given)).dump()
        assert schema_to_ir(schema, JsonSchemaOptions(**wanted)).dump() == expected


@pytest.mark.parametrize("schema", [{"type": "string", True: 1, 2: {}}, {"x-guidance": {1: 2}}])
def test_keys_that_are_not_strings_are_refused(schema: Any) -> None:
    """YAML reads `on:` as True."""
    with pytest.raises(SchemaError, match="is not a string"):
        schema_to_ir(schema)


@pytest.mark.parametrize("registry", [5, {}, {"http://x/y": {"type": "null"}}, referencing.Registry])
def test_a_registry_is_one(registry: Any) -> None:
    with pytest.raises(OptionError, match=r"registry must be a referencing\.Registry, not ") as info:
        JsonSchemaOptions(registry=registry)
    assert info.value.option == "registry"
    assert "with_contents(documents.items(), " in (info.value.hint or "")


def test_the_hint_makes_a_registry_of_a_dict() -> None:
    documents = {"http://x/y": {"type": "null"}}
    registry = referencing.Registry().with_contents(
        documents.items(), default_specification=referencing.jsonschema.DRAFT202012
    )
    check({"$ref": "http://x/y"}, [None], [1], registry=registry)
