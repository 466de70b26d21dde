"""Which keyword rejects a text: the one that python-jsonschema reports for the value, where both can tell."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

import maskwright as mw
from maskwright.frontends.json_schema import DEFAULTS
from maskwright.frontends.json_schema.report.blame import Blame
from maskwright.frontends.json_schema.report.open_values import open_values

INFO = mw.TokenizerInfo.from_vocab([*(bytes((b,)) for b in range(256)), b""], stop_token_ids=[256])
COMPILER = mw.GrammarCompiler(INFO)
STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "additionalProperties": False,
}
CASES: list[tuple[Any, Any]] = [
    ({"type": "integer"}, "x"),
    ({"minimum": 100}, 12),
    ({"exclusiveMaximum": 5}, 5),
    ({"multipleOf": 5}, 12),
    ({"enum": ["red", "blue"]}, "rex"),
    ({"const": {"a": 1}}, {"a": 2}),
    ({"minLength": 3}, "ab"),
    ({"maxLength": 3}, "abcd"),
    ({"pattern": "^a+$"}, "aab"),
    ({"type": "array", "items": {"type": "null"}}, [None, 1]),
    ({"prefixItems": [True, {"type": "boolean"}]}, [1, 2]),
    ({"type": "array", "minItems": 2}, [1]),
    ({"type": "array", "maxItems": 1}, [1, 2]),
    ({"type": "array", "contains": {"const": 1}}, [2]),
    ({"items": {"properties": {"a": {"items": {"maximum": 3}}}}}, [{"a": [1, 4]}]),
    ({"required": ["a"]}, {"b": 1}),
    ({"properties": {"a": True}, "additionalProperties": False}, {"b": 1}),
    ({"patternProperties": {"^x": {"type": "integer"}}}, {"xy": "a"}),
    (STRINGS, {"a": "b", "c": 1}),
    ({"propertyNames": {"maxLength": 2}}, {"abc": 1}),
    ({"propertyNames": {"minLength": 2}}, {"ab": 1, "c": 1}),
    (
        {"items": {"propertyNames": {"allOf": [{"minLength": 1}, {"pattern": "^[a-z]+$"}]}}},
        [{"a": 1}, {"b": {}, "c!": 1}],
    ),
    ({"propertyNames": False}, {"a": 1}),
    ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, "ab"),
    ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "null"}}}, {"a": 1}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1),
    ({"not": {"type": "string"}}, "a"),
    ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a", "b", "a"]),
    ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "uniqueItems": True}, [[1], [1]]),
    ({"type": "array", "items": CLOSED, "uniqueItems": True}, [{"a": 1, "b": 2}, {"a": 1, "b": 2}]),
]


@pytest.mark.parametrize(("schema", "instance"), CASES, ids=lambda value: json.dumps(value)[:40])
def test_the_keyword_is_the_one_that_a_validator_reports(schema: Any, instance: Any) -> None:
    data = json.dumps(instance).encode()
    why = COMPILER.compile_json_schema(schema).explain_rejection(data)
    assert why is not None
    found = Blame(schema, DEFAULTS).find(data, why.offset)
    assert found is not None
    pointers = {
        "/" + "/".join(map(str, error.absolute_schema_path))
        for error in jsonschema.Draft202012Validator(schema).iter_errors(instance)
    }
    if "$defs" in schema:  # a validator's path leads through references, a pointer to where the keyword stands
        pointers = {pointer.replace("/$ref", "").replace("/properties/a", "/$defs/b") for pointer in pointers}
    assert found.pointer in pointers


def test_open_values() -> None:
    assert [v[:2] for v in open_values(b' {"a": {"b\\u0063": [1, tru')] == [(1, None), (7, "a"), (19, "bc"), (23, 1)]
    assert [v[:2] for v in open_values(b'{"a": "x"')] == [(0, None)]
    assert [v[:2] for v in open_values(b'{"a": 12')] == [(0, None), (6, "a")]
    assert [v[:2] for v in open_values(b'{"a": "x\\"')] == [(0, None), (6, "a")]
    assert [v[:2] for v in open_values(b"[[], ")] == [(0, None), (5, 1)]
    assert [tuple(v) for v in open_values(b'[{"a": 1, "b')] == [(0, None, False), (1, 0, False), (10, None, True)]


@pytest.mark.parametrize("text", [b"]}}", b",,", b'"', b"\xff{", b":", b'{"a"}:[,', b"[" * 1000])
def test_other_texts_end_in_an_answer(text: bytes) -> None:
    Blame(STRINGS, DEFAULTS).find(text, len(text))


def test_a_grammar_in_a_string() -> None:
    nested = {"syntax": "lark", "definition": 'start: "a" start "\\"" | "b"'}
    schema = {"properties": {"q": {"type": "string", "x-grammar": nested}}}
    found = Blame(schema, DEFAULTS).find(b'{"q": "aab\\"c"}', 12)
    assert found is not None
    assert (found.pointer, found.keyword, found.instance) == ("/properties/q/x-grammar", "x-grammar", "/q")
