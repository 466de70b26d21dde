"""Structures of requests: what is compiled once, what reasoning models get, what is refused."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import maskwright as mw
from maskwright.events import EventReader, ReasoningDelta, TextDelta
from maskwright.serve import Settings
from maskwright.serve.errors import ApiError
from maskwright.serve.structure.structures import Endpoint, Structure, Structures
from serve.requests_of_tests import CITY, WEATHER, schema_format
from structural_tag.spelling import vocabulary

INFO = vocabulary()


OPEN = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
BEGIN_OF_CALL = '<tool_call>\n{"name": "f", "arguments": '


def open_tool(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": OPEN, **fields}}


def structures(**settings: Any) -> Structures:
    return Structures(INFO, Settings(**settings))


def compiled(it: Structures, endpoint: Endpoint = "chat", reasoning: Any = None, **fields: Any) -> Structure:
    return asyncio.run(it.compiled(endpoint, fields, reasoning))


def accepts(structure: Structure, text: str) -> bool:
    assert structure.compiled is not None
    matcher = mw.GrammarMatcher(structure.compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_free_text_needs_no_structure() -> None:
    it = structures()
    for fields in ({}, {"response_format": {"type": "text"}}, {"tools": [], "tool_choice": "auto"}, {"tools": None}):
        assert compiled(it, **fields) == Structure(None)
    assert it.figures()[2] == 0


NOTHING: list[dict[str, Any]] = [
    {},
    {"json": None},
    {"regex": None, "json": None},
    {"json_object": False},
    {"disable_any_whitespace": False, "disable_fallback": True},
]


@pytest.mark.parametrize("endpoint", ["chat", "completion"])
@pytest.mark.parametrize("value", NOTHING)
def test_structured_outputs_with_nothing_set_are_as_good_as_none(endpoint: Endpoint, value: Any) -> None:
    assert compiled(structures(), endpoint, structured_outputs=value) == Structure(None)
    it = structures(tool_format="qwen_3")
    for others in ({"regex": "a"}, {"response_format": {"type": "json_object"}}, {"thinking_token_budget": 9}):
        if endpoint == "chat" or "thinking_token_budget" not in others:
            assert compiled(it, endpoint, structured_outputs=value, **others).compiled is not None
            assert compiled(it, endpoint, **others).is_new is False


@pytest.mark.parametrize("tool_format", ["hermes", "qwen_3"])
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"structured_outputs": {"disable_any_whitespace": True}}, "/structured_outputs/disable_any_whitespace"),
        ({"structured_outputs": {"jsn": {}}}, "/structured_outputs/jsn"),
        ({"structured_outputs": {"jsn": False}}, "/structured_outputs/jsn"),
        ({"structured_outputs": {"json_object": "yes"}}, "/structured_outputs/json_object"),
        ({"structured_outputs": {"regex": False}}, "/structured_outputs/regex"),
        ({"structured_outputs": {"json": False}}, "/structured_outputs/json"),
        ({"structured_outputs": []}, "/structured_outputs"),
        ({"structured_outputs": False}, "/structured_outputs"),
        ({"json_schema": False}, "/json_schema"),
        ({"regex": False}, "/regex"),
        ({"ebnf": False}, "/ebnf"),
        ({"structural_tag": False}, "/structural_tag"),
        ({"response_format": {}}, "/response_format"),
        ({"response_format": False}, "/response_format"),
        ({"response_format": {"type": None}}, "/response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": None}}, "/response_format/json_schema"),
    ],
)
def test_what_is_half_said_is_refused(tool_format: str, fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as refused:
        compiled(structures(tool_format=tool_format), **fields)
    assert (refused.value.status, refused.value.param) == (400, param)


@pytest.mark.parametrize("text", [{}, {"format": None}, {"verbosity": "low"}, {"format": {"type": "text"}}])
def test_responses_without_a_format(text: Any) -> None:
    assert compiled(structures(), "response", text=text) == Structure(None)


OPEN_FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": OPEN}}


@pytest.mark.parametrize(
    ("endpoint", "fields", "begin", "end"),
    [
        ("chat", {"response_format": OPEN_FORMAT}, "", ""),
        ("response", {"text": {"format": {"type": "json_schema", "name": "x", "schema": OPEN}}}, "", ""),
        ("completion", {"structured_outputs": {"json": OPEN}}, "", ""),
        ("completion", {"json_schema": json.dumps(OPEN)}, "", ""),
        ("chat", {"tools": [WEATHER], "structured_outputs": {"json": OPEN}}, "", ""),
        *(
            ("chat", {"tools": [tool], "tool_choice": "required"}, BEGIN_OF_CALL, "}\n</tool_call>")
            for tool in (open_tool(), open_tool(strict=None), open_tool(strict=False))
        ),
    ],
)
def test_a_strict_server_closes_objects(endpoint: Endpoint, fields: dict[str, Any], begin: str, end: str) -> None:
    for strict in (False, True):
        made = compiled(structures(strict=strict), endpoint, **fields)
        assert accepts(made, f'{begin}{{"a": 1}}{end}')
        assert accepts(made, f'{begin}{{"a": 1, "b": 2}}{end}') is not strict
        assert not accepts(made, f'{begin}{{"b": 2}}{end}')


def test_a_strict_server_leaves_open_what_a_request_leaves_open() -> None:
    it = structures(strict=True)
    said = {"type": "json_schema", "json_schema": {**OPEN_FORMAT["json_schema"], "strict": False}}
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {**OPEN, "additionalProperties": True}}}
    for fields in (
        {"response_format": said},
        {"response_format": schema},
        {"response_format": {"type": "json_object"}},
        {"structured_outputs": {"json_object": True}},
    ):
        assert accepts(compiled(it, **fields), '{"a": 1, "b": 2}')


def test_each_structure_is_compiled_once() -> None:
    it = structures()
    first = compiled(it, response_format=schema_format(CITY)).compiled
    again = compiled(it, response_format=schema_format({**CITY})).compiled
    assert first is again
    assert compiled(it, "completion", response_format=schema_format(CITY)).compiled is not first
    hits, misses, num_kept, _ = it.figures()
    assert (hits, misses, num_kept) == (1, 2, 2)


def test_tools_have_parts() -> None:
    it = structures()
    structure = compiled(it, tools=[WEATHER], tool_choice="required")
    assert structure.has_parts
    assert accepts(
        structure, '<tool_call>\n{"name": "get_weather", "arguments": {"city": "a", "days": 1}}\n</tool_call>'
    )
    assert not accepts(structure, "Sunny.")
    assert not compiled(it, response_format=schema_format(CITY)).has_parts


def test_a_reasoning_model_has_parts_even_for_free_text() -> None:
    it = structures(tool_format="qwen_3")
    structure = compiled(it)
    assert structure.has_parts
    assert structure.compiled is not None
    matcher = mw.GrammarMatcher(structure.compiled)
    assert matcher.accept_string("<think>\nhm</think>Yes")
    events = EventReader(matcher).read()
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == "\nhm"
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Yes"
    assert compiled(it, reasoning="disabled") == Structure(None)
    assert compiled(it, "completion") == Structure(None)


def test_what_an_engine_field_restricts_comes_after_the_reasoning() -> None:
    it = structures(tool_format="qwen_3")
    for fields in ({"structured_outputs": {"regex": "[0-9]"}}, {"regex": "[0-9]"}, {"ebnf": "root ::= [0-9]"}):
        structure = compiled(it, **fields)
        assert structure.has_parts
        assert accepts(structure, "<think>\nhm\n</think>\n\n7")
        assert not accepts(structure, "<think>\nhm\n</think>\n\nx")
    assert accepts(compiled(it, reasoning="disabled", regex="[0-9]"), "7")


def test_an_engine_field_is_the_form_of_the_answer_beside_tools() -> None:
    structure = compiled(
        structures(), tools=[WEATHER], structured_outputs={"json": CITY, "disable_any_whitespace": True}
    )
    assert accepts(structure, '{"city":"a","days":1}')
    assert accepts(
        structure, '<tool_call>\n{"name": "get_weather", "arguments": {"city": "a", "days": 1}}\n</tool_call>'
    )
    assert not accepts(structure, '{"city": "a","days":1}')
    assert not accepts(structure, "Sunny.")


LARK = """start: "[" item::0 "]"
item::_: "a" item::incr(_) %if lt(_, 2) | "" | %json {"enum": [7]}
"""


@pytest.mark.parametrize("beside", [{}, {"tools": [WEATHER]}])
@pytest.mark.parametrize("tool_format", ["hermes", "qwen_3"])
def test_a_grammar_in_lark_is_the_form_of_the_answer(tool_format: str, beside: dict[str, Any]) -> None:
    asked = compiled(structures(tool_format=tool_format), structured_outputs={"grammar": LARK}, **beside)
    assert [text for text in ("[]", "[aa7]", "[aaa]", "[8]", "aa") if accepts(asked, text)] == ["[]", "[aa7]"]
    assert accepts(asked, "<think>hm</think>[a]") is (tool_format == "qwen_3")


SURELY_MEANT_OTHERWISE: list[tuple[dict[str, Any], str, str]] = [
    ({"regex": "[0-9]{1, 3}"}, "/regex", "write {1,3}"),
    ({"ebnf": 'root ::= "a".."b"'}, "/ebnf", "1:13: in 'root': each full stop"),
    ({"json_schema": '{"type": "object", "requird": []}'}, "/json_schema/requird", "'required'"),
    ({"structured_outputs": {"grammar": 'start: "[a-z]+"'}}, "/structured_outputs/grammar", "write /[a-z]+/"),
    ({"structured_outputs": {"json": {"requird": []}}}, "/structured_outputs/json/requird", "'required'"),
    (
        {"structural_tag": {"format": {"type": "regex", "pattern": "[0-9]{1, 3}"}}},
        "/structural_tag/format/pattern",
        "write {1,3}",
    ),
    (
        {"response_format": {"type": "structural_tag", "format": {"type": "grammar", "grammar": 'root ::= "[a-z]+"'}}},
        "/response_format/format/grammar",
        "Regex",
    ),
]


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning", "ignore::maskwright.GrammarWarning")
@pytest.mark.parametrize("beside", [{}, {"tools": [WEATHER]}])
@pytest.mark.parametrize(("fields", "pointer", "said"), SURELY_MEANT_OTHERWISE)
def test_warnings_lead_into_the_request(fields: Any, pointer: str, said: str, beside: dict[str, Any]) -> None:
    [warning] = compiled(structures(), **fields, **beside).warnings()
    assert warning.pointer.removeprefix("/sampling_params") == pointer
    assert said in warning.reason


def test_a_named_tool_is_the_only_one() -> None:
    choice = {"type": "function", "function": {"name": "get_weather"}}
    other = {"type": "function", "function": {"name": "get_time"}}
    structure = compiled(structures(), tools=[WEATHER, other], tool_choice=choice)
    assert not accepts(structure, '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>')


def test_responses() -> None:
    structure = compiled(
        structures(), "response", text={"format": {"type": "json_schema", "name": "x", "schema": CITY}}
    )
    assert accepts(structure, '{"city": "a", "days": 1}')
