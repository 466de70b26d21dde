"""Complements and `oneOf` of several objects that have much in common, at random, against python-jsonschema."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import LimitError, UnsatisfiableError, UnsupportedSchemaError
from oracle.comparing import scaled, seeded

BYTES = [bytes((byte,)) for byte in range(256)]
COMPILER = GrammarCompiler(TokenizerInfo.from_vocab([*BYTES, b"</s>"], stop_token_ids=[256]))
VALUES = (1, 2, "x", None)
PLACES: list[Any] = [
    *({"type": "integer"}, {"const": 1}, {"enum": [1, 2]}, {"type": "string"}),
    *({}, {"type": ["integer", "null"]}, {"not": {"const": 1}}),
]
INSTANCES = [
    dict(zip(names, values, strict=True))
    for count in range(4)
    for names in itertools.combinations("abcd", count)
    for values in itertools.product(VALUES, repeat=count)
]


def some_required(rng: random.Random) -> list[str]:
    return [name for name in "abc" if rng.random() < 0.4]


def some_object(rng: random.Random) -> Any:
    names = sorted(rng.sample("abc", rng.randrange(1, 4)))
    out = {"type": "object", "properties": {name: rng.choice(PLACES) for name in names}, "required": some_required(rng)}
    if rng.random() < 0.6:
        out["additionalProperties"] = rng.choice((False, False, {"type": "integer"}))
    if rng.random() < 0.2:
        out |= rng.choice(({"minProperties": 2}, {"maxProperties": 2}))
    return out


def alike(rng: random.Random) -> list[Any]:
    """A few objects that differ in one member, and perhaps in what is required."""
    base, out = some_object(rng), []
    for _ in range(rng.randrange(2, 5)):
        changed = {rng.choice(list(base["properties"])): rng.choice(PLACES)}
        required = some_required(rng) if rng.random() < 0.4 else base["required"]
        out.append({**base, "properties": {**base["properties"], **changed}, "required": required})
    return out


def some_schema(kind: str, rng: random.Random) -> Any:
    branches = alike(rng) if rng.random() < 0.6 else [some_object(rng) for _ in range(rng.randrange(2, 5))]
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in "abc"}}
    if kind == "not":
        return {**schema, "not": {rng.choice(("anyOf", "oneOf")): branches}}
    if kind == "oneOf":
        return {**schema, "oneOf": branches}
    if kind == "allOf":
        return {**schema, "allOf": [{"oneOf": branches}, some_object(rng)], "required": [rng.choice("abc")]}
    return {**schema, "if": {"anyOf": branches}, "then": some_object(rng), "else": some_object(rng)}


@pytest.mark.parametrize("kind", ["not", "oneOf", "allOf", "if"])
def test_objects_are_judged_as_the_standard_says(kind: str) -> None:
    """In some order of its members a valid object is accepted, and in none an invalid one."""
    rng, judged = seeded(f"alike {kind}"), 0
    for _ in range(scaled(60)):
        schema = some_schema(kind, rng)
        valid, instances = jsonschema.Draft202012Validator(schema), rng.sample(INSTANCES, 40)
        try:
            grammar = COMPILER.compile_json_schema(schema, any_order=True)
        except UnsatisfiableError:
            assert not any(map(valid.is_valid, instances)), schema
            continue
        except (UnsupportedSchemaError, LimitError):
            continue
        matcher = GrammarMatcher(grammar)
        for instance in instances:
            accepted = 0
            for members in itertools.permutations(instance.items()):
                accepted += matcher.accept_string(json.dumps(dict(members))) and matcher.is_completed()
                matcher.reset()
            assert (accepted > 0) == valid.is_valid(instance), (schema, instance)
        judged += 1
    assert judged > 0
