"""Malformed schemas: whatever stands in them, they end in a grammar or in a typed error, which says where."""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
import referencing

import maskwright
from corpora import MASKBENCH
from frontends.json_schema.suite import SELECTION, URIS
from maskwright.errors import MaskwrightError, SchemaError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from oracle.comparing import scaled

ROUNDS = scaled(300)
JUNK: list[Any] = [
    *(None, True, 0, -1, 1.5, float("nan"), "text", "#x", "#", "http://x/y", "http://[bad", [], {}, [1], ["a", {}]),
    *({"a": 1}, {1: 2}, {"$ref": "#a"}, {"$ref": "http://json-schema.org/draft-07/schema#"}),
]
KEYWORDS = [
    *("definitions", "$defs", "id", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary"),
    *(
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
    ),
    *("required", "dependencies", "items", "dependentSchemas", "prefixItems", "additionalItems", "contains", "allOf"),
    *("anyOf", "oneOf", "not", "if", "then", "else", "type", "enum", "default", "extends", "x-guidance", "propertys"),
]
REFERENCES = [
    *("#anchor", "other.json", "http://json-schema.org/draft-07/schema#", "#/definitions/x", "http://[bad", "urn:x"),
    *("#a%zz", "a#/b", "other#frag", "//", " ", ""),
]


def real_schemas() -> list[Any]:
    if MASKBENCH.exists():
        with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
            found = [json.loads(line)["schema"] for line in lines if len(line) < 8000]
    else:
        found = [group["schema"] for group in json.loads(SELECTION.read_text(encoding="utf-8"))]
    return [schema for schema in found if isinstance(schema, dict)]


def objects_in(data: Any) -> list[dict[Any, Any]]:
    """All objects in some data, the outermost first."""
    if isinstance(data, dict):
        return [data, *[inner for value in data.values() for inner in objects_in(value)]]
    return [inner for value in data for inner in objects_in(value)] if isinstance(data, list) else []


def mutate(schema: Any, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 3)):
        places = objects_in(schema)
        place = rng.choice(places)
        keyword = rng.choice([*KEYWORDS, *place]) if rng.random() < 0.8 or not place else rng.choice(list(place))
        place[keyword] = copy.deepcopy(rng.choice(JUNK if rng.random() < 0.8 else places))
        if rng.random() < 0.4:
            rng.choice(places)["$ref"] = rng.choice(REFERENCES)


def test_mutated_schemas_end_in_a_grammar_or_a_typed_error() -> None:
    rng = random.Random(os.environ.get("MASKWRIGHT_SEED", "3"))
    schemas = real_schemas()
    options = JsonSchemaOptions(on_unsupported="relax", any_order=True)

    def relaxed(schema: Any) -> Any:
        return schema_to_ir(schema, options)

    refused = 0
    for _ in range(ROUNDS):
        schema = copy.deepcopy(rng.choice(schemas))
        if rng.random() < 0.7:
            schema["$schema"] = rng.choice(list(URIS.values()))
        mutate(schema, rng)
        refused += sum(ends_in_error(run, schema) for run in (schema_to_ir, maskwright.check, relaxed))
    assert refused > ROUNDS / 3


def ends_in_error(run: Callable[[Any], Any], schema: Any) -> bool:
    try:
        run(schema)
    except MaskwrightError as error:
        return bool(error.message)
    return False


@pytest.mark.parametrize(
    ("schema", "pointer", "says"),
    [
        ({"definitions": "text", "$ref": "#a"}, "/definitions", "definitions must be an object, not 'text'"),
        ({"$defs": {"a": 1}, "$ref": "#a"}, "/$defs/a", "$defs must be an object or a boolean, not 1"),
        ({"$ref": "#a", "properties": {"x": {"$id": 5}}}, "/properties/x/$id", "$id must be a string, not 5"),
        ({"$ref": "#a", "allOf": {"x": 1}}, "/allOf", "allOf must be an array, not an object"),
        ({"$ref": "#a", "not": [1]}, "/not", "not must be an object or a boolean, not an array"),
        ({"properties": {"a": {"$ref": "http://[bad"}}}, "/properties/a/$ref", "http://[bad is not a valid URI"),
        ({"$id": "http://[bad", "$ref": "other.json"}, "/$id", "$id must be a URI, not 'http://[bad'"),
        ({"$id": "http://[bad", "items": {"$ref": "#none"}}, "/$id", "$id must be a URI, not 'http://[bad'"),
        ({"$ref": "#a", "$schema": URIS["draft4"], "id": "http://[bad"}, "/id", "id must be a URI, not 'http://[bad'"),
        ({"$ref": "#a", "$schema": URIS["draft4"], "id": ["x"]}, "/id", "id must be a string, not an array"),
        ({"$ref": "#a", "$schema": URIS["draft7"], "dependencies": 1}, "/dependencies", "must be an object, not 1"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_malformed_is_named_where_references_need_all_of_it(schema: Any, pointer: str, says: str) -> None:
    if schema.get("$schema") in (URIS["draft4"], URIS["draft7"]):
        schema = {**schema, "definitions": {"b": {"$ref": "#c"}}, "allOf": [{"$ref": "#d"}]}
    with pytest.raises(SchemaError) as caught:
        schema_to_ir(schema)
    assert caught.value.pointer == pointer
    assert says in caught.value.message
    assert caught.value.hint


def test_a_malformed_document_of_the_registry_is_not_blamed_on_the_schema() -> None:
    other = referencing.Resource.opaque({"$defs": 1, "$id": 5})
    registry: Any = referencing.Registry().with_resource("http://other/", other)
    with pytest.raises(SchemaError) as caught:
        schema_to_ir({"$ref": "http://other/#a"}, JsonSchemaOptions(registry=registry))
    assert caught.value.pointer == "/$ref"


@pytest.mark.parametrize(
    ("schema", "way_out"),
    [
        ({"enum": ("a", "b")}, "use a list"),
        ({"enum": {"a"}}, "use a list"),
        ({"type": ("string", "null")}, "use a list"),
        ({"properties": {"a": int}}, '"type": "integer"'),
    ],
)
def test_values_of_python_that_are_not_json(schema: dict[str, Any], way_out: str) -> None:
    with pytest.raises(SchemaError) as caught:
        maskwright.Grammar.from_json_schema(schema)
    assert way_out in str(caught.value.hint)
