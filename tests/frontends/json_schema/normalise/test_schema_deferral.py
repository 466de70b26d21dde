"""What can be deferred compiles without an error or a report, and as a deferred subgrammar needs it."""

from __future__ import annotations

import gzip
import json
import random
from keyword import kwlist
from typing import Any

import pytest

from corpora import MASKBENCH
from maskwright._kernel import canonical_bytes
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.normalise.deferral import Deferral, deferral_of, report_of
from maskwright.frontends.json_schema.sets.formats import FORMATS, INTEGER_FORMATS
from maskwright.ir import OP_CALL, OP_GUARD, OP_LITERAL, OP_SEQ, OP_SPAN, OP_TOKENS
from maskwright.ir.emptiness import admits_nothing
from maskwright.ir.subgrammars import spelled_out
from maskwright.ir.walks import postorder

OPTIONS = [
    JsonSchemaOptions(),
    JsonSchemaOptions(strict_mode=True),
    JsonSchemaOptions(max_whitespace_cnt=0),
    JsonSchemaOptions(any_whitespace=False, indent=2),
    JsonSchemaOptions(whitespace_pattern="( |\n {2,4})?"),
    JsonSchemaOptions(whitespace_pattern=" "),
    JsonSchemaOptions(any_order=True),
    JsonSchemaOptions(ensure_ascii=True),
    JsonSchemaOptions(numbers="any"),
    JsonSchemaOptions(numbers="digits"),
]
OBJECT = {"type": "object"}
REFERENCES = ["#/$defs/A", "#/$defs/B", "#/definitions/A", "#/definitions/B", "#/definitions/C", "#", "other.json"]
MOST = 2**53 - 1  # as generators of schemas bound any integer
PATTERNS = ["^[A-Z]{3}$", "x", "^a|b$", "^$", "^[^a]*$", r"\bword\b", "(", r"^\d{4}-\d{2}$", "^(?=a)b"]


def scan(schema: Any) -> Deferral | None:
    content = canonical_bytes(schema)
    return None if content is None else deferral_of(content)


def check(schema: dict[str, Any], options: JsonSchemaOptions, *, capture_members: bool) -> None:
    report: list[Finding] = []
    parametric = () if options.any_order else (OP_CALL, OP_GUARD)
    grammar = schema_to_ir(schema, options, report, capture_members=capture_members)
    content = canonical_bytes(schema)
    assert content is not None
    assert sorted(report) == sorted(report_of(content)), schema
    assert not admits_nothing(grammar), schema
    assert not grammar.token_sets
    body = grammar.rules[grammar.root].body
    first = body[1] if body[0] == OP_SEQ else body
    assert first[0] == OP_LITERAL
    assert first[1].startswith(b"{")
    for rule in spelled_out(grammar).rules:
        assert {part[0] for part in postorder(rule.body)}.isdisjoint((*parametric, OP_SPAN, OP_TOKENS))


def chain_of_any_of(length: int) -> Any:
    out: Any = {"type": "null"}
    for _ in range(length):
        out = {"anyOf": [out]}
    return out


