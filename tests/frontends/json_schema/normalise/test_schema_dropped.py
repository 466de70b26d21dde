"""Constraints that the draft drops: those that $ref hides, and those of later drafts; annotations are none."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, SchemaWarning, check
from maskwright._kernel import canonical_bytes
from maskwright.frontends.json_schema.normalise.deferral import deferral_of
from maskwright.frontends.json_schema.read.keyword_table import ANNOTATIONS, ASSERTING, KEYWORDS

URIS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
DEFINITIONS = {"id": {"type": "string", "minLength": 2}, "also": {"$ref": "#/definitions/id", "maxLength": 9}}


def mistakes(draft: int, schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Pointers and reasons of what compiling warns of, which `check` finds as well."""
    whole = {"$schema": URIS[draft], "definitions": DEFINITIONS, **schema}
    found = [each for each in Grammar.from_json_schema(whole).report if each.is_mistake]
    assert {each.pointer for each in check(whole).warnings} == {each.pointer for each in found}
    return [(each.pointer, each.reason) for each in found]


def members(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema, "b": dict(schema)}}


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
@pytest.mark.parametrize("draft", [4, 6, 7])
def test_what_ref_hides(draft: int) -> None:
    beside = {"$ref": "#/definitions/id", "maxLength": 3, "description": "a name", "x-order": 1}
    found = mistakes(draft, members(beside))
    assert [pointer for pointer, _ in found] == ["/properties/a/maxLength", "/properties/b/maxLength"]
    why = f"up to draft 7, what stands next to $ref is ignored, and this is draft {draft}"
    assert found[0][1] == f"a constraint that $ref hides: {why}; put $ref into an allOf"
    rewritten = {"allOf": [{"$ref": "#/definitions/id"}], "maxLength": 3}
    assert mistakes(draft, members(rewritten)) == []


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
def test_wherever_the_reference_stands() -> None:
    assert [at for at, _ in mistakes(7, {"$ref": "#/definitions/id", "type": "object"})] == ["/type"]
    assert [at for at, _ in mistakes(7, {"$ref": "#/definitions/also"})] == ["/definitions/also/maxLength"]
    of_both = {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/id", "pattern": "^a"}]}
    assert [at for at, _ in mistakes(7, of_both)] == ["/anyOf/1/pattern"]
    conjunction = {"allOf": [{"$ref": "#/definitions/id", "pattern": "^a"}, {"maxLength": 9}]}
    assert [at for at, _ in mistakes(7, conjunction)] == ["/allOf/0/pattern"]


@pytest.mark.parametrize("draft", [7, 2019, 2020])
def test_what_is_said_twice_or_asserts_nothing_is_not_lost(draft: int) -> None:
    twice = {"$ref": "#/definitions/id", "type": "string", "minLength": 2, "$comment": "as there"}
    assert mistakes(draft, members(twice)) == []
    annotations = {name: [] if name == "examples" else True if name == "readOnly" else "" for name in ANNOTATIONS}
    assert mistakes(draft, members({"$ref": "#/definitions/id", **annotations, "contentSchema": {}})) == []


@pytest.mark.parametrize("draft", [2019, 2020])
def test_later_drafts_enforce_it(draft: int) -> None:
    assert mistakes(draft, members({"$ref": "#/definitions/id", "maxLength": 3})) == []


LATER = {
    "const": "a",
    "contains": {"type": "null"},
    "propertyNames": {"maxLength": 2},
    "if": {"type": "string"},
    "prefixItems": [{"type": "null"}],
    "unevaluatedItems": False,
    "unevaluatedProperties": False,
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"a": {"required": ["b"]}},
    "$dynamicRef": "#",
    "$recursiveRef": "#",
}


def test_these_are_all_that_came_later() -> None:
    later = {keyword for keyword in ASSERTING if KEYWORDS[keyword].since > 4}
    assert later == LATER.keys() | {"then", "else", "minContains", "maxContains"}


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
@pytest.mark.parametrize("keyword", LATER)
@pytest.mark.parametrize("draft", [4, 6, 7, 2019])
def test_what_the_draft_does_not_have(draft: int, keyword: str) -> None:
    if KEYWORDS[keyword].since > draft:
        reason = f"a constraint of a later draft: draft {'2019-09' if draft == 2019 else draft} does not have"
        assert mistakes(draft, {keyword: LATER[keyword]}) == [
            (f"/{keyword}", f"{reason} {keyword!r}; let $schema name a later draft")
        ]


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
def test_what_reads_it_is_named_alone() -> None:
    conditional = {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}}
    assert [at for at, _ in mistakes(6, conditional)] == ["/if"]
    counted = {"type": "array", "contains": {"type": "null"}, "minContains": 2}
    assert [at for at, _ in mistakes(7, counted)] == ["/minContains"]
    assert [at for at, _ in mistakes(4, counted)] == ["/contains"]


def test_definitions_and_annotations_of_later_drafts_are_read() -> None:
    schema = {"$ref": "#/$defs/a", "deprecated": True, "$anchor": "x", "$defs": {}}
    assert mistakes(7, {"$defs": {"a": {"type": "null"}}, "allOf": [schema]}) == []


def test_it_is_a_warning() -> None:
    schema = {"$schema": URIS[7], "type": "object", "unevaluatedProperties": False}
    with pytest.warns(SchemaWarning, match="draft 7 does not have 'unevaluatedProperties'"):
        Grammar.from_json_schema(schema)


NOT_DEFERRED = [{"const": "a"}, {"type": "string", "const": "a"}, {"$ref": "#/definitions/id", "enum": []}]


@pytest.mark.parametrize("schema", NOT_DEFERRED)
def test_it_is_not_deferred(schema: dict[str, Any]) -> None:
    whole = {"$schema": URIS[4], "definitions": {"id": {"type": "string"}}, **members(schema)}
    content = canonical_bytes(whole)
    assert content is not None
    assert deferral_of(content) is None
