"""Structures of requests: what is compiled once, what reasoning models get, what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import maskwright as mw
from maskwright.events import EventReader, ReasoningDelta, TextDelta
from maskwright.serve import Settings
from maskwright.serve.structure.structures import Endpoint, Structure, Structures
from serve.requests_of_tests import CITY, WEATHER, schema_format
from structural_tag.spelling import vocabulary

INFO = vocabulary()


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
