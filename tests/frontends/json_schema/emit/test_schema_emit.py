"""The grammar that is emitted: its text for small schemas, its size for large ones."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from frontends.json_schema.checking import check
from maskwright.errors import UnsatisfiableError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from timing import processor_seconds

COMPACT = JsonSchemaOptions(any_whitespace=False)

ROOTS: list[tuple[Any, str]] = [
    ({"type": "boolean"}, '"true" | "false"'),
    ({"enum": ["a", 1, None]}, '"\\"a\\"" | "null" | "1"'),
    ({"type": "array", "items": {"type": "integer"}}, '"[" (integer (", " integer)*)? "]"'),
    ({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 3}, '"[null" ", null"{1,2} "]"'),
    (
        {"type": "array", "prefixItems": [{"type": "null"}, {"const": True}], "items": False},
        '"[" ("null" ", true"?)? "]"',
    ),
    (
        {
            "properties": {"a": {"const": "x"}, "b": {"const": "y"}, "c": {"const": "z"}},
            "required": ["b"],
            "additionalProperties": False,
            "type": "object",
        },
        '"{" "\\"a\\": \\"x\\", "? "\\"b\\": \\"y\\"" ", \\"c\\": \\"z\\""? "}"',
    ),
]


@pytest.mark.parametrize(("schema", "root"), ROOTS, ids=[str(r[0])[:60] for r in ROOTS])
def test_small_grammars(schema: Any, root: str) -> None:
    assert schema_to_ir(schema, COMPACT).dump().splitlines()[0] == f"root ::= {root}"


def test_nothing_valid_is_an_error() -> None:
    for schema in (
        False,
        {"not": {}},
        {"type": "string", "enum": [1]},
        {"required": ["a"], "properties": {"a": False}, "type": "object"},
    ):
        with pytest.raises(UnsatisfiableError):
            schema_to_ir(schema)


@pytest.mark.parametrize("depth", [100, 2000])
def test_deep_nesting(depth: int) -> None:
    schema: Any = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 1}
    grammar = schema_to_ir(schema)
    assert len(grammar.rules) < 2 * depth + 50
    if depth == 100:
        value: Any = None
        for _ in range(depth):
            value = [value]
        check(schema, [value], [[value], value[0]])


def test_long_prefixes() -> None:
    schema = {"prefixItems": [{"const": i} for i in range(70)], "items": False, "type": "array"}
    check(schema, [[], [0], list(range(70)), list(range(33))], [[1], list(range(71)), [*range(20), 0]])


def test_repeated_alternatives_do_not_multiply() -> None:
    sizes = []
    for depth in (8, 16):
        schema: Any = {"type": "string", "minLength": 1}
        for _ in range(depth):
            schema = {
                "type": "object",
                "properties": {"x": schema, "y": {"type": "null"}},
                "anyOf": [{"required": ["x"]}, {"required": ["y"]}],
            }
        sizes.append(len(schema_to_ir(schema).dump()))
    assert sizes[1] < 5 * sizes[0]


def test_alternatives_are_those_of_the_place_that_they_come_from() -> None:
    node = {"type": "object", "additionalProperties": False, "required": ["n"]}
    node["properties"] = {"n": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}
    rules = schema_to_ir({"$ref": "#/$defs/node", "$defs": {"node": node}}, COMPACT).dump().splitlines()
    assert rules[0] == '#/$defs/node ::= "{\\"n\\": " (#/$defs/node | "null") "}"'
    large = {"type": "object", "properties": {f"p{i}": {"type": "boolean"} for i in range(50)}}
    sizes = []
    for times in (1, 20):
        each = {f"m{i}": {"anyOf": [{"$ref": "#/$defs/large"}, {"const": i}]} for i in range(times)}
        schema = {"type": "object", "properties": each, "$defs": {"large": large}}
        sizes.append(len(schema_to_ir(schema).dump()))
    assert sizes[1] < 2 * sizes[0]


def test_time_for_large_schemas() -> None:
    big: list[tuple[Any, float]] = [
        ({"enum": [f"value {i}" for i in range(20_000)]}, 0.5),
        ({"type": "string", "maxLength": 1_000_000}, 0.1),
        (
            {
                "properties": {f"p{i}": {"$ref": "#/$defs/d"} for i in range(2000)},
                "$defs": {"d": {"type": ["null", "string"]}},
            },
            1.0,
        ),
    ]
    for schema, seconds in big:
        assert processor_seconds(partial(schema_to_ir, schema)) < seconds


WITHOUT_ORDER = {
    "type": "object",
    "not": {"properties": dict.fromkeys(("first", "second", "third"), True), "additionalProperties": {"type": "null"}},
}


def test_it_is_the_same_in_every_process() -> None:
    """Strings are hashed by a number that each process draws anew."""
    script = f"from maskwright import Grammar; print(Grammar.from_json_schema({WITHOUT_ORDER!r}).ir.dump())"
    texts = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert b"second" in texts.pop()
