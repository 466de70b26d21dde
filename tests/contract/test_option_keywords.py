"""Every entrance that reads JSON Schemas takes their options: by name, shown, checked, and part of what is kept."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import maskwright as mw
from maskwright.frontends.json_schema import JsonSchemaOptions
from maskwright.openai_shapes import chat_completion, responses, sglang, vllm
from maskwright.structural_tag import StructuralTag, get_model_structural_tag
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()
COMPILER = mw.GrammarCompiler(INFO)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
FORMAT = {"type": "json_schema", "json_schema": SCHEMA}
TAG = {"format": FORMAT}
TEXT = """{"format": {"type": "json_schema", "json_schema": {"properties": {"a": {"type": "integer"}},
"required": ["a"], "type": "object"}}}"""
NAMED = {"type": "json_schema", "name": "x", "schema": SCHEMA}
LARK = """start: %json {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"""
SIGNED = [
    mw.Grammar.from_json_schema,
    mw.Grammar.from_lark,
    mw.Grammar.from_structural_tag,
    mw.GrammarCompiler.compile_json_schema,
    mw.GrammarCompiler.compile_json_schema_async,
    mw.GrammarCompiler.compile_lark,
    mw.GrammarCompiler.compile_lark_async,
    mw.GrammarCompiler.compile_structural_tag,
    mw.GrammarCompiler.compile_structural_tag_async,
    mw.check,
    get_model_structural_tag,
    chat_completion,
    responses,
    vllm,
    sglang,
]

Entrance = Callable[..., mw.CompiledGrammar]


def compiled(grammar: mw.Grammar | None) -> mw.CompiledGrammar:
    assert grammar is not None
    return COMPILER.compile_grammar(grammar)


ENTRANCES: dict[str, Entrance] = {
    "from_json_schema": lambda **o: compiled(mw.Grammar.from_json_schema(SCHEMA, **o)),
    "from_lark": lambda **o: compiled(mw.Grammar.from_lark(LARK, **o)),
    "from_structural_tag": lambda **o: compiled(mw.Grammar.from_structural_tag(TAG, **o)),
    "compile_json_schema": lambda **o: COMPILER.compile_json_schema(SCHEMA, **o),
    "compile_json_schema_async": lambda **o: COMPILER.compile_json_schema_async(SCHEMA, **o).result(),
    "compile_lark": lambda **o: COMPILER.compile_lark(LARK, **o),
    "compile_lark_async": lambda **o: COMPILER.compile_lark_async(LARK, **o).result(),
    "compile_structural_tag": lambda **o: COMPILER.compile_structural_tag(TAG, **o),
    "compile_structural_tag text": lambda **o: COMPILER.compile_structural_tag(TEXT, **o),
    "compile_structural_tag_async": lambda **o: COMPILER.compile_structural_tag_async(TAG, **o).result(),
    "content": lambda **o: COMPILER.compile_structural_tag(
        get_model_structural_tag(
            "hermes", reasoning="disabled", content=mw.structural_tag.JSONSchemaFormat(SCHEMA), **o
        )
    ),
    "chat_completion": lambda **o: compiled(
        chat_completion(
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}}, **o
        )
    ),
    "chat_completion tag": lambda **o: compiled(
        chat_completion({"response_format": {"type": "structural_tag", **TAG}}, **o)
    ),
    "responses": lambda **o: compiled(responses({"text": {"format": NAMED}}, **o)),
    "vllm": lambda **o: compiled(vllm({"json": SCHEMA}, **o)),
    "vllm tag": lambda **o: compiled(vllm({"structural_tag": TAG}, **o)),
    "sglang": lambda **o: compiled(sglang({"json_schema": SCHEMA}, **o)),
    "sglang tag": lambda **o: compiled(sglang({"structural_tag": TAG}, **o)),
}


@pytest.fixture(params=ENTRANCES)
def entrance(request: pytest.FixtureRequest) -> Entrance:
    return ENTRANCES[request.param]


def test_options_count(entrance: Entrance) -> None:
    spaced, extra = '{ "a": 1 }', '{"a": 1, "b": 2}'
    for options, accepted, rejected in (
        ({}, [spaced, extra], ["{}"]),
        ({"strict_mode": True}, [spaced], [extra]),
        ({"any_whitespace": False}, [extra], [spaced]),
        ({"any_whitespace": False, "separators": (",", ":")}, [extra.replace(" ", "")], [extra, spaced]),
        ({"whitespace_pattern": " ?"}, [spaced, extra], [extra.replace(" ", "  ")]),
        ({"max_whitespace_cnt": 0, "strict_mode": None}, [extra.replace(" ", "")], [spaced]),
        ({}, [spaced, extra], ["{}"]),  # nothing is taken for what was compiled with other options
    ):
        grammar = entrance(**options)
        assert [text for text in accepted if not accepts(grammar, text)] == [], options
        assert [text for text in rejected if accepts(grammar, text)] == [], options


def test_wrong_options_are_errors(entrance: Entrance) -> None:
    for options, hint in (
        ({"strict": True}, "'strict_mode'"),
        ({"on_unsuported": "relax"}, "'on_unsupported'"),
        ({"zzz": 1}, "the options are"),
    ):
        with pytest.raises(mw.OptionError) as caught:
            entrance(**options)
        assert hint in str(caught.value.hint)
    for wrong in ({"strict_mode": "yes"}, {"indent": 2}, {"on_unsupported": "ignore"}, {"whitespace_pattern": "x"}):
        with pytest.raises(mw.OptionError) as caught:
            entrance(**wrong)
        assert caught.value.option in wrong


@pytest.mark.parametrize("function", SIGNED, ids=lambda function: function.__qualname__)
def test_signatures_show_the_options(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    for field in dataclasses.fields(JsonSchemaOptions):
        assert parameters[field.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[field.name].default == field.default
    assert "options" not in parameters
    assert "strict_mode: 'bool' = False" in str(inspect.signature(function))


def test_signatures_of_bound_methods() -> None:
    parameters = list(inspect.signature(COMPILER.compile_json_schema).parameters)
    assert parameters[:2] == ["schema", "any_whitespace"]
    assert inspect.signature(COMPILER.compile_json_schema).return_annotation == "CompiledGrammar"
    bound = inspect.signature(mw.Grammar.from_json_schema).bind({}, strict_mode=True)
    assert bound.arguments == {"schema": {}, "strict_mode": True}


def test_what_a_registry_holds_is_not_kept() -> None:
    def registry(schema: Any) -> Any:
        resource = DRAFT202012.create_resource(schema)
        return Registry().with_resource("https://a.example/s", resource)

    schema = {"$ref": "https://a.example/s"}
    content = {"type": "json_schema", "json_schema": schema}
    tag = {"format": {"type": "tag", "begin": "<", "content": content, "end": ""}}
    lark = """start: "<" %json {"$ref": "https://a.example/s"}"""
    for compile_ in (
        lambda **o: COMPILER.compile_structural_tag(tag, **o),
        lambda **o: COMPILER.compile_structural_tag(StructuralTag.from_json(tag), **o),
        lambda **o: COMPILER.compile_lark(lark, **o),
    ):
        for value in ("1", "2"):
            grammar = compile_(registry=registry({"const": int(value)}))
            assert accepts(grammar, f"<{value}")
            assert not accepts(grammar, "<3")
