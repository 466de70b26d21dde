"""`minProperties` where undeclared members are counted: random objects and outputs, against python-jsonschema."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

import maskwright
from frontends.json_schema.grammar_matcher import accepts_text
from frontends.json_schema.suite import spellings
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import UnsatisfiableError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from oracle.comparing import scaled, seeded

TOKENS = [*(bytes((byte,)) for byte in range(256)), b'":', b'", "', b'"a', b'1,"', b"1}", b'a":1,"', b'b":']
ENDING = (b'"', b"b", b"}", b"]", b":", b",", b"1")  # the first of these that is allowed leads to the end
INFO = TokenizerInfo.from_vocab([*TOKENS, b"</s>"], stop_token_ids=[len(TOKENS)])
COMPILER = GrammarCompiler(INFO)
A_INTEGER: Any = {"type": "integer"}
BY_PATTERN: Any = {
    "patternProperties": {"^a": A_INTEGER, "^b": {"type": "string"}},
    "additionalProperties": {"type": "null"},
}
DISTINCT_NAMES: list[Any] = [
    {"minProperties": 2},
    {"minProperties": 3, "maxProperties": 4},
    {"minProperties": 3, "properties": {"a": A_INTEGER, "b": True}},
    {"minProperties": 4, "properties": {"a": A_INTEGER, "b": True}, "required": ["b"]},
    {"minProperties": 4, "maxProperties": 4, "properties": {"a": A_INTEGER, "b": True}, "required": ["b"]},
    {"minProperties": 3, "required": ["é"], "additionalProperties": A_INTEGER},
    {"minProperties": 3, **BY_PATTERN},
    {"minProperties": 2, "maxProperties": 3, **BY_PATTERN},
    {"minProperties": 3, "patternProperties": {"^a": A_INTEGER, "b$": {"minimum": 0}}, "additionalProperties": False},
    {"minProperties": 2, "propertyNames": {"enum": ["a", "b", "c"]}, "additionalProperties": A_INTEGER},
    {"minProperties": 3, "propertyNames": {"maxLength": 1}},
    {"minProperties": 2, "additionalProperties": {"type": "object", "minProperties": 2}},
    {"minProperties": 2, "not": {"patternProperties": {"b": False}}},
    {"minProperties": 3, "maxProperties": 3, "not": {"propertyNames": {"maxLength": 1}}},
    {
        "minProperties": 2,
        "patternProperties": {"b": True},
        "additionalProperties": False,
        "not": {"propertyNames": {"maxLength": 1}},
    },
    {"minProperties": 2, "additionalProperties": {"uniqueItems": True, "items": {"type": "string"}}},
]
NAMES, VALUES = ("a", "b", "c", "aa", "ab", "bb", "é", "\n", "/"), (1, -1, None, "x", {"a": 1, "b": 2}, ["x", "x"])


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("counted", DISTINCT_NAMES, ids=str)
def test_undeclared_members_are_counted_by_their_names(counted: Any, any_order: bool) -> None:
    """Random objects in random spellings: none is accepted that is invalid, and each valid one in some order is."""
    schema = {"type": "object", **counted}
    grammar = schema_to_ir(schema, JsonSchemaOptions(any_order=any_order))
    valid, rng, accepted = jsonschema.Draft202012Validator(schema), seeded(f"{counted}"), 0
    alone = jsonschema.Draft202012Validator({**schema, "minProperties": 0, "required": [], "not": False})
    fitting = {name: [value for value in VALUES if alone.is_valid({name: value})] for name in NAMES}
    likely = [name for name in NAMES if fitting[name]]
    for _ in range(scaled(500)):
        chosen = rng.choices(likely if rng.random() < 0.9 else NAMES, k=rng.randrange(2, 6))
        members = [(name, rng.choice((rng.random() > 0.1 and fitting[name]) or VALUES)) for name in chosen]
        texts = [f"{spelled(name, rng)}: {json.dumps(value)}" for name, value in members]
        text = "{" + ", ".join(texts) + "}"
        if accepts_text(grammar, text):
            accepted += 1
            assert valid.is_valid(json.loads(text)), text
        value = dict(members)
        if valid.is_valid(value) and len(value) < 5:
            assert any(accepts_text(grammar, other) for other in spellings(value)), value
            accepted += 1
    assert accepted


def spelled(name: str, rng: random.Random) -> str:
    """A spelling of a name, most often the usual one."""
    if rng.random() < 0.8:
        return json.dumps(name, ensure_ascii=False)
    return '"' + "".join(f"\\u{ord(character):04x}" for character in name) + '"'


@pytest.mark.parametrize("counted", DISTINCT_NAMES, ids=str)
def test_outputs_come_to_an_end_and_are_valid(counted: Any) -> None:
    """Tokens at random among those allowed, those that end something more often."""
    schema = {"type": "object", **counted}
    grammar, valid = COMPILER.compile_json_schema(schema, any_order=True), jsonschema.Draft202012Validator(schema)
    rng, bitmask = seeded(f"outputs {counted}"), maskwright.allocate_token_bitmask(1, INFO.vocab_size)
    likely = {TOKENS.index(token) for token in (*TOKENS[256:], *(bytes((byte,)) for byte in b'ab1",:}]'))}
    for _ in range(scaled(20)):
        matcher, written = GrammarMatcher(grammar), b""
        for step in range(600):
            bitmask[:] = -1
            matcher.fill_next_token_bitmask(bitmask)
            allowed = [t for t in range(len(TOKENS) + 1) if bitmask[0, t // 32] >> (t % 32) & 1]
            assert allowed, written
            if matcher.is_completed():
                break
            ending = [t for t in map(TOKENS.index, ENDING) if step > 40 and t in allowed]
            token = ending[0] if ending else rng.choice([t for t in allowed if t in likely] or allowed)
            assert matcher.accept_token(token)
            written += TOKENS[token]
        assert valid.is_valid(json.loads(written)), written


def test_names_in_ascii_have_one_spelling() -> None:
    grammar = schema_to_ir({"type": "object", "minProperties": 2}, JsonSchemaOptions(ensure_ascii=True))
    for name in ("é", "\x7f", "\x80", "\u0fff", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", '"\n'):
        assert accepts_text(grammar, json.dumps({name: 1, "a": name}))
    assert not accepts_text(grammar, '{"\\u00e9": 1, "\\u00E9": 2}')
    assert not accepts_text(grammar, '{"\\ud83d\\ude00": 1, "\\uD83D\\uDE00": 2}')
    assert not accepts_text(grammar, '{"a": 1, "\\u0061": 2}')


def test_no_object_has_more_names_than_there_are() -> None:
    with pytest.raises(UnsatisfiableError):
        COMPILER.compile_json_schema({"type": "object", "minProperties": 4, "propertyNames": {"pattern": "^[abc]$"}})