def random_schema(rng: random.Random, depth: int) -> Any:
    """Mostly what can be deferred, but for what is thrown in at random."""
    kinds = ["string", "integer", "number", "boolean", "null", "array", "object", "object", None]
    kind = rng.choice(kinds) if depth else "object"
    bounds = sorted(rng.choice([0, 1, 2, 7, 40, 1000, MOST, -MOST, 0.5, -3, -2.5]) for _ in range(2))
    out: dict[str, Any] = {} if kind is None else {"type": kind}
    if rng.random() < 0.3:
        out[rng.choice(["description", "title", "default", "$comment", "x-more", "nullable", "minimun"])] = rng.choice(
            ["…", True]
        )
    if kind is None and depth < 3:
        out.update(
            rng.choice(
                [
                    {"enum": rng.choices(["a", 1, True, None, "ä"], k=rng.randint(0, 3))},
                    {"anyOf": [random_schema(rng, depth + 1) for _ in range(rng.randint(0, 3))]},
                    {"enum": [10**1500, 1]},
                    chain_of_any_of(rng.choice([1, 2, 60])),
                    {"type": rng.sample(["string", "null", "integer", "object"], k=rng.randint(0, 3))},
                    {"type": rng.sample(["string", "null"], k=2), "enum": rng.choices(["a", None, 1], k=2)},
                    {"oneOf": [random_schema(rng, depth + 1) for _ in range(rng.randint(0, 3))]},
                    {"oneOf": rng.choices([{"type": name} for name in ("string", "integer", "number", "null")], k=2)},
                    {"const": rng.choice(["a", "", 1, 2.5, None, False, [1]])},
                    {"$ref": rng.choice(REFERENCES)},
                    {"allOf": [{"$ref": rng.choice(REFERENCES), "title": "A"}]},
                ]
            )
        )
    for keyword in ("minLength", "minimum", "minItems", "exclusiveMinimum"):
        if rng.random() < 0.1:
            out[keyword] = bounds[0]
    for keyword in ("maxLength", "maximum", "maxItems", "exclusiveMaximum"):
        if rng.random() < 0.1:
            out[keyword] = bounds[1]
    if kind in ("string", "integer") and rng.random() < 0.3:
        out["enum"] = rng.choices(
            [1, 2, 3] if kind == "integer" else ["a", "b/", '"\n', "", "日本"], k=rng.randint(0, 3)
        )
    if kind in ("string", "integer", "number") and rng.random() < 0.3:
        out["format"] = rng.choice([*FORMATS, "unknown", *INTEGER_FORMATS, "unknown"])
    if kind == "string" and rng.random() < 0.2:
        out["pattern"] = rng.choice(PATTERNS)
    if kind in ("string", "integer", "array") and rng.random() < 0.1:
        out["type"] = [kind, rng.choice(["null", "boolean", kind])]
    if depth == 0 and rng.random() < 0.3:
        out["$schema"] = f"http://json-schema.org/{rng.choice(['draft-04', 'draft-07'])}/schema#"
    if depth == 0 and rng.random() < 0.5:
        out[rng.choice(["$defs", "definitions"])] = {name: random_schema(rng, 1) for name in ("A", "B")}
    if kind == "array" and rng.random() < 0.8 and depth < 3:
        out["items"] = random_schema(rng, depth + 1)
    if kind == "object" and depth < 3:
        names = rng.sample(["a", "b", "", 'q"uote', "sla/sh", "日本"], k=rng.randint(0, 4))
        out["properties"] = {name: random_schema(rng, depth + 1) for name in names}
        out["required"] = rng.sample([*names, "zz"][: len(names) + (rng.random() < 0.1)], k=rng.randint(0, len(names)))
        if rng.random() < 0.5:
            out["additionalProperties"] = rng.choice([True, False, random_schema(rng, depth + 1)])
    return rng.choice([out, True, False]) if depth and rng.random() < 0.1 else out


def test_random_schemas() -> None:
    rng = random.Random("evident")
    num_evident = 0
    for _ in range(16_000):
        schema = random_schema(rng, 0)
        if scan(schema):
            num_evident += 1
            check(schema, rng.choice(OPTIONS), capture_members=rng.random() < 0.5)
    assert num_evident > 700


@pytest.mark.parametrize(
    ("draft", "reported"),
    [
        ("http://json-schema.org/draft-04/schema#", []),
        ("http://json-schema.org/draft-07/schema#", []),
        ("https://json-schema.org/draft/2020-12/schema", ["/properties/a/x-note"]),
    ],
)
def test_what_stands_beside_a_reference_is_reported_as_it_is_when_compiled(draft: str, reported: list[str]) -> None:
    beside = {"$ref": "#/definitions/A", "x-note": 1}
    definitions = {"A": {"type": "string", "x-own": 1}}
    schema = {"$schema": draft, "type": "object", "properties": {"a": beside}, "definitions": definitions}
    assert scan(schema) is not None
    check(schema, OPTIONS[0], capture_members=True)
    content = canonical_bytes(schema)
    assert content is not None
    assert sorted(found.pointer for found in report_of(content)) == sorted([*reported, "/definitions/A/x-own"])


