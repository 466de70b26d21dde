"""Constraints of another type than the schema's are reported, and a warning if something was surely meant."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
from labels import label
from maskwright import Grammar, SchemaWarning
from maskwright.frontends.json_schema.normalise.keywords import FUNCTIONS
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
MEMBERS = {"a": {"type": "string"}}


def mistakes(schema: Any) -> list[tuple[str, str]]:
    """Pointers and reasons of what `check` warns of, which compiling finds as well."""
    checked = [(k.pointer, f"{k.reason}; {k.suggestion}") for k in maskwright.check(schema).warnings]
    report = Grammar.from_json_schema(schema).report
    assert sorted(checked) == sorted((found.pointer, found.reason) for found in report if found.is_mistake)
    return checked


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "minimum": 3}, "'minimum' has no effect on strings; did you mean 'minLength'?"),
        ({"type": ["string", "null"], "maximum": 3}, "'maximum' has no effect on strings; did you mean 'maxLength'?"),
        ({"type": "string", "maxItems": 3}, "'maxItems' has no effect on strings; did you mean 'maxLength'?"),
        ({"type": "integer", "minLength": 3}, "'minLength' has no effect on integers; did you mean 'minimum'?"),
        ({"type": "array", "minLength": 3}, "'minLength' has no effect on arrays; did you mean 'minItems'?"),
        ({"type": "object", "minItems": 3}, "'minItems' has no effect on objects; did you mean 'minProperties'?"),
        ({"type": "array", "properties": MEMBERS}, "'properties' has no effect on arrays; write it in items"),
        ({"type": "array", "required": ["a"]}, "'required' has no effect on arrays; write it in items"),
        (
            {"type": "object", "items": MEMBERS["a"]},
            "'items' has no effect on objects; remove it, or let type be \"array\"",
        ),
        (
            {"type": "boolean", "pattern": "^a"},
            "'pattern' has no effect on booleans; remove it, or let type be \"string\"",
        ),
        (
            {"type": "string", "minimum": 3, "minLength": 3},
            "'minimum' has no effect on strings; remove it, or let type be \"number\"",
        ),
    ],
    ids=label,
)
def test_what_is_said(schema: dict[str, Any], said: str) -> None:
    [(pointer, reason)] = mistakes({"properties": {"x": schema}})
    assert reason == f"a constraint of another type: {said}"
    assert pointer == f"/properties/x/{said.split(chr(39))[1]}"
    with pytest.warns(SchemaWarning, match="a constraint of another type"):
        Grammar.from_json_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "integer"], "minimum": 3, "minLength": 2},
        {"minimum": 3, "minLength": 2},
        {"type": "integer", "minimum": 3},
        {"type": "number", "multipleOf": 3},
        {"type": "string", "minItems": 0},
        {"type": "string", "uniqueItems": False},
        {"type": "array", "properties": {}, "required": []},
        {"type": "array", "additionalProperties": False},
        {"type": "string", "items": {}},
        {"type": "boolean", "format": "checkbox"},
        {"type": "array", "format": "date"},
        {"type": "string", "enum": ["a"], "default": "a", "title": "A"},
    ],
    ids=label,
)
def test_what_gives_no_warning(schema: dict[str, Any]) -> None:
    assert mistakes(schema) == []


def test_check_says_of_all_that_they_have_no_effect() -> None:
    def found(schema: dict[str, Any], keyword: str) -> tuple[str, str | None]:
        [outcome] = [k for k in maskwright.check(schema).keywords if k.keyword == keyword]
        return outcome.outcome, outcome.reason

    on_arrays = ("annotation", "it has no effect on arrays")
    assert found({"type": "array", "additionalProperties": False}, "additionalProperties") == on_arrays
    assert found({"type": "array", "format": "date"}, "format") == on_arrays
    assert found({"type": "array", "required": []}, "required") == on_arrays
    assert found({"type": ["integer", "null"], "format": "date"}, "format")[1] == "it has no effect on integers"
    assert found({"type": "integer", "format": "int32"}, "format") == ("enforced", None)


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
def test_what_a_draft_does_not_have_is_reported_once() -> None:
    [found] = Grammar.from_json_schema({"$schema": DRAFT_4, "type": "string", "contains": {"type": "null"}}).report
    assert found.reason.startswith("a constraint of a later draft")


def test_keywords_are_about_what_their_functions_constrain() -> None:
    for keyword in FUNCTIONS:
        about = KEYWORDS[keyword].about
        folder = {"number": "scalars", "string": "scalars", "array": "containers", "object": "containers"}.get(about)
        assert folder is None or FUNCTIONS[keyword].__module__.endswith(folder)
    assert {keyword for keyword in FUNCTIONS if not KEYWORDS[keyword].about} == {
        *("type", "enum", "const", "format", "allOf", "anyOf", "oneOf", "not", "if"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    }
