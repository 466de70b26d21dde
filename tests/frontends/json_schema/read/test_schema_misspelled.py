"""Misspelled keywords are reported; extensions are not taken for them."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import maskwright
from maskwright import Grammar, GrammarCompiler, SchemaWarning, TokenizerInfo, openai_shapes
from maskwright.frontends.json_schema.options import NOT_A_KEYWORD
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS
from maskwright.frontends.json_schema.read.misspelled import meant_by
from maskwright.structural_tag import get_model_structural_tag
from timing import processor_seconds

INFO = TokenizerInfo.from_vocab([bytes((b,)) for b in range(256)] + ["</s>"], stop_token_ids=[256])
REQUIRD = {"type": "object", "requird": ["a"]}


def read_in_silence(schema: Any) -> Grammar:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        return Grammar.from_json_schema(schema)


def test_no_keyword_is_taken_for_another() -> None:
    assert [keyword for keyword in KEYWORDS if meant_by(keyword) is not None] == []


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "meant"),
    [
        ({"propertys": {"a": {}}}, "/propertys", "propertys", "properties"),
        ({"type": "object", "propertys": {}}, "/propertys", "propertys", "properties"),
        ({"type": "string", "minLenght": 3}, "/minLenght", "minLenght", "minLength"),
        ({"items": {"type": "string", "max_length": 3}}, "/items/max_length", "max_length", "maxLength"),
        ({"properties": {"a": {"Type": "string"}}}, "/properties/a/Type", "Type", "type"),
        ({"type": "object", "additionalProps": {}, "require": ["a"]}, "/require", "require", "required"),
        ({"type": "string", "x-gramar": {}}, "/x-gramar", "x-gramar", "x-grammar"),
        ({"type": "string", "xGrammar": {}}, "/xGrammar", "xGrammar", "x-grammar"),
        ({"anyof": [{"type": "null"}]}, "/anyof", "anyof", "anyOf"),
        ({"allOf": [{"minimun": 3}]}, "/allOf/0/minimun", "minimun", "minimum"),
        ({"$defs": {"a": {"patern": "^a"}}, "$ref": "#/$defs/a"}, "/$defs/a/patern", "patern", "pattern"),
    ],
    ids=str,
)
def test_a_misspelled_keyword_is_a_finding(schema: Any, pointer: str, keyword: str, meant: str) -> None:
    for _ in range(2):  # what leaves were is kept
        [found] = [finding for finding in read_in_silence(schema).report if finding.pointer == pointer]
        assert found.keyword == keyword
        assert found.outcome == "annotation"
        assert found.reason == f"unknown keyword {keyword!r}; did you mean {meant!r}?"
    [outcome] = [outcome for outcome in maskwright.check(schema).keywords if outcome.pointer == pointer]
    assert outcome[1:] == (keyword, "annotation", f"unknown keyword {keyword!r}", f"did you mean {meant!r}?")


@pytest.mark.parametrize(
    "keyword",
    [
        *("x-type", "x-enum", "x_items", "_format", "discriminator", "example", "examples", "nullable", "xml", "form"),
        *("errorMessage", "enumNames", "titel", "descripton", "readonly", "defaults", "requires", "extends", "name"),
        *("label", "order", "group", "units", "widget", "hint", "faker", "tags", "version", "kind", "category", "t"),
        *("hidden", "visible", "ui:widget", "javaType", "tsType", "$comment", "$async", "values", "multiple"),
        *("markdownDescription", "constraints"),
    ],
)  # fmt: skip
def test_extensions_and_annotations_are_none(keyword: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", keyword: "text"}}, keyword: "text"}
    report = Grammar.from_json_schema(schema).report  # a warning would be an error here
    is_known = keyword in KEYWORDS
    assert {(found.pointer, found.reason) for found in report if found.is_extension} == (
        set() if is_known else {(f"{at}/{keyword}", NOT_A_KEYWORD) for at in ("", "/properties/a")}
    )
    assert len(report) == (0 if is_known else 2)


def test_names_of_members_are_not_keywords() -> None:
    schema = {"properties": {"propertys": {}, "typ": {}}, "required": ["minLenght"], "default": {"anyof": 1}}
    assert Grammar.from_json_schema(schema).report == ()


def test_what_is_near_nothing_is_unknown() -> None:
    assert [meant_by(keyword) for keyword in ("foo", "", "a" * 1000, "itms", "item", "ref")] == [
        None, None, None, "items", "items", "$ref",
    ]  # fmt: skip


def test_extensions_are_reported_wherever_they_stand() -> None:
    """Also in places that share one grammar with others, and in what is compiled later."""
    inner = {"type": "string", "x-a": 1}
    schema = {
        "type": "object",
        "properties": {"a": inner, "b": {"type": "array", "items": {**inner}}, "c": {"$ref": "#/$defs/C"}},
        "additionalProperties": {"x-a": 1},
        "$defs": {"C": {**inner, "maxLength": 3}, "unused": {**inner}},
    }
    pointers = {"/properties/a/x-a", "/properties/b/items/x-a", "/$defs/C/x-a", "/additionalProperties/x-a"}
    assert {found.pointer for found in Grammar.from_json_schema(schema).report} == pointers
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    report = Grammar.from_structural_tag(get_model_structural_tag("hermes", [tool])).report
    assert {found.pointer.removeprefix("/tools/0/function/parameters") for found in report} == pointers


def test_many_extensions_take_time_that_is_linear_in_their_number() -> None:
    def seconds(count: int) -> float:
        schema = {"type": "object", **{f"x-{i}": i for i in range(count)}}
        return processor_seconds(lambda: Grammar.from_json_schema(schema), runs=3)

    assert seconds(40_000) < 40 * max(seconds(4_000), 0.001)


def test_a_mistake_is_a_warning_where_the_callers_code_is() -> None:
    with pytest.warns(SchemaWarning) as caught:
        Grammar.from_json_schema({**REQUIRD, "properties": {"a": {"maximun": 3}}})
    [shown] = caught
    assert shown.filename == __file__
    assert isinstance(shown.message, SchemaWarning)
    assert str(shown.message) == (
        "at #/requird: unknown keyword 'requird'; did you mean 'required'? (and 1 more: see Grammar.report)"
    )
    assert (shown.message.pointer, shown.message.keyword, shown.message.num_more) == ("/requird", "requird", 1)


TOOL = {"type": "function", "function": {"name": "f", "parameters": REQUIRD}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "a", "schema": REQUIRD}}


@pytest.mark.parametrize(
    ("read", "pointer"),
    [
        (lambda: GrammarCompiler(INFO).compile_json_schema(REQUIRD), "/requird"),
        (lambda: GrammarCompiler(INFO).compile_json_schema(json.dumps(REQUIRD)), "/requird"),
        (lambda: GrammarCompiler(INFO).compile_json_schema_async(REQUIRD).result(), "/requird"),
        (lambda: Grammar.from_lark(f"start: %json {json.dumps(REQUIRD)}"), "/requird"),
        (
            lambda: GrammarCompiler(INFO).compile_structural_tag(get_model_structural_tag("hermes", [TOOL])),
            "/tools/0/function/parameters/requird",
        ),
        (
            lambda: Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": REQUIRD}}),
            "/format/json_schema/requird",
        ),
        (
            lambda: openai_shapes.chat_completion({"response_format": FORMAT}),
            "/response_format/json_schema/schema/requird",
        ),
        (lambda: openai_shapes.vllm({"json": REQUIRD}), "/structured_outputs/json/requird"),
    ],
    ids=["compiled", "text", "async", "lark", "tool", "tag", "chat", "vllm"],
)
def test_every_entrance_warns(read: Any, pointer: str) -> None:
    with pytest.warns(SchemaWarning) as caught:
        read()
    assert [shown.message.pointer for shown in caught if isinstance(shown.message, SchemaWarning)] == [pointer]


def test_compiling_warns_once_and_looking_at_the_grammar_does_not() -> None:
    compiler = GrammarCompiler(INFO)
    with pytest.warns(SchemaWarning):
        compiled = compiler.compile_json_schema(REQUIRD)
    again = compiler.compile_json_schema(dict(REQUIRD))  # a warning would be an error here
    assert again is compiled
    assert compiled.grammar.ir is not None
    assert compiled.explain_rejection("x") is not None


def test_what_may_be_meant_as_it_is_gives_no_warning() -> None:
    Grammar.from_json_schema({"type": "string", "format": "topic", "x-requird": 1, "example": "a"})
    Grammar.from_json_schema({"type": "array", "uniqueItems": True}, on_unsupported="relax")