@pytest.mark.skipif(not MASKBENCH.exists(), reason="the corpora are not beside this checkout")
def test_maskbench() -> None:
    num_evident = 0
    for line in gzip.decompress(MASKBENCH.read_bytes()).decode().splitlines():
        schema = json.loads(line)["schema"]
        if scan(schema):
            num_evident += 1
            for options in OPTIONS[:2]:
                check(schema, options, capture_members=True)
    assert num_evident > 400


@pytest.mark.parametrize(
    "schema",
    [
        OBJECT,
        {"$schema": "http://json-schema.org/draft-07/schema#", **OBJECT},
        {**OBJECT, "properties": {"a": {"enum": ["x", 1, None]}, "b": True, "c": {}}, "required": ["a"]},
        {**OBJECT, "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}},
        {**OBJECT, "properties": {"a": {"type": "array", "items": {"type": "number", "minimum": 0.5}, "maxItems": 9}}},
        {**OBJECT, "additionalProperties": {"type": ["string", "null"]}},
        {**OBJECT, "properties": {"a": {"type": "integer", "minimum": -MOST, "maximum": MOST}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "exclusiveMinimum": 0, "maximum": MOST}}},
        {**OBJECT, "properties": {"a": {"type": "string", "format": "date-time", "description": "when"}}},
        {**OBJECT, "properties": {"a": {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$", "maxLength": 60}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[A-Z]+$", "minLength": 1, "maxLength": 1}}},
        {**OBJECT, "properties": {"a": {"type": "string", "format": "unheard-of", "maxLength": 3}}},
        {**OBJECT, "properties": {"a": {"type": ["integer", "string"], "format": "int32", "minimum": 0}}},
        {**OBJECT, "properties": {"a": {"type": "string", "nullable": True, "x-order": 1, "enumNames": ["b"]}}},
        {
            **OBJECT,
            "properties": {"a": {"type": "integer", "format": "int64"}, "b": {"type": "number", "format": "int8"}},
        },
        {**OBJECT, "properties": {"a": {"type": "integer", "format": "uint8", "minimum": 255, "maximum": 1000}}},
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer", "format": "int32"}}},
        {**OBJECT, "propertyOrdering": ["a"], "properties": {"a": {"anyOf": [{"type": "number", "format": "double"}]}}},
        {**OBJECT, "properties": {"a": {"type": ["string", "null"], "enum": ["a", None]}, "b": {"const": 3}}},
        {**OBJECT, "properties": {"a": {"type": ["string", "null"], "format": "date", "default": None}}},
        {
            **OBJECT,
            "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}},
        },
        {
            **OBJECT,
            "properties": {"a": {"type": "number", "exclusiveMinimum": 0}, "b": {"type": "number", "enum": [1]}},
        },
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": OBJECT, "b": {"enum": [1]}}},
        {
            **OBJECT,
            "properties": {"a": {"anyOf": [{"$ref": "#/definitions/a"}, {"type": "null"}]}},
            "definitions": {
                "a": {**OBJECT, "properties": {"b": {"allOf": [{"$ref": "#/definitions/b"}]}}},
                "b": OBJECT,
            },
        },
    ],
)
def test_evident(schema: dict[str, Any]) -> None:
    assert scan(schema)
    check(schema, OPTIONS[0], capture_members=True)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": "string"},
        {"type": ["object"]},
        {**OBJECT, "$ref": "#/$defs/a", "$defs": {"a": OBJECT}},
        {**OBJECT, "$id": "https://example.com"},
        {**OBJECT, "$schema": "https://example.com/other"},
        {**OBJECT, "required": ["a"]},
        {**OBJECT, "required": "a"},
        {**OBJECT, "properties": {"a": False}},
        {**OBJECT, "properties": {"a": {"type": "strin"}}},
        {**OBJECT, "properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}},
        {**OBJECT, "properties": {"a": {"type": "string", "minLength": True}}},
        {**OBJECT, "properties": {"a": {"type": "string", "minLength": 10**12}}},  # more than the kernel counts
        {**OBJECT, "properties": {"a": {"type": "string", "maxLength": 10**12}}},
        {**OBJECT, "properties": {"a": {"type": "string", "enum": []}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "enum": ["1"]}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "minimum": 0.2, "maximum": 0.8}}},
        {**OBJECT, "properties": {"a": {"type": "number", "maximum": float("inf")}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "maximum": MOST + 1}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "("}}},
        {**OBJECT, "properties": {"a": {"type": "array", "uniqueItems": True}}},
        {**OBJECT, "properties": {"a": {"anyOf": []}}},
        {**OBJECT, "properties": {"a": {"anyOf": [OBJECT], "type": "object"}}},
        {**OBJECT, "properties": {"a": {"anyOf": [{"anyOf": [OBJECT]}]}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "enum": [10**1500]}}},
        {**OBJECT, "properties": {"a": {"enum": [-(10**1500)]}}},
        {**OBJECT, "minProperties": 2},
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"a": OBJECT}},
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/a", "type": "object"}}, "$defs": {"a": OBJECT}},
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {**OBJECT, "$defs": {"a": {**OBJECT, "properties": {"b": {"$ref": "#/$defs/a"}}, "required": ["b"]}}},
        {**OBJECT, "$defs": {"a": {"type": "strin"}}},
        {**OBJECT, "properties": {"a": {**OBJECT, "$defs": {"a": OBJECT}}}},
        {**OBJECT, "properties": {"a": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}},
        {**OBJECT, "properties": {"a": {"oneOf": [{"const": 1}, {"const": 1}]}}},
        {**OBJECT, "properties": {"a": {"allOf": [{"type": "string"}, {"type": "null"}]}}},
        {**OBJECT, "properties": {"a": {"type": "string", "const": 1}}},
        {**OBJECT, "properties": {"a": {"type": ["string", "null"], "enum": ["a", 1]}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^a$", "maxLength": 0}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[ab]*$", "minLength": 1}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[ab]*$", "maxLength": 10**6}}},
        {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^a$", "format": "int32"}}},
        {**OBJECT, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer", "format": "pos"}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "format": "int8", "minimum": 128}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "format": "uint64", "maximum": -1}}},
        {**OBJECT, "properties": {"a": {"type": "array", "items": {"type": "integer", "format": "a"}, "maxItems": 0}}},
        {**OBJECT, "propertys": {}},
        {**OBJECT, "x-guidance": {"whitespace_flexible": False}},
        {**OBJECT, "unevaluatedProperties": False},
        {**OBJECT, "properties": {"a": {"type": "string", "format": "uuid", "maxLength": 35}}},
        {**OBJECT, "properties": {"a": {"type": "number", "exclusiveMinimum": 1, "maximum": 1}}},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            **OBJECT,
            "properties": {"a": {"type": "number", "exclusiveMinimum": 1}},
        },
    ],
)
def test_not_evident(schema: Any) -> None:
    assert not scan(schema)


