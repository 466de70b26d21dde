"""`uniqueItems` over any number of scalars: random arrays and random outputs, against python-jsonschema."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

import maskwright
from frontends.json_schema.random_outputs import random_output
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from oracle.comparing import scaled, seeded

TOKENS = [
    *(bytes((byte,)) for byte in range(256)),
    b'","',
    b'", "',
    b'"]',
    b'",',
    b"true",
    b"null",
    b"10",
    b", ",
    b"1,",
]
INFO = TokenizerInfo.from_vocab([*TOKENS, b"</s>"], stop_token_ids=[len(TOKENS)])
COMPILER = GrammarCompiler(INFO)

ITEMS: list[dict[str, Any]] = [
    {"items": {"type": "string"}},
    {"items": {"type": "string", "minLength": 1, "maxLength": 2}, "minItems": 2},
    {"items": {"type": "string", "pattern": "^[ab]{1,2}$"}},
    {"items": {"type": "string", "pattern": "^[ab]{1,2}$"}, "minItems": 6},
    {"items": {"type": "string", "not": {"const": "a"}}, "maxItems": 3},
    {"items": {"type": "string", "format": "date"}},
    {"items": {"type": "integer"}},
    {"items": {"type": "integer", "minimum": 0, "maximum": 120}, "maxItems": 121},
    {"items": {"type": "number"}},
    {"items": {"type": "number", "minimum": 0, "maximum": 3}},
    {"items": {"type": ["string", "null", "boolean"]}},
    {"items": {"type": ["integer", "null"]}, "minItems": 1, "maxItems": 4},
    {"items": {"enum": [f"v{i}" for i in range(100)]}},
    {"items": {"enum": [f"v{i}" for i in range(6000)]}},
    {"items": {"enum": [1.0, 2.5, *range(10, 80)]}},
    {"items": {"type": ["number", "string", "boolean", "null"]}},
]
SCALARS: list[Any] = [
    *("", "a", "b", "ab", "é", "\n", '"', "\\", "v1", "v99", "2024-01-31"),
    *(0, 1, -1, 1.5, 2.5, 10, 120, True, None),
]


def schema_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, **items}


def accepts(grammar: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


def respelled(value: Any, rng: random.Random) -> str:
    """A spelling of a scalar, often not the usual one."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=rng.random() < 0.5) if rng.random() < 0.6 else escaped(value)
    if isinstance(value, bool) or value is None or rng.random() < 0.5:
        return json.dumps(value)
    return rng.choice((f"{value}.0" if isinstance(value, int) else f"{value}0", f"{value}e0", f"{value * 10}e-1"))


def escaped(text: str) -> str:
    return '"' + "".join(f"\\u{ord(character):04x}" for character in text) + '"'


@pytest.mark.parametrize("items", ITEMS, ids=lambda items: json.dumps(items)[:60])
def test_no_invalid_array_is_accepted_in_any_spelling(items: dict[str, Any]) -> None:
    schema = schema_of(items)
    grammar, valid = COMPILER.compile_json_schema(schema), jsonschema.Draft202012Validator(schema)
    rng = seeded(json.dumps(items))
    accepted = 0
    for _ in range(scaled(500)):
        values = rng.choices(SCALARS, k=rng.randrange(5))
        text = "[" + ",".join(respelled(value, rng) for value in values) + "]"
        if accepts(grammar, text):
            accepted += 1
            assert valid.is_valid(json.loads(text)), text
        plain = json.dumps(values, ensure_ascii=False)
        assert accepts(grammar, plain) == valid.is_valid(values) or "date" in str(items), plain
    assert accepted > 0 or "minItems" in items


@pytest.mark.parametrize("items", ITEMS, ids=lambda items: json.dumps(items)[:60])
def test_outputs_come_to_an_end_and_are_valid(items: dict[str, Any]) -> None:
    """Tokens at random among those allowed, some characters more often, so that elements begin like earlier ones."""
    schema = schema_of(items)
    grammar, valid = COMPILER.compile_json_schema(schema), jsonschema.Draft202012Validator(schema)
    rng = seeded(f"outputs {items}")
    likely = (b"a", b"b", b"1", b"0", b",", b'"', b'","', b"]", b'"]', b"t", b"n")
    for _ in range(scaled(30)):
        written = random_output(grammar, TOKENS, rng, likely=likely, closing=(b"]", b'"]', b'"'), after=60)
        assert valid.is_valid(json.loads(written)), written


@pytest.mark.parametrize("items", ITEMS, ids=lambda items: json.dumps(items)[:60])
def test_outputs_are_complete_within_a_budget(items: dict[str, Any]) -> None:
    """From the least budget on of which it is known that some output fits."""
    schema = schema_of(items)
    grammar, valid = COMPILER.compile_json_schema(schema), jsonschema.Draft202012Validator(schema)
    rng = seeded(f"budgets {items}")
    least = next(n for n in range(1, 100) if fits(grammar, n))
    likely = (b"a", b"b", b"1", b"0", b",", b'"', b'","', b"t", b"n")
    for _ in range(scaled(60)):
        most = least + rng.choice((0, 1, 2, 3, 5, 10, 30, 60))
        written = random_output(grammar, TOKENS, rng, likely=likely, closing=(), after=0, max_tokens=most)
        assert valid.is_valid(json.loads(written)), (most, written)


def fits(grammar: maskwright.CompiledGrammar, max_tokens: int) -> bool:
    try:
        GrammarMatcher(grammar, max_tokens=max_tokens)
    except (maskwright.LimitError, maskwright.UnsatisfiableError):
        return False
    return True


@pytest.mark.parametrize(
    ("items", "outcome"),
    [
        ({"items": {"type": "string", "pattern": "^[ab]$"}, "minItems": 3}, maskwright.UnsatisfiableError),
        ({"items": {"type": "array", "maxItems": 2}}, maskwright.UnsupportedSchemaError),
        ({"items": {"type": "object", "maxProperties": 2}}, maskwright.UnsupportedSchemaError),
        ({"items": {"maxProperties": 2}}, maskwright.UnsupportedSchemaError),
        ({"prefixItems": [{"type": "string", "maxLength": 1}]}, maskwright.UnsupportedSchemaError),
        ({"items": {"type": "integer", "multipleOf": 7}}, maskwright.UnsupportedSchemaError),
    ],
)
def test_what_cannot_be_compared_or_satisfied(items: dict[str, Any], outcome: type[Exception]) -> None:
    with pytest.raises(outcome):
        COMPILER.compile_json_schema(schema_of(items))


def test_arrays_within_one_another_have_sets_of_their_own() -> None:
    inner = schema_of({"items": {"type": "string"}})
    grammar = COMPILER.compile_json_schema({"type": "array", "items": inner})
    assert accepts(grammar, '[["a", "b"], ["a", "b"]]')
    assert not accepts(grammar, '[["a", "b"], ["a", "a"]]')


def test_items_in_ascii_have_one_spelling() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "maxLength": 2}}
    grammar = COMPILER.compile_json_schema(schema, ensure_ascii=True)
    assert accepts(grammar, json.dumps(["é", "\x7f", "😀😀", "é\n", ""]))
    assert not accepts(grammar, '["é"]')
    assert not accepts(grammar, r'["\u00e9", "\u00E9"]')
    assert not accepts(grammar, r'["\ud83d\ude00", "\ud83d\uDE00"]')
