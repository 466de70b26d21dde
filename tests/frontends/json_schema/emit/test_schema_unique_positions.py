"""`uniqueItems` beside `prefixItems` and `contains`: random arrays and random outputs, against python-jsonschema."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

import maskwright
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from oracle.comparing import mask_of, scaled, seeded

TOKENS = [
    *(bytes((byte,)) for byte in range(256)),
    *(
        b'", "',
        b'["',
        b'"]',
        b"1, ",
        b", 1",
        b"true, ",
        b", false",
        b"[[",
        b"]]",
        b"{}",
        b'{"a": 1',
        b"}, ",
        b"11",
        b'"a"',
    ),
]
LIKELY = {*TOKENS[256:], *(b'"', b"a", b"b", b"1", b", ", b"]", b"}", b"t", b"n", b"f")}
INFO = TokenizerInfo.from_vocab([*TOKENS, b"</s>"], stop_token_ids=[len(TOKENS)])
COMPILER = GrammarCompiler(INFO)
STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
OBJECT: dict[str, Any] = {"type": "object"}
LETTER: dict[str, Any] = {"enum": ["a", "b"]}
SCHEMAS: list[dict[str, Any]] = [
    {"prefixItems": [STRING, INTEGER], "items": STRING},
    {"prefixItems": [STRING, INTEGER]},
    {"prefixItems": [BOOLEAN, BOOLEAN]},
    {"prefixItems": [BOOLEAN, BOOLEAN], "items": False},
    {"prefixItems": [BOOLEAN, BOOLEAN, BOOLEAN]},
    {"prefixItems": [LETTER, STRING, LETTER], "items": {"type": ["string", "null"]}},
    {"prefixItems": [INTEGER, NUMBER], "items": NUMBER, "minItems": 2, "maxItems": 4},
    {"prefixItems": [NUMBER], "items": {"anyOf": [INTEGER, {"const": "a"}]}, "minItems": 2},
    {"prefixItems": [{"const": 1}, INTEGER, OBJECT], "items": {"type": ["object", "array"]}},
    {"prefixItems": [STRING], "items": LETTER},
    {"prefixItems": [{"type": "string", "maxLength": 12}], "items": {"type": "string", "maxLength": 12}},
    {"prefixItems": [{"type": "string", "pattern": "^a"}], "items": {"type": "string", "pattern": "^[ab]+$"}},
    {"contains": {"const": 1}, "items": INTEGER},
    {"contains": INTEGER, "minContains": 2},
    {"contains": INTEGER, "items": {"type": ["integer", "string"]}, "minContains": 2, "maxContains": 2},
    {"contains": LETTER, "items": STRING, "maxContains": 1},
    {"contains": {"const": "a"}, "prefixItems": [STRING, INTEGER], "items": {"type": ["string", "boolean"]}},
    {"contains": OBJECT, "items": {"type": ["object", "number"]}, "maxItems": 4},
    {"contains": BOOLEAN, "minContains": 2, "items": {"type": ["boolean", "string"]}},
]


def name_of(schema: dict[str, Any]) -> str:
    return json.dumps(schema, separators=(",", ":"))[:60]


def unique(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, **schema}


def value(rng: random.Random) -> Any:
    scalars = ["a", "b", "ab", "x", "", 0, 1, 2, 1.5, -1, True, False, None]
    if rng.random() < 0.8:
        return rng.choice(scalars)
    return rng.choice(([], [1], {}, {"a": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}))


def fitting(schema: dict[str, Any], rng: random.Random) -> list[Any]:
    """An array that has about as many items, and of the types, that the schema asks for."""
    places = [*schema.get("prefixItems", []), *[schema.get("items", {})] * 4]
    if "contains" in schema:
        places[rng.randrange(len(places))] = schema["contains"]
    items = []
    for place in places[: rng.randrange(len(places))]:
        choices = [
            item for item in (value(rng) for _ in range(20)) if jsonschema.Draft202012Validator(place).is_valid(item)
        ]
        items.append(rng.choice(choices or [value(rng)]))
    return items


def accepts(grammar: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize("schema", SCHEMAS, ids=name_of)
@pytest.mark.parametrize("any_order", [False, True])
def test_arrays_are_accepted_where_they_are_valid(schema: dict[str, Any], any_order: bool) -> None:
    grammar = COMPILER.compile_json_schema(unique(schema), any_order=any_order)
    judge, rng = jsonschema.Draft202012Validator(unique(schema)), seeded(f"{schema}")
    seen = {True: 0, False: 0}
    for _ in range(max(scaled(400), 200)):
        array = fitting(schema, rng)
        if array and rng.random() < 0.4:
            array.insert(rng.randrange(len(array) + 1), rng.choice(array))
        valid = judge.is_valid(array)
        seen[valid] += 1
        assert accepts(grammar, json.dumps(array)) == valid, array
    assert min(seen.values()) > 1


@pytest.mark.parametrize("schema", SCHEMAS, ids=name_of)
def test_no_invalid_array_is_accepted_in_any_spelling(schema: dict[str, Any]) -> None:
    grammar = COMPILER.compile_json_schema(unique(schema), any_whitespace=True, numbers="any")
    judge, rng = jsonschema.Draft202012Validator(unique(schema)), seeded(f"spellings {schema}")
    for _ in range(scaled(300)):
        array = fitting(schema, rng)
        array += [item for item in array if rng.random() < 0.3]
        space = rng.choice(("", " ", "\n"))
        text = "[" + f"{space},".join(space + respelled(item, rng) for item in array) + "]"
        if not judge.is_valid(array):
            assert not accepts(grammar, text), text


def respelled(item: Any, rng: random.Random) -> str:
    if isinstance(item, str) and item and rng.random() < 0.3:
        return '"' + "".join(f"\\u{ord(character):04x}" for character in item) + '"'
    if type(item) is int and rng.random() < 0.4:
        return rng.choice((f"{item}.0", f"{item}e0", f"{item}0e-1"))
    return json.dumps(item)


@pytest.mark.parametrize("schema", SCHEMAS, ids=name_of)
def test_random_outputs_are_valid(schema: dict[str, Any]) -> None:
    grammar = COMPILER.compile_json_schema(unique(schema))
    judge, rng = jsonschema.Draft202012Validator(unique(schema)), seeded(f"outputs {schema}")
    num_complete = 0
    for _ in range(scaled(40)):
        matcher, output = GrammarMatcher(grammar), b""
        for _ in range(60):
            allowed = mask_of(matcher, len(TOKENS) + 1) - {len(TOKENS)}
            if not allowed:
                break
            token = rng.choice([t for t in sorted(allowed) if TOKENS[t] in LIKELY] or sorted(allowed))
            assert matcher.accept_token(token)
            output += TOKENS[token]
        if matcher.is_completed():
            num_complete += 1
            assert judge.is_valid(json.loads(output)), output
        else:
            assert allowed, output
    assert num_complete > 0


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [{"type": "string", "maxLength": 1}], "items": STRING},
        {"prefixItems": [{"type": "integer", "minimum": 1, "maximum": 9}, INTEGER]},
        {"prefixItems": [{"type": "object", "additionalProperties": False}, STRING]},
        {"contains": {"type": "string", "format": "date"}},
        {"prefixItems": [{"type": "string", "x-grammar": {"syntax": "regex", "definition": "[ab]"}}], "items": STRING},
    ],
    ids=name_of,
)
def test_what_may_run_out_is_refused_by_name(schema: dict[str, Any]) -> None:
    with pytest.raises(maskwright.UnsupportedSchemaError, match="beside prefixItems or contains") as caught:
        COMPILER.compile_json_schema(unique(schema))
    assert caught.value.pointer == "/uniqueItems"
