"""`$ref`: pointers, anchors, embedded documents, recursion."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
from referencing.jsonschema import DRAFT202012

from frontends.json_schema.checking import check
from frontends.json_schema.suite import URIS
from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.read.pointers import pointer_of, tokens_of

NULL = {"type": "null"}

POINTERS: list[Any] = [
    {"$ref": "#/$defs/a", "$defs": {"a": NULL}},
    {"$ref": "#/definitions/a~1b~0c", "definitions": {"a/b~c": NULL}},
    {"$ref": "#/$defs/%25%20x", "$defs": {"% x": NULL}},
    {"$ref": "#/$defs/a/anyOf/1", "$defs": {"a": {"anyOf": [True, NULL]}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": NULL}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b", "title": "x"}, "b": NULL}},
    {"$ref": "#here", "$defs": {"a": {"$anchor": "here", **NULL}}},
    {"$id": "http://x.example/root", "$ref": "other", "$defs": {"a": {"$id": "other", **NULL}}},
    {
        "$id": "http://x.example/root",
        "$ref": "http://x.example/other#/$defs/b",
        "$defs": {"a": {"$id": "other", "$defs": {"b": NULL}}},
    },
    {
        "$ref": "urn:x:y",
        "$defs": {"a": {"$id": "urn:x:y", "$ref": "#/$defs/b", "$defs": {"b": NULL}}, "b": {"type": "string"}},
    },
    {
        "allOf": [{"$id": "http://x.example/a", "$ref": "#/$defs/b", "$defs": {"b": NULL}}],
        "$defs": {"b": {"type": "string"}},
    },
    {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#x", "definitions": {"a": {"$id": "#x", **NULL}}},
    {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "$ref": "x.json",
        "definitions": {"a": {"id": "x.json", **NULL}},
    },
]


@pytest.mark.parametrize("schema", POINTERS, ids=str)
def test_where_a_reference_points(schema: Any) -> None:
    check(schema, [None], ["x", 1, {}])


def test_siblings_hold_as_well_since_2019() -> None:
    schema = {"$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": {"type": "string", "minLength": 1}}}
    check(schema, ["a", "ab"], ["", "abc", 1])


DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}
LISTS: Any = {
    "$id": "http://x.example/root",
    "$ref": "list",
    "$defs": {
        "text": {"$dynamicAnchor": "item", "type": "string"},
        "list": {
            "$id": "list",
            "type": "array",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"any": {"$dynamicAnchor": "item"}},
        },
    },
}


def test_dynamic_references_find_the_outermost_anchor() -> None:
    check(LISTS, [["a"], []], [[1], "a"])
    check(LISTS["$defs"]["list"], [["a"], [1]], [1])
    both = {"$id": "http://y.example/", "properties": {"a": LISTS, "b": {"$ref": "http://x.example/list"}}}
    check(both, [{"a": ["x"], "b": [1]}, {"b": ["x"]}], [{"a": [1]}])


def test_documents_that_add_no_anchor_change_no_place() -> None:
    number, text = {"$dynamicAnchor": "x", "type": "number"}, {"$dynamicAnchor": "y", "type": "string"}
    second = {"$id": "c", "$ref": "d", "$defs": {"x": {"$dynamicAnchor": "x"}, "y": text}}  # adds y
    last = {
        "$id": "d",
        "prefixItems": [{"$dynamicRef": "#x"}, {"$dynamicRef": "#y"}],
        "$defs": {"x": {"$dynamicAnchor": "x", "type": "null"}, "y": {"$dynamicAnchor": "y", "type": "null"}},
    }
    first = {"$id": "http://x.example/a", "$ref": "c", "$defs": {"x": number, "c": second, "d": last}}
    check(first, [[1, "a"]], [["a", 1], [None, None], [1, 1]])

    def ring(count: int) -> Any:
        """Documents that each lead to the next and have an anchor of one name."""
        return {
            "$id": "http://x.example/r",
            "$ref": "0",
            "$defs": {
                f"{i}": {
                    "$id": f"{i}",
                    "$dynamicAnchor": "n",
                    "type": "object",
                    "properties": {"a": {"$dynamicRef": "#n"}, "b": {"$ref": f"{(i + 1) % count}"}},
                }
                for i in range(count)
            },
        }

    few, many = (len(schema_to_ir(ring(count)).rules) for count in (10, 100))
    assert many < 12 * few


def test_long_chains_of_references() -> None:
    chain = {f"{i}": {"$ref": f"#/$defs/{i + 1}"} for i in range(2_000)}
    schema = {"items": {"$ref": "#/$defs/0"}, "prefixItems": [{"$ref": "#/$defs/7"}], "$defs": chain}
    chain["2000"] = {"type": "null"}  # type: ignore[dict-item]
    check(schema, [[None, None]], [[None, 1], [1]])
    chain["2000"] = {"$ref": "#/$defs/1000"}
    with pytest.raises(SchemaError, match="circle"):
        schema_to_ir(schema)


def test_recursive_references_find_the_outermost_document_that_passes_them_on() -> None:
    def schema(passes_on: bool) -> Any:
        tree = {
            "$id": "tree",
            "$recursiveAnchor": passes_on,
            "type": "object",
            "properties": {"kids": {"items": {"$recursiveRef": "#"}}},
        }
        root = {"$id": "http://x.example/strict", "$recursiveAnchor": True, "$ref": "tree", "$defs": {"tree": tree}}
        return {**DRAFT_2019, **root, "required": ["kids"]}

    check(schema(True), [{"kids": []}, {"kids": [{"kids": []}]}], [{}, {"kids": [{}]}])
    check(schema(False), [{"kids": [{}]}], [{}, {"kids": [1]}])


def test_a_registry_of_other_documents() -> None:
    remote = {"$id": "http://x.example/types", "$defs": {"id": {"$anchor": "id", "type": "integer"}}}
    registry = referencing.Registry().with_resource("http://x.example/types", DRAFT202012.create_resource(remote))
    for reference in ("http://x.example/types#/$defs/id", "http://x.example/types#id"):
        schema = {"items": {"$ref": reference}, "type": "array"}
        check(schema, [[1]], [["a"]], registry=registry)
        with pytest.raises(SchemaError, match="cannot be resolved"):
            schema_to_ir(schema)
    with pytest.raises(SchemaError, match="cannot be resolved"):
        schema_to_ir({"$ref": "http://x.example/other"}, JsonSchemaOptions(registry=registry))


def test_recursion_through_members_and_elements() -> None:
    tree = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#"}}},
        "required": ["v"],
    }
    check(tree, [{"v": 1}, {"v": 1, "kids": [{"v": 2, "kids": []}]}], [{}, {"v": 1, "kids": [{}]}])
    lists = {"$ref": "#/$defs/l", "$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}, "maxItems": 2}}}
    check(lists, [[], [[], [[]]]], [[1], [[[], [], []]]])
    both = {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"properties": {"b": {"$ref": "#/$defs/b"}}, "additionalProperties": False, "type": "object"},
            "b": {"properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"], "type": "object"},
        },
    }
    check(both, [{}, {"b": {"a": {}}}, {"b": {"a": {"b": {"a": {}}}}}], [{"b": {}}, {"b": {"a": {"c": 1}}}])


def test_recursion_through_an_intersection() -> None:
    schema = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "allOf": [{"$ref": "#/$defs/node"}, {"properties": {"next": {"required": ["x"]}}}],
    }
    check(schema, [{}, {"next": {"x": 1}}, {"next": {"next": {}, "x": 1}}], [{"next": {}}, {"next": 1}])


def test_a_target_that_is_used_often_is_one_rule() -> None:
    target = {"type": "object", "properties": {"x": {"type": "string", "minLength": 3}}}
    schema = {
        "properties": {c: {"$ref": "#/$defs/t"} for c in "abcdef"},
        "$defs": {"t": target, "unused": {"type": "x"}},
    }
    names = [rule.name for rule in schema_to_ir(schema).rules]
    assert names.count("#/$defs/t") == 1


@pytest.mark.parametrize(
    "ref", ["#/$defs/b", "#/$defs/a/0", "#nowhere", "http://elsewhere.example/x", "#/title", "#/$defs/a/type/9"]
)
def test_a_reference_to_nothing_is_an_error(ref: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_to_ir({"title": "t", "$defs": {"a": {"type": ["null"]}}, "items": {"$ref": ref}})
    assert (caught.value.pointer, caught.value.keyword) == ("/items/$ref", "$ref")


def test_a_reference_that_is_no_string_is_an_error() -> None:
    with pytest.raises(SchemaError):
        schema_to_ir({"$ref": 3})


def test_pointers() -> None:
    assert pointer_of((((None, "items"), 0), "a/b~")) == "/items/0/a~1b~0"
    assert tokens_of("/a~1b/%25~0") == ["a/b", "%~"]
    assert tokens_of("") == []


VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/"


def _dialect(**vocabularies: bool) -> referencing.Registry[Any]:
    said = {VOCABULARY + name.replace("_", "-"): required for name, required in vocabularies.items()}
    remote = {"$id": "http://x.example/2020-12/meta", "$vocabulary": said}
    return referencing.Registry().with_resource("http://x.example/2020-12/meta", DRAFT202012.create_resource(remote))


def test_keywords_of_vocabularies_that_are_not_listed_are_ignored() -> None:
    schema = {
        "$schema": "http://x.example/2020-12/meta",
        "properties": {"a": False, "b": {"minimum": 10, "type": "integer"}, "c": {"contains": {"const": 1}}},
        "required": ["b"],
    }
    valid = [{}, {"b": "x"}, {"b": 1}, {"c": [2]}]
    check(schema, valid, [{"a": 1}, {"c": []}], registry=_dialect(core=True, applicator=True))
    everything = _dialect(core=True, applicator=False, validation=True)
    check(schema, [{"b": 11, "c": [1]}], [{}, {"b": 1}, {"b": 11, "c": [2]}, {"a": 1, "b": 11}], registry=everything)
    counted = {"$schema": "http://x.example/2020-12/meta", "type": "null", "contains": True, "minContains": 0}
    check(counted, [None, 1, [1]], [[]], registry=_dialect(core=True, applicator=True))


def test_a_vocabulary_that_is_required_must_be_known() -> None:
    schema = {"$schema": "http://x.example/2020-12/meta", "type": "null"}
    check(schema, [None], [1], registry=_dialect(validation=True, magic=False))
    with pytest.raises(UnsupportedSchemaError) as refused:
        schema_to_ir(schema, JsonSchemaOptions(registry=_dialect(validation=True, magic=True)))
    assert refused.value.pointer == "/$schema"


@pytest.mark.parametrize(
    "schema",
    [
        *[{"$schema": uri, "allOf": [{"$ref": uri}]} for uri in URIS.values()],
        *[{"$ref": URIS[draft]} for draft in ("draft4", "draft6", "draft7", "draft2020-12")],
    ],
    ids=str,
)
def test_metaschemas_of_the_standard_are_known(schema: Any) -> None:
    valid = [{"type": "string", "minLength": 3}, {"properties": {"a": {"type": "integer"}}}]
    invalid = [{"minLength": "3"}, {"properties": {"a": {"type": 5}}}, 7]
    check(schema, valid, invalid, on_unsupported="relax", any_order=True)


@pytest.mark.parametrize(
    ("draft", "other"), [("draft2020-12", "draft2019-09"), ("draft7", "draft2020-12"), ("draft4", "draft7")]
)
def test_a_document_with_keywords_of_another_draft_is_refused(draft: str, other: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="is a document of another draft") as caught:
        schema_to_ir({"$schema": URIS[draft], "items": {"$ref": URIS[other]}})
    assert caught.value.pointer == "/items/$ref"


def test_documents_of_the_caller_come_before_those_of_the_standard() -> None:
    uri = URIS["draft7"].rstrip("#")
    other: Any = referencing.Registry().with_resource(uri, referencing.Resource.opaque({"type": "null"}))
    check({"$ref": uri}, [None], [{}], registry=other)
    check({"$ref": uri}, [{}, True], [None], registry=referencing.Registry(), on_unsupported="relax")


def test_other_addresses_of_the_standard_lead_nowhere() -> None:
    with pytest.raises(SchemaError, match="cannot be resolved"):
        schema_to_ir({"$ref": "https://json-schema.org/draft/2099/schema"})
