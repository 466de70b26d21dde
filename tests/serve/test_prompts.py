"""Messages and tools as prompts, with templates that know tools and with those that do not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from maskwright.errors import RequestError
from maskwright.serve.errors import ApiError
from maskwright.serve.generation.prompts import chat_prompt, messages_of, reasoning_of, template_options
from maskwright.serve.protocol.chat import ChatRequest
from maskwright.serve.protocol.fields import read_body
from maskwright.serve.protocol.tools import as_of_chat
from serve.requests_of_tests import LARK, SQL, SQL_OF_CHAT, WEATHER


class Templates:
    """An engine of which only the template matters: it writes what it is given as JSON."""

    def __init__(self, *, knows_tools: bool) -> None:
        self._knows_tools = knows_tools

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        if messages[0]["content"] == "refuse":
            raise RequestError("roles must alternate", pointer="")
        return list(json.dumps([messages, tools if self._knows_tools else None, options]).encode())


def prompt(messages: list[Any], tools: list[Any], *, knows_tools: bool, family: str = "hermes", **options: Any) -> Any:
    read = messages_of(read_body(ChatRequest, {"messages": messages}).messages)
    engine: Any = Templates(knows_tools=knows_tools)
    return json.loads(bytes(chat_prompt(engine, family, read, tools, options)))


def test_messages_as_templates_take_them() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    given = [
        {"role": "developer", "content": "Be short."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
    ]
    messages, tools, options = prompt(given, [WEATHER], knows_tools=True, enable_thinking=False)
    assert messages[0] == {"role": "system", "content": "Be short."}
    assert messages[1]["content"] == ""
    assert messages[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}
    assert messages[2] == {"role": "tool", "tool_call_id": "c", "content": "2"}
    assert tools == [WEATHER]
    assert options == {"enable_thinking": False}


def test_a_custom_tool_is_a_function_of_one_text() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "(a)"}}
    given = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
    ]
    messages, tools, _ = prompt(given, [as_of_chat(tool) for tool in (SQL, SQL_OF_CHAT)], knows_tools=True)
    assert messages[0]["tool_calls"] == [
        {"id": "c", "type": "function", "function": {"name": "sql", "arguments": {"input": "(a)"}}}
    ]
    grammar = f"input must follow this grammar (lark):\n{LARK}"
    assert [tool["function"]["description"] for tool in tools] == [grammar, f"Ask.\n\n{grammar}"]
    parameters = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    assert all(tool["type"] == "function" and tool["function"]["name"] == "sql" for tool in tools)
    assert all(tool["function"]["parameters"] == parameters for tool in tools)
    plain = as_of_chat({"type": "custom", "name": "note"})
    assert plain == {"type": "function", "function": {"name": "note", "parameters": parameters}}


def test_a_template_without_tools_gets_an_instruction() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    given = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Wait.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
    ]
    messages, tools, _ = prompt(given, [WEATHER], knows_tools=False)
    assert tools is None
    assert messages[0]["content"].startswith("Be short.\n\nYou can call these functions")
    assert json.dumps(WEATHER) in messages[0]["content"]
    assert messages[1] == {"role": "user", "content": "Hi"}
    assert messages[2]["content"] == 'Wait.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    assert messages[3] == {"role": "user", "content": "<tool_response>\n2\n</tool_response>"}
    messages, _, _ = prompt([{"role": "user", "content": "Hi"}], [WEATHER], knows_tools=False)
    assert [message["role"] for message in messages] == ["system", "user"]
    messages, _, _ = prompt([{"role": "user", "content": "Hi"}], [], knows_tools=False)
    assert len(messages) == 1


def test_the_instruction_shows_calls_as_the_family_writes_them() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    given = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    messages, _, _ = prompt(given, [WEATHER], knows_tools=False, family="gemma_3")
    assert messages[0]["content"].endswith('\n[function_name(argument_name="value")]')
    assert "tool_call" not in messages[0]["content"]
    assert messages[2]["content"] == "[f(a=1)]"


def test_a_template_that_refuses() -> None:
    with pytest.raises(ApiError, match="roles must alternate") as caught:
        prompt([{"role": "user", "content": "refuse"}], [], knows_tools=True)
    assert (caught.value.status, caught.value.param) == (400, "/messages")


def test_reasoning() -> None:
    assert template_options(None, {"a": 1}) == {"a": 1}
    assert reasoning_of(template_options("none", {})) == "disabled"
    assert reasoning_of(template_options("high", {})) is None
    assert template_options("high", {})["reasoning_effort"] == "high"
    assert reasoning_of(template_options("high", {"enable_thinking": False})) == "disabled"
    assert reasoning_of({}) is None