def test_a_glance_is_short() -> None:
    many: Any = {"type": "object", "default": [0] * 3_000}
    assert scan(many)
    for _ in range(400):
        many = {"type": "object", "properties": {"a": many}}
    assert not scan(many)  # it would be skipped once for each object around it
    assert not scan({"type": "object", "properties": {f"p{i}": True for i in range(2_001)}})


def test_what_is_no_content() -> None:
    whole = canonical_bytes({"type": "object", "properties": {"a": {"enum": ["x", 1]}}, "required": ["a"]})
    assert whole is not None
    assert deferral_of(whole)
    for length in range(len(whole)):
        with pytest.raises(ValueError, match="content"):
            deferral_of(whole[:length])


def seen(schema: dict[str, Any]) -> set[str]:
    found = scan({**OBJECT, **schema})
    assert found
    return {name for name, is_so in found._asdict().items() if is_so is True}


def size(schema: dict[str, Any]) -> int:
    """In how many bytes a member of this schema can be written, its name included."""
    empty = scan({**OBJECT, "properties": {}})
    found = scan({**OBJECT, "properties": {"abc": schema}})
    assert found
    assert empty
    return found.num_bytes - empty.num_bytes if found.num_bytes >= 0 else -1


def test_how_many_bytes_are_enough() -> None:
    text = {"type": "string"}
    assert len('"abc": "",') <= size(text) < 16
    assert size({**text, "minLength": 100}) == size(text) + 100
    assert size({**text, "enum": ["a", "long" * 50]}) >= 200
    assert size({"type": "array", "items": {**text, "minLength": 100}}) < 30
    assert size({"type": "array", "items": {**text, "minLength": 100}, "minItems": 3}) > 300
    inner = {**OBJECT, "properties": {"x": {**text, "minLength": 100}, "y": {**text, "minLength": 100}}}
    assert 200 < size(inner) < 260
    assert size({"anyOf": [{**text, "minLength": 100}, {"type": "null"}]}) > 100
    assert size({**OBJECT, "additionalProperties": {**text, "minLength": 100}}) < 30
    assert size({**text, "pattern": "^a*$"}) > 0
    assert size({**text, "pattern": "^a*$", "minLength": 0}) == -1
    defs = {"A": {**OBJECT, "properties": {"b": {"$ref": "#/$defs/B"}, "c": {"$ref": "#/$defs/B"}}}}
    defs["B"] = {"type": "array", "items": {**text, "minLength": 100}, "minItems": 5}
    found = scan({**OBJECT, "$defs": defs, "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/A"}}})
    assert found
    assert 2_000 < found.num_bytes < 2_500


