"""JSON Schema options in structural tags: those of a format, those given beside a tag, and what is reported."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import maskwright as mw
from maskwright import structural_tag as st
from maskwright.frontends.json_schema import DEFAULTS, JsonSchemaOptions
from maskwright.structural_tag.formats.defaults import with_defaults
from structural_tag.spelling import accepts, vocabulary

INFO = vocabulary()
COMPILER = mw.GrammarCompiler(INFO)
TAGS = {"type": "string"}
UNIQUE = {"type": "array", "items": {"type": "object", "maxProperties": 3}, "uniqueItems": True}


def function(name: str, properties: Any, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def test_a_format_has_every_option() -> None:
    options = {field.name for field in dataclasses.fields(JsonSchemaOptions)}
    fields = {field.name: field.default for field in dataclasses.fields(st.JSONSchemaFormat)}
    assert options <= fields.keys()
    assert {fields[name] for name in options} == {None}
    assert st.JSONSchemaFormat(True).options == DEFAULTS


@pytest.mark.parametrize(
    "options",
    [
        {"any_whitespace": False, "indent": 2, "ensure_ascii": True},
        {"any_whitespace": False, "separators": [",", ":"], "on_unsupported": "relax"},
        {"whitespace_pattern": " ?", "formats": "annotate", "any_order": True, "strict_mode": False, "numbers": "any"},
    ],
)
def test_options_of_a_format_in_json(options: dict[str, Any]) -> None:
    made = st.JSONSchemaFormat({"type": "object"}, **options)
    data = {"type": "json_schema", "json_schema": {"type": "object"}, **options}
    assert made.to_dict() == data
    assert st.StructuralTag.from_json({"format": data}).format == made
    assert made.options == JsonSchemaOptions(**options)


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"indent": 2}, "/format/indent"),
        ({"indent": -1}, "/format/indent"),
        ({"separators": ","}, "/format/separators"),
        ({"any_whitespace": False, "separators": [";", ":"]}, "/format/separators"),
        ({"on_unsupported": "ignore"}, "/format/on_unsupported"),
        ({"formats": 1}, "/format/formats"),
        ({"strict": True}, "/format/strict"),
    ],
)
def test_wrong_options_of_a_format(options: dict[str, Any], pointer: str) -> None:
    with pytest.raises(mw.StructuralTagError) as caught:
        mw.Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": {}, **options}})
    assert caught.value.pointer == pointer


def test_what_a_format_says_wins() -> None:
    given = {"strict_mode": True, "whitespace_pattern": " ", "any_order": True}
    for said, expected in (
        ({}, given),
        ({"strict_mode": False}, {**given, "strict_mode": False}),
        ({"max_whitespace_cnt": 1}, {"strict_mode": True, "any_order": True, "max_whitespace_cnt": 1}),
        ({"any_whitespace": False}, {"strict_mode": True, "any_order": True, "any_whitespace": False}),
    ):
        assert with_defaults(st.JSONSchemaFormat(True, **said), given) == st.JSONSchemaFormat(True, **expected)


def test_every_format_is_reached() -> None:
    inner = {"type": "json_schema", "json_schema": {"properties": {"a": True}}}
    xml = {"type": "qwen_xml_parameter", "json_schema": {"properties": {"a": True}}}
    tag = {"begin": "<", "content": inner, "end": ">"}
    opened, closed = '{"b":1}', '{"a":1}'
    for data, form in (
        ({"type": "sequence", "elements": [inner]}, "{}"),
        ({"type": "or", "elements": [inner]}, "{}"),
        ({"type": "optional", "content": inner}, "{}"),
        ({"type": "plus", "content": inner}, "{}"),
        ({"type": "star", "content": inner}, "{}"),
        ({"type": "repeat", "content": inner, "min": 1, "max": 2}, "{}"),
        ({"type": "tag", **tag}, "<{}>"),
        ({"type": "triggered_tags", "triggers": ["<"], "tags": [tag]}, "<{}>"),
        ({"type": "tags_with_separator", "tags": [tag], "separator": ","}, "<{}>"),
        ({"type": "dispatch", "rules": [["<", inner]]}, "<{}"),
        ({"type": "token_dispatch", "rules": [[60, inner]]}, "<{}"),
        (
            {
                "type": "token_triggered_tags",
                "trigger_tokens": [60],
                "tags": [{**tag, "begin": {"type": "token", "token": 60}}],
            },
            "<{}>",
        ),
    ):
        grammar = COMPILER.compile_structural_tag({"format": data}, strict_mode=True)
        assert accepts(grammar, form.format(closed)), data
        assert not accepts(grammar, form.format(opened)), data
        assert accepts(COMPILER.compile_structural_tag({"format": data}), form.format(opened)), data
    grammar = COMPILER.compile_structural_tag({"format": xml}, strict_mode=True)
    assert accepts(grammar, "<parameter=a>1</parameter>")
    assert not accepts(grammar, "<parameter=b>1</parameter>")


def test_formats_nest_within_the_limit() -> None:
    deep: st.Format = st.JSONSchemaFormat(True)
    for _ in range(5000):
        deep = st.OptionalFormat(deep)
    with pytest.raises(mw.LimitError):
        mw.Grammar.from_structural_tag(st.StructuralTag(deep), strict_mode=True)


@pytest.mark.parametrize("family", ["hermes", "qwen_3_coder", "kimi_k3", "gemma_4", "harmony", "llama_4_pythonic"])
def test_what_is_relaxed_is_reported(family: str) -> None:
    tools = [function("f", {"a": TAGS}), function("g", {"a": TAGS, "tags": UNIQUE}), function("h", {"b": TAGS})]
    pointer = "/tools/1/function/parameters/properties/tags"
    tag = st.get_model_structural_tag(family, tools)
    with pytest.raises(mw.UnsupportedSchemaError) as caught:
        COMPILER.compile_structural_tag(tag)
    assert caught.value.pointer.startswith(pointer)
    assert "on_unsupported" in str(caught.value.hint)
    relaxed = (
        COMPILER.compile_structural_tag(tag, on_unsupported="relax"),
        COMPILER.compile_structural_tag(st.get_model_structural_tag(family, tools, on_unsupported="relax")),
        COMPILER.compile_structural_tag(tag, on_unsupported="relax"),  # all known by now
    )
    for each in relaxed:
        (found,) = set(each.grammar.report)
        assert (found.pointer, found.keyword, found.outcome) == (f"{pointer}/uniqueItems", "uniqueItems", "relaxed")


def test_findings_lead_to_the_tool_wherever_it_stands() -> None:
    first, other = function("g", {"tags": UNIQUE}), function("f", {"a": TAGS})
    for tools, number in (([first, other], 0), ([other, first], 1), ([first, other], 0)):
        tag = st.get_model_structural_tag("hermes", tools, on_unsupported="relax")
        (found,) = COMPILER.compile_structural_tag(tag).grammar.report
        assert found.pointer == f"/tools/{number}/function/parameters/properties/tags/uniqueItems"


def test_findings_of_formats_are_there_when_compiled() -> None:
    """Such arguments are read when a tool is called, unless there is something to report."""
    tools = [function("f", {"d": {"type": "string", "format": "date"}}), function("g", {"a": TAGS})]
    tag = st.get_model_structural_tag("hermes", tools, formats="annotate")
    for number in (0, 1):
        report = COMPILER.compile_structural_tag(
            st.get_model_structural_tag("hermes", tools if number == 0 else tools[::-1]), formats="annotate"
        ).grammar.report
        assert [found.pointer for found in report] == [
            f"/tools/{number}/function/parameters/properties/d/format",
        ]
    assert COMPILER.compile_structural_tag(tag).grammar.report


def test_strictness_of_a_tool_wins() -> None:
    call = '<tool_call>\n{{"name": "f", "arguments": {}}}\n</tool_call>'
    for strict, mode, opened in (
        (None, None, True),
        (None, True, False),
        (None, False, True),
        (True, None, False),
        (True, False, False),
        (False, True, True),
    ):
        tool = function("f", {"a": TAGS}, strict=strict)
        tag = st.get_model_structural_tag("hermes", [tool], reasoning="disabled", strict_mode=mode)
        grammar = COMPILER.compile_structural_tag(tag)
        assert accepts(grammar, call.format('{"a": "x"}'))
        assert accepts(grammar, call.format('{"a": "x", "b": 1}')) == opened, (strict, mode)


def test_arguments_of_builtin_tools_stay_open() -> None:
    tag = st.get_model_structural_tag("harmony", [{"type": "python"}], "required", "disabled", strict_mode=True)
    text = '<|channel|>analysis to=python code<|message|>{"query": "x"}<|call|>'
    assert accepts(COMPILER.compile_structural_tag(tag), text)


def test_options_of_a_family_reach_all_arguments() -> None:
    tools = [function("f", {"a": TAGS, "b": TAGS})]
    for family, call in (
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"b": "y", "a": "x"}}\n</tool_call>'),
        (
            "qwen_3_coder",
            "<tool_call>\n<function=f>\n<parameter=b>\ny\n</parameter>\n<parameter=a>\nx\n</parameter>\n"
            "</function>\n</tool_call>",
        ),
    ):
        for any_order in (True, False):
            tag = st.get_model_structural_tag(family, tools, reasoning="disabled", any_order=any_order)
            assert accepts(COMPILER.compile_structural_tag(tag), call) == any_order


@pytest.mark.parametrize(
    ("family", "properties", "pointer"),
    [
        ("llama_4_pythonic", {"a": TAGS, "from": TAGS}, "properties/from"),
        ("qwen_3_coder", {"a": TAGS, "x>y": TAGS}, "properties/x>y"),
        ("glm", {"a": TAGS, "x</arg_key>": TAGS}, "properties/x<~1arg_key>"),
    ],
)
def test_what_a_format_cannot_spell_is_named(family: str, properties: Any, pointer: str) -> None:
    tools = [function("f", {"a": TAGS}), function("g", properties), function("h", {"a": TAGS})]
    with pytest.raises(mw.UnsupportedSchemaError) as caught:
        COMPILER.compile_structural_tag(st.get_model_structural_tag(family, tools))
    assert caught.value.pointer == f"/tools/1/function/parameters/{pointer}"
    assert caught.value.message.startswith("tool 'g': ")
    assert "on_unsupported" in str(caught.value.hint)
    grammar = COMPILER.compile_structural_tag(st.get_model_structural_tag(family, tools, on_unsupported="relax"))
    pointers = {found.pointer for found in grammar.grammar.report}
    assert f"/tools/1/function/parameters/{pointer}" in pointers
    assert all(each.startswith("/tools/1/") for each in pointers)


@pytest.mark.parametrize(
    ("properties", "pointer"),
    [
        ({"a": TAGS, "o": {"type": "object"}}, "properties/o"),
        ({"l": {"type": "array", "items": {"type": "object"}}}, "properties/l/items"),
        ({"o": {"type": "object", "properties": {"p": {"type": "object"}}}}, "properties/o/properties/p"),
    ],
)
def test_names_that_are_not_repeated_are_reported(properties: Any, pointer: str) -> None:
    tools = [function("f", {"a": TAGS}), function("g", properties)]
    assert not COMPILER.compile_structural_tag(st.get_model_structural_tag("minimax_m3", tools)).grammar.report
    relaxed = st.get_model_structural_tag("minimax_m3", tools, on_unsupported="relax")
    [found] = COMPILER.compile_structural_tag(relaxed).grammar.report
    assert found.pointer == f"/tools/1/function/parameters/{pointer}"


def test_python_calls_leave_out_what_cannot_be_an_argument() -> None:
    tools = [function("f", {"to": TAGS, "from": TAGS})]
    tag = st.get_model_structural_tag("llama_4_pythonic", tools, "required", on_unsupported="relax")
    grammar = COMPILER.compile_structural_tag(tag)
    assert accepts(grammar, '[f(to="x")]')
    assert not accepts(grammar, '[f(to="x", from="y")]')


def test_strict_tools_are_closed() -> None:
    call = '<tool_call>\n{{"name": "f", "arguments": {}}}\n</tool_call>'
    nested = {"type": "object", "properties": {"o": {"type": "object"}}}
    for parameters, accepted, rejected in (
        ({"type": "object", "properties": {}}, ["{}"], ['{"zz": 1}']),
        ({"type": "object"}, ["{}"], ['{"zz": 1}']),
        ({}, ["{}"], ['{"zz": 1}']),
        (nested, ["{}", '{"o": {}}'], ['{"o": {"zz": 1}}', '{"zz": 1}']),
    ):
        tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
        grammar = COMPILER.compile_structural_tag(st.get_model_structural_tag("hermes", [tool], reasoning="disabled"))
        assert [text for text in accepted if not accepts(grammar, call.format(text))] == [], parameters
        assert [text for text in rejected if accepts(grammar, call.format(text))] == [], parameters
