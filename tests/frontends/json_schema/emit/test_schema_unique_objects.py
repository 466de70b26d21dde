"""`uniqueItems` over objects and arrays: random arrays and random outputs, against python-jsonschema."""

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
    *(b'{"', b'": "', b'", "', b'"}', b'"}, {"', b'{"a": "', b'{"a": 1', b'"}]', b"}, ", b"}]", b"]]", b"[[", b"true"),
]
INFO = TokenizerInfo.from_vocab([*TOKENS, b"</s>"], stop_token_ids=[len(TOKENS)])
COMPILER = GrammarCompiler(INFO)
STRING: dict[str, Any] = {"type": "string"}
LETTER: dict[str, Any] = {"enum": ["a", "b"]}


def closed(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


NUMBERS = {"type": "array", "items": {"type": "number"}}
SHORT = {"type": "array", "items": LETTER, "minItems": 1, "maxItems": 2}
ITEMS: list[dict[str, Any]] = [
    closed({"a": STRING, "b": {"type": "integer"}}, "a"),
    closed({"b": STRING, "a": {"type": "number"}}, "a", "b"),
    closed({"a": LETTER, "b": {"type": "boolean"}, "é\n": LETTER}),
    closed({"a": LETTER, "b": {"type": ["boolean", "null"]}}, minProperties=1),
    closed({"a": LETTER, "b": {"type": "boolean"}}, minProperties=2),
    closed({}),
    {"oneOf": [{"type": "string", "minLength": 1}, closed({"a": STRING, "b": {"type": "boolean"}}, "a", "b")]},
    {"anyOf": [closed({"a": LETTER, "b": LETTER}, "a"), closed({"b": LETTER, "c": STRING, "a": LETTER}, "b")]},
    {"anyOf": [closed({"a": closed({"a": LETTER, "b": LETTER})}), closed({"a": closed({"b": LETTER, "a": LETTER})})]},
    NUMBERS,
    SHORT,
    {"type": "array", "prefixItems": [LETTER, {"type": "integer"}], "items": False},
    {"type": "array", "prefixItems": [LETTER, {"type": "integer"}, LETTER], "minItems": 2, "items": {"type": "null"}},
    closed({"a": NUMBERS, "b": {"type": "array", "items": closed({"a": STRING, "b": LETTER})}}),
]
SCHEMAS: list[dict[str, Any]] = [
    *({"type": "array", "uniqueItems": True, "items": items} for items in ITEMS),
    {"type": "array", "uniqueItems": True, "items": ITEMS[2], "minItems": 9},
    {"type": "array", "uniqueItems": True, "items": SHORT, "minItems": 6, "maxItems": 6},
    {"type": "array", "uniqueItems": True, "items": closed({"a": LETTER, "b": LETTER}, "a", "b"), "maxItems": 3},
]


def name_of(schema: dict[str, Any]) -> str:
    return f"{SCHEMAS.index(schema)}"


def value(rng: random.Random, depth: int = 2) -> Any:
    """Some value that items of these schemas are likely to have in them."""
    kind = rng.randrange(7 if depth else 4)
    if kind < 2:
        return rng.choice(("a", "b", "", "x"))
    if kind < 4:
        return rng.choice((0, 1, -1, 1.5, 10, True, False, None))
    if kind == 4:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    names = rng.sample(["a", "b", "c", "é\n"], rng.randrange(4))
    return {name: value(rng, depth - 1) for name in names}


def fitting(schema: dict[str, Any], rng: random.Random) -> Any:
    """A value that is mostly valid, with members in any order."""
    if rng.random() < 0.03:
        return value(rng)
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            return fitting(rng.choice(schema[keyword]), rng)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if not schema:
        return value(rng, 1)
    kind = schema["type"] if isinstance(schema["type"], str) else rng.choice(schema["type"])
    if kind == "object":
        required = schema.get("required", ())
        names = [name for name in schema.get("properties", ()) if name in required or rng.random() < 0.6]
        rng.shuffle(names)
        return {name: fitting(schema["properties"][name], rng) for name in names}
    if kind == "array":
        prefix, rest = schema.get("prefixItems", []), schema.get("items", {})
        count = rng.randrange(schema.get("minItems", 0), len(prefix) + 1 + (3 if rest is not False else 0))
        return [fitting(prefix[i] if i < len(prefix) else rest, rng) for i in range(count) if i < len(prefix) or rest]
    return {
        "string": rng.choice(("a", "b", "x", "")),
        "integer": rng.choice((0, 1, 10)),
        "number": rng.choice((0, 1, 1.5, -2)),
        "boolean": rng.random() < 0.5,
        "null": None,
    }[kind]


def respelled(value: Any, rng: random.Random) -> str:
    """A spelling of a value, often not the usual one."""
    space = rng.choice(("", "", "", " ", "\n"))
    if isinstance(value, dict):
        names = rng.sample(list(value), len(value))
        members = [respelled(name, rng) + f":{space or ' '}" + respelled(value[name], rng) for name in names]
        return "{" + f",{space or ' '}".join(members) + "}"
    if isinstance(value, list):
        return "[" + f",{space or ' '}".join(respelled(item, rng) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if rng.random() < 0.9 else escaped(value)
    if isinstance(value, bool) or value is None or rng.random() < 0.8:
        return json.dumps(value)
    return f"{value}.0" if isinstance(value, int) else f"{value}0"


def escaped(text: str) -> str:
    return '"' + "".join(f"\\u{ord(character):04x}" for character in text) + '"'


def in_order(value: Any, names: list[str]) -> Any:
    """The value with the members of all its objects in one order."""
    if isinstance(value, dict):
        return {name: in_order(value[name], names) for name in sorted(value, key=names.index)}
    return [in_order(item, names) for item in value] if isinstance(value, list) else value


def accepts(grammar: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize("schema", SCHEMAS, ids=name_of)
@pytest.mark.parametrize("any_order", [False, True])
def test_no_invalid_array_is_accepted_in_any_spelling(schema: dict[str, Any], any_order: bool) -> None:
    grammar, valid = COMPILER.compile_json_schema(schema, any_order=any_order), jsonschema.Draft202012Validator(schema)
    rng = seeded(f"{any_order} {schema}")
    names = ["b", "a", "c", "é\n"] if schema["items"] is ITEMS[1] else ["a", "b", "c", "é\n"]
    valid_seen = repeated_seen = 0
    least = schema.get("minItems", 0)
    for _ in range(scaled(300)):
        values = [fitting(schema["items"], rng) for _ in range(rng.randrange(least, least + 5))]
        if values and rng.random() < 0.3:
            values.append(rng.choice(values))
        text = "[" + ", ".join(respelled(value, rng) for value in values) + "]"
        is_valid = valid.is_valid(values)
        assert is_valid or not accepts(grammar, text), text
        plain = json.dumps(in_order(values, names), ensure_ascii=False)
        assert accepts(grammar, plain) == is_valid, plain
        valid_seen += is_valid
        repeated_seen += not is_valid
    assert repeated_seen > 0
    assert valid_seen > 0 or least


@pytest.mark.parametrize("schema", SCHEMAS, ids=name_of)
def test_outputs_come_to_an_end_and_are_valid(schema: dict[str, Any]) -> None:
    """Tokens at random among those allowed, some more often, so that items begin like earlier ones."""
    grammar, valid = COMPILER.compile_json_schema(schema), jsonschema.Draft202012Validator(schema)
    rng = seeded(f"outputs {schema}")
    likely = {token for token in TOKENS if len(token) > 1 or token in b'ab10{}[]",:'}
    for _ in range(scaled(30)):
        written = random_output(grammar, TOKENS, rng, likely=likely, closing=(b"]", b"}", b'"'), after=80)
        assert valid.is_valid(json.loads(written)), written


def open_to(extras: Any, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    more |= {} if extras is None else {"additionalProperties": extras}
    return {"type": "object", "properties": properties, "required": list(required), **more}


OPEN: list[dict[str, Any]] = [
    open_to(None, {"a": STRING}, "a"),
    open_to(None, {"b": {"type": "number"}, "a": STRING}, "b"),
    open_to({"type": ["integer", "array"]}, {"a": STRING, "b": LETTER}, "a"),
    open_to({"type": "null"}, {"a": STRING}, "a", patternProperties={"^c": {"type": "boolean"}}),
    open_to({"type": "array", "items": STRING, "uniqueItems": True}, {"a": STRING, "b": LETTER}, "a", "b"),
    open_to(None, {}),
    open_to(None, {"a": LETTER}, "a"),
    open_to(False, {"a": LETTER, "b": {"type": "boolean"}, "c": {"type": "object"}}),
    open_to(False, {"a": LETTER, "c": STRING, "b": open_to({"type": "integer"}, {})}, "a"),
    open_to(False, {}, patternProperties={"^c": {"type": ["boolean", "array"]}}),
    {"anyOf": [STRING, open_to(None, {"a": STRING}, "a")]},
    {"type": "array", "items": open_to(None, {})},
    {"type": "array", "items": {"type": "array", "items": {"type": "object"}}, "minItems": 1},
    {"type": ["array", "object", "integer", "boolean"], "items": {}, "properties": {}},
]


@pytest.mark.parametrize("items", OPEN, ids=range(len(OPEN)))
@pytest.mark.parametrize("any_order", [False, True])
def test_open_objects_and_others_are_compared_by_value(items: dict[str, Any], any_order: bool) -> None:
    """Random arrays: none that is invalid is accepted in any spelling, each valid one is with its members in order."""
    schema = {"type": "array", "uniqueItems": True, "items": items}
    grammar, valid = COMPILER.compile_json_schema(schema, any_order=any_order), jsonschema.Draft202012Validator(schema)
    rng, seen = seeded(f"{any_order} {schema}"), [0, 0]
    names = [*items.get("properties", ()), "a", "b", "c", "é\n"]
    for _ in range(scaled(300)):
        values: list[Any] = []
        for _ in range(rng.randrange(4)):
            extras = rng.choice(({}, {"c": True}, {"é\n": None}, {"c": ["x"]}, {"é\n": 1, "c": 0}))
            item = fitting(items, rng)
            values.append(item | extras if isinstance(item, dict) and items.get("additionalProperties", 1) else item)
        if values and rng.random() < 0.3:
            values.append(rng.choice(values))
        text = "[" + ", ".join(respelled(value, rng) for value in values) + "]"
        is_valid = valid.is_valid(values)
        assert is_valid or not accepts(grammar, text), text
        plain = json.dumps(in_order(values, names), ensure_ascii=False)
        assert accepts(grammar, plain) == is_valid, plain
        seen[is_valid] += 1
    assert all(seen)


def test_any_spelling_of_an_earlier_object_is_refused() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": OPEN[0], "minItems": 2}
    matcher = GrammarMatcher(COMPILER.compile_json_schema(schema, any_order=True))
    assert matcher.accept_string('[{"a": "x", "c": {"d": [1]}, "b": 2}, {"b":2e0,"c": {"d": [1.0 ]}, "a": "\\u0078"')
    assert not matcher.accept_string("}")
    assert not matcher.accept_string(" }")
    assert matcher.accept_string(', "e": 0}')
    assert matcher.accept_string("]")
    assert matcher.is_completed()


@pytest.mark.parametrize("items", OPEN, ids=range(len(OPEN)))
def test_outputs_with_open_objects_come_to_an_end_and_are_valid(items: dict[str, Any]) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": items, "minItems": 2}
    grammar, valid = COMPILER.compile_json_schema(schema), jsonschema.Draft202012Validator(schema)
    rng = seeded(f"open {schema}")
    likely = {token for token in TOKENS if len(token) > 1 or token in b'ab10{}[]",:'}
    for _ in range(scaled(30)):
        written = random_output(grammar, TOKENS, rng, likely=likely, closing=(b"]", b"}", b'"'), after=80)
        assert valid.is_valid(json.loads(written)), written


@pytest.mark.parametrize(
    ("items", "options", "accepted", "rejected"),
    [
        (closed({"a": STRING}), {"any_whitespace": False, "indent": 1}, '[\n {\n  "a": ""\n }\n]', '[\n {"a": ""}\n]'),
        (closed({"a": STRING}), {"any_whitespace": False, "separators": (",", ":")}, '[{"a":""}]', '[{"a": ""}]'),
        (closed({"a": STRING}), {"max_whitespace_cnt": 0}, '[{"a":""}]', '[{"a": ""}]'),
        (closed({"a": STRING}), {"whitespace_pattern": " ?"}, '[{ "a": "" }]', '[{"a":  ""}]'),
        (closed({"é": LETTER}), {"ensure_ascii": True}, '[{"\\u00e9": "a"}]', '[{"é": "a"}]'),
        ({"type": "object", "properties": {"a": STRING}}, {"strict_mode": True}, '[{"a": ""}]', '[{"a": "", "b": 1}]'),
        ({"type": "array", "prefixItems": [LETTER]}, {"strict_mode": True}, '[["a"]]', '[["a", 1]]'),
    ],
)
def test_options_of_layout_hold_within_items(
    items: dict[str, Any], options: dict[str, Any], accepted: str, rejected: str
) -> None:
    schema = {"type": "array", "items": items, "uniqueItems": True}
    grammar = COMPILER.compile_json_schema(schema, **options)
    assert accepts(grammar, accepted)
    assert not accepts(grammar, rejected)


@pytest.mark.parametrize("levels", [1, 14, 15, 16, 40])
def test_what_is_too_deep_in_one_list_is_compared_in_another(levels: int) -> None:
    flat = deep = {"$ref": "#/$defs/outer"}
    for _ in range(levels):
        deep = closed({"a": deep})
    lists = {"deep": deep, "flat": flat}
    unique = {name: {"type": "array", "items": items, "uniqueItems": True} for name, items in lists.items()}
    inner = {"$ref": "#/$defs/inner"}
    schema = {**closed(unique), "$defs": {"outer": closed({"b": inner}), "inner": closed({"c": STRING})}}
    grammar = maskwright.Grammar.from_json_schema(schema, on_unsupported="relax")
    relaxed = ["/properties/deep/uniqueItems"] if levels > 14 else []
    assert [finding.pointer for finding in grammar.report if finding.outcome == "relaxed"] == relaxed
    compiled = COMPILER.compile_grammar(grammar)
    assert accepts(compiled, '{"flat": [{"b": {"c": "x"}}, {"b": {"c": "y"}}]}')
    assert not accepts(compiled, '{"flat": [{"b": {"c": "x"}}, {"b": {"c": "x"}}]}')


@pytest.mark.parametrize(
    ("items", "options"),
    [
        (open_to({"$ref": "#"}, {"a": STRING}, "a"), {}),
        (open_to(None, {"a": STRING}, "a", maxProperties=2), {}),
        ({"$ref": "#/$defs/tree"}, {}),
        (closed({"a": {}}), {}),
        (closed({"a": {"type": "object"}, "b": LETTER}), {}),
        (open_to(None, {}), {"any_whitespace": False, "indent": 2}),
        ({"type": "array", "items": {"type": "object"}, "maxItems": 3}, {}),
        (open_to(False, {}, patternProperties={"^a?$": STRING}), {}),
        (closed({"a": {"type": "array", "items": STRING, "uniqueItems": True}}), {}),
        (closed({"a": STRING, "b": STRING, "c": STRING}, maxProperties=2), {}),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(items: dict[str, Any], options: dict[str, Any]) -> None:
    tree = closed({"child": {"$ref": "#/$defs/tree"}})
    schema = {"type": "array", "items": items, "uniqueItems": True, "$defs": {"tree": tree}}
    with pytest.raises(maskwright.UnsupportedSchemaError) as caught:
        COMPILER.compile_json_schema(schema, **options)
    assert caught.value.pointer == "/uniqueItems"
    grammar = maskwright.Grammar.from_json_schema(schema, on_unsupported="relax", **options)
    assert "/uniqueItems" in [finding.pointer for finding in grammar.report if finding.outcome == "relaxed"]