def test_what_else_is_seen() -> None:
    name, when = {"type": "string"}, {"type": "string", "format": "date"}
    usual = {"has_members", "names_arguments"}
    assert seen({"properties": {"a": name}}) == usual
    assert seen({"properties": {"a": name}, "required": []}) == usual
    assert seen({"properties": {"a": name}, "required": ["a"]}) == {*usual, "has_required"}
    assert seen({"properties": {"a": {"type": "array", "items": when}}}) == {*usual, "has_formats"}
    count = {"type": "integer", "format": "int32"}
    assert seen({"properties": {"a": count}}) == {*usual, "has_formats"}
    count = {"type": "integer", "format": "count"}
    assert seen({"properties": {"a": count}}) == {*usual, "has_formats", "has_unknown_formats"}
    assert seen({"properties": {"a": {**name, "maxLength": 3}}}) == usual
    assert seen({"properties": {"a": {**name, "maxLength": 10**6}}}) == {*usual, "has_long_strings"}
    assert seen({"properties": {"a": {**OBJECT, "properties": {"b": name}, "required": ["b"]}}}) == usual
    free_objects = {"has_free_values", "has_free_objects"}
    assert seen({}) == {*usual, *free_objects}
    assert seen({"properties": {}, "additionalProperties": False}) == {"names_arguments", *free_objects}
    for free in ({}, True, {"type": "array"}, {"type": ["array", "null"]}):
        assert seen({"properties": {"a": free}}) == {*usual, "has_free_values"}
    for free in (OBJECT, {"type": ["object", "null"]}):
        assert seen({"properties": {"a": free}}) == {*usual, *free_objects}
    for other in ("a-b", "1", "é", *kwlist):
        assert seen({"properties": {other: name}}) == {"has_members"}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_leave_room(name: str) -> None:
    schema = {**OBJECT, "properties": {"a": {"type": "string", "format": name, "minLength": 1, "maxLength": 64}}}
    schema["required"] = ["a"]
    assert scan(schema)
    check(schema, OPTIONS[0], capture_members=False)
