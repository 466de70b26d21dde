"""Why no value is valid: parts that contradict each other, all of them needed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from labels import label

pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
from frontends.json_schema.random_schemas import Maker
from maskwright import Grammar, GrammarCompiler, TokenizerInfo, UnsatisfiableError, check
from maskwright.errors import MaskwrightError
from maskwright.frontends import json_schema
from maskwright.frontends.json_schema import report, schema_to_ir
from maskwright.frontends.json_schema.report.contradiction import at, contradiction
from maskwright.ir.emptiness import admits_nothing
from timing import processor_seconds

COMPILER = GrammarCompiler(
    TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[256])
)
IMPOSSIBLE: Any = {
    "type": "object",
    "properties": {"y": {"minimum": 3, "maximum": 1, "type": "number"}},
    "required": ["z", "y"],
}
CASES: list[tuple[Any, list[str]]] = [
    (False, [""]),
    ({"title": "t", "type": "integer", "minimum": 3, "maximum": 2}, ["/type", "/minimum", "/maximum"]),
    ({"enum": []}, ["/enum"]),
    ({"not": {"title": "t"}, "type": "string"}, ["/not"]),
    ({"enum": ["a", "b"], "const": "c", "type": "string"}, ["/enum", "/const"]),
    ({"allOf": [{"type": "string"}, {"minLength": 3}, {"type": "null"}]}, ["/allOf/0/type", "/allOf/2/type"]),
    ({"type": "array", "items": {"$ref": "#"}, "minItems": 1}, ["/type", "/minItems"]),
    (
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "string", "pattern": "^a", "const": "b", "maxLength": 2}}},
        ["/$defs/n/pattern", "/$defs/n/const"],
    ),
    ({"if": {"type": "string"}, "then": False, "else": False}, ["/if", "/then", "/else"]),
    ({"oneOf": [{"type": "null"}, {"type": "null"}], "maxLength": 3}, ["/oneOf"]),
    (
        {"type": "object", "properties": {"a": True}, "additionalProperties": False, "required": ["a", "b"]},
        ["/type", "/additionalProperties", "/required/1"],
    ),
    (
        {"anyOf": [{"type": "integer", "minimum": 5}, {"const": 0, "title": "t"}], "maximum": 3, "exclusiveMinimum": 0},
        ["/anyOf/0/type", "/anyOf/0/minimum", "/anyOf/1/const", "/maximum", "/exclusiveMinimum"],
    ),
    ({"type": "string", "format": "date", "pattern": "^x", "minLength": 1}, ["/type", "/format", "/pattern"]),
]


@pytest.mark.parametrize(("schema", "pointers"), CASES, ids=[str(case[0])[:60] for case in CASES])
def test_what_contradicts_itself_is_named(schema: Any, pointers: list[str]) -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        COMPILER.compile_json_schema(schema)
    assert list(caught.value.pointers) == pointers
    assert all(f"#{pointer}" in str(caught.value) for pointer in pointers)


def test_what_only_automata_find_out_is_told_as_well() -> None:
    pattern = {"type": "string", "allOf": [{"pattern": "^.b"}, {"minLength": 1}, {"pattern": "^.c"}], "title": "t"}
    schema_to_ir(pattern)  # not plain to see
    with pytest.raises(UnsatisfiableError) as caught:
        COMPILER.compile_json_schema(pattern)
    assert caught.value.pointers == ("/type", "/allOf/0/pattern", "/allOf/2/pattern")
    (outcome,) = check(pattern).keywords
    assert outcome.outcome == "refused"
    assert '#/allOf/2/pattern ("^.c")' in str(outcome.reason)


def test_it_is_found_deep_inside_and_among_many() -> None:
    many = {f"p{i}": {"type": "string", "minLength": i} for i in range(300)}
    schema = {
        "title": "t",
        "type": "object",
        "properties": {**many, "x": IMPOSSIBLE},
        "required": [*many, "x"],
        "maxProperties": 900,
    }
    with pytest.raises(UnsatisfiableError) as caught:
        COMPILER.compile_json_schema(schema)
    y = "/properties/x/properties/y"
    x = {"/properties/x/type", "/properties/x/required/1", f"{y}/minimum", f"{y}/maximum", f"{y}/type"}
    assert set(caught.value.pointers) == {"/type", "/required/300"} | x


def test_a_long_contradiction_is_cut_short() -> None:
    schema = {"type": "object", "required": [f"p{i}" for i in range(60)], "maxProperties": 59}
    with pytest.raises(UnsatisfiableError) as caught:
        COMPILER.compile_json_schema(schema)
    assert len(caught.value.pointers) == 62
    assert "and 54 more contradict each other" in str(caught.value)


@pytest.mark.parametrize(("pattern", "inner"), [("/^[a-z]+$/", "^[a-z]+$"), ("/a$/gi", "(?i:a$)"), ("/^/a//", "^/a/")])
def test_slashes_around_a_pattern(pattern: str, inner: str) -> None:
    """They are part of it, and `^` never matches behind one."""
    for compile_it in (
        lambda: COMPILER.compile_json_schema({"type": "string", "pattern": pattern}),
        lambda: COMPILER.compile_regex(pattern),
    ):
        with pytest.raises(UnsatisfiableError) as caught:
            compile_it()
        assert caught.value.hint == f"leave out the slashes around the pattern: {inner}"
    COMPILER.compile_json_schema({"type": "string", "pattern": inner})
    COMPILER.compile_json_schema({"type": "string", "pattern": "/a/"})


def test_slashes_around_a_pattern_that_may_match() -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        COMPILER.compile_json_schema({"type": "string", "pattern": r"/a\$/", "maxLength": 3})
    assert caught.value.hint == "change or remove one of them"


def is_contradictory(schema: Any) -> bool:
    try:
        return admits_nothing(schema_to_ir(schema))
    except UnsatisfiableError:
        return True
    except MaskwrightError:
        return False


def test_what_is_named_is_contradictory_and_all_of_it_is_needed() -> None:
    keywords: list[tuple[str, list[Any]]] = [
        ("type", ["integer", "string", ["number", "null"]]),
        ("minimum", [0, 3, 5.5]),
        ("maximum", [-1, 2, 4]),
        ("multipleOf", [2, 7]),
        ("enum", [[1, 2, "a"], ["ab", None], [7, 3]]),
        ("const", [4, "a", None]),
        ("minLength", [1, 3]),
        ("maxLength", [0, 2]),
        ("pattern", ["^a", "b$"]),
        ("not", [{"type": "string"}, {"minimum": 2}]),
        ("title", ["t"]),
    ]
    rng, sizes = random.Random(7), []
    for _ in range(600):
        schema = {keyword: rng.choice(values) for keyword, values in rng.sample(keywords, rng.randint(2, 8))}
        if not is_contradictory(schema):
            continue
        parts = contradiction(schema, lambda other: (is_contradictory(other), 0))
        kept = {str(part[0]): schema[str(part[0])] for part in parts}
        assert is_contradictory(kept), (schema, kept)
        for keyword in kept:
            assert not is_contradictory({k: v for k, v in kept.items() if k != keyword}), (schema, kept)
        sizes.append(len(kept))
    assert len(sizes) > 100
    assert max(sizes) >= 3


def test_whatever_the_schema_it_ends_and_names_places() -> None:
    found = told = 0
    for seed in range(400):
        schema = Maker(seed).document()
        if is_contradictory(schema):
            parts = contradiction(schema, lambda other: (is_contradictory(other), 0))
            for part in parts:
                at(schema, part)
            found, told = found + 1, told + bool(parts)
    assert found > 15
    assert told >= 0.9 * found


def test_work_is_limited_and_what_is_named_then_is_still_contradictory(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"minimum": 3, "maximum": 2, "type": "integer", "multipleOf": 7}
    assert json_schema.why_unsatisfiable(schema).pointers == ("/minimum", "/maximum", "/type")
    monkeypatch.setattr(report.contradiction, "_MOST_WORK", 0)
    assert set(json_schema.why_unsatisfiable(schema).pointers) == {"/minimum", "/maximum", "/type", "/multipleOf"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": [f"p{i}" for i in range(800)], "maxProperties": 799},
        {"type": "object", "properties": {f"p{i}": IMPOSSIBLE for i in range(2000)}, "required": ["p1999"]},
        {"anyOf": [{"type": "string", "minLength": 5, "maxLength": i % 5} for i in range(2000)]},
        {
            "allOf": [{"required": [f"p{i}" for i in range(j)]} for j in range(200)],
            "maxProperties": 3,
            "type": "object",
        },
    ],
    ids=["required", "properties", "anyOf", "allOf"],
)
def test_it_is_found_or_given_up_soon(schema: Any) -> None:
    assert processor_seconds(lambda: json_schema.why_unsatisfiable(schema)) < 2  # half a second where nothing else runs
    assert json_schema.why_unsatisfiable(schema).pointers


def in_a_tag(schema: Any, style: str) -> Grammar:
    return Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": schema, "style": style}})


NO_NUMBERS: list[tuple[Any, set[str]]] = [
    ({"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6}, {"type", "multipleOf", "minimum", "maximum"}),
    ({"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9}, {"type", "multipleOf", "minimum", "maximum"}),
    ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, {"type", "minimum", "maximum"}),
    ({"type": "number", "multipleOf": 0.3, "minimum": 0.1, "exclusiveMaximum": 0.3},
     {"type", "multipleOf", "minimum", "exclusiveMaximum"}),
    ({"type": "number", "multipleOf": 5, "exclusiveMinimum": -5, "exclusiveMaximum": 0},
     {"type", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"}),
    ({"type": "integer", "multipleOf": 0.7, "minimum": 1, "maximum": 6}, {"type", "multipleOf", "minimum", "maximum"}),
]  # fmt: skip
ENTRANCES = [
    Grammar.from_json_schema,
    COMPILER.compile_json_schema,
    lambda schema: Grammar.from_lark(f"start: %json {json.dumps(schema)}"),
    lambda schema: in_a_tag(schema, "json"),
    lambda schema: in_a_tag({"type": "object", "properties": {"v": schema}, "required": ["v"]}, "glm_xml"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "keywords"), NO_NUMBERS, ids=label)
def test_numbers_that_do_not_exist_name_their_keywords_at_every_entrance(schema: Any, keywords: set[str]) -> None:
    for enter in ENTRANCES:
        with pytest.raises(MaskwrightError) as caught:
            enter(schema)
        assert all(f"/{keyword} (" in str(caught.value) for keyword in keywords), str(caught.value)


def test_numbers_that_do_exist_are_left() -> None:
    for most in (6.9, 7, 7.1):
        schema = {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": most}
        assert is_contradictory(schema) == (most < 7)
