"""Tool calls as Python objects: functions, classes and OpenAI tools, in the formats of model families."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest

from labels import label
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import OptionError, RequestError, SchemaError
from maskwright.outputs.tool_outputs import ToolCall, ToolOutput

pytest.importorskip("pydantic", reason="an optional dependency")


def forecast(city: str, day: datetime.date, days: int = 1) -> str:
    """Get the weather of a city."""
    return f"{city} {day:%A} {days}"


@dataclasses.dataclass
class Search:
    """Search the web."""

    query: str


CLOSE = {"type": "function", "function": {"name": "close", "parameters": {"type": "object", "properties": {}}}}
TOOLS = [forecast, Search, CLOSE]


@pytest.fixture(scope="module")
def compiler() -> GrammarCompiler:
    vocabulary = [*(bytes([i]) for i in range(256)), b"</s>"]
    return GrammarCompiler(TokenizerInfo.from_vocab(vocabulary, stop_token_ids=[256], special_token_ids=[256]))


def read(compiler: GrammarCompiler, text: str, tools: list[Any] = TOOLS, family: str = "hermes", **options: Any) -> Any:
    wanted = ToolOutput(tools, family, **options)
    matcher = GrammarMatcher(wanted.compile(compiler))
    assert matcher.accept_string(text), text
    assert matcher.accept_token(256)
    return wanted.read(matcher)


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def test_arguments_are_those_of_the_tools_kind(compiler: GrammarCompiler) -> None:
    day = datetime.date(2026, 2, 28)
    assert read(compiler, call("forecast", '{"city": "Paris", "day": "2026-02-28"}')) == [
        ToolCall("forecast", {"city": "Paris", "day": day}, forecast)
    ]
    assert read(compiler, call("Search", '{"query": "x"}')) == [ToolCall("Search", Search("x"), Search)]
    assert read(compiler, call("close", "{}")) == [ToolCall("close", {}, CLOSE)]


def test_a_function_can_be_called_with_its_arguments(compiler: GrammarCompiler) -> None:
    (made,) = read(compiler, call("forecast", '{"city": "Oslo", "day": "2026-11-22", "days": 2}'))
    assert made.tool(**made.arguments) == "Oslo Sunday 2"


def test_several_calls_and_none(compiler: GrammarCompiler) -> None:
    two = call("close", "{}") + "\n" + call("Search", '{"query": "é"}')
    assert [each.name for each in read(compiler, two)] == ["close", "Search"]
    assert read(compiler, "No tool is needed.", tool_choice="auto") == "No tool is needed."


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("gemma_4", "<|channel>thought\nIs it so?<channel|>No tool is needed."),
        (
            "harmony",
            "<|channel|>analysis<|message|>Is it so?<|end|><|start|>assistant<|channel|>final<|message|>"
            "No tool is needed.<|return|>",
        ),
        ("qwen_3", "<think>\nIs it so?\n</think>\n\nNo tool is needed."),
    ],
)
def test_an_answer_has_neither_reasoning_nor_marks(compiler: GrammarCompiler, family: str, text: str) -> None:
    answer = read(compiler, text, family=family, tool_choice="auto", reasoning="enabled")
    assert answer == "No tool is needed."


def test_tools_are_in_the_shape_that_chat_templates_take(compiler: GrammarCompiler) -> None:
    flat = {"type": "function", **CLOSE["function"]}
    wanted = ToolOutput([flat, forecast, {"type": "custom", "name": "sql"}], "harmony")
    assert wanted.tools[0] == CLOSE
    assert wanted.tools[1]["function"]["name"] == "forecast"
    assert wanted.tools[2]["function"]["parameters"]["required"] == ["input"]
    assert read(compiler, call("close", "{}"), [flat]) == [ToolCall("close", {}, flat)]


def test_a_call_is_required_by_default(compiler: GrammarCompiler) -> None:
    matcher = GrammarMatcher(ToolOutput(TOOLS, "hermes").compile(compiler))
    assert not matcher.accept_string("No tool is needed.")
    assert not matcher.is_completed()


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "close"},
        {"name": "close"},
    ],
    ids=str,
)
def test_a_call_is_of_the_tool_in_any_of_its_shapes(compiler: GrammarCompiler, tool: Any) -> None:
    assert read(compiler, call("close", "{}"), [tool]) == [ToolCall("close", {}, tool)]


@pytest.mark.parametrize("body", [{"name": "close"}, {"custom": {"name": "close"}}], ids=str)
def test_a_call_of_a_custom_tool(compiler: GrammarCompiler, body: Any) -> None:
    tool = {"type": "custom", **body}
    assert read(compiler, call("close", '{"input": "x"}'), [tool]) == [ToolCall("close", {"input": "x"}, tool)]


def test_a_call_of_a_built_in_tool(compiler: GrammarCompiler) -> None:
    tool = {"type": "python"}
    wanted = ToolOutput([tool], "harmony")
    matcher = GrammarMatcher(wanted.compile(compiler))
    text = '<|channel|>analysis to=python code<|message|>{"code": "1"}<|call|>'
    assert matcher.accept_string(text)
    assert wanted.read(matcher) == [ToolCall("python", {"code": "1"}, tool)]


@pytest.mark.parametrize(
    ("tools", "tool_format", "error", "message"),
    [
        ([{"type": "fnction", "function": CLOSE["function"]}], "hermes", RequestError, "unknown tool type 'fnction'"),
        ([{"type": "web_search"}], "hermes", RequestError, "unknown tool type 'web_search'"),
        ([], "hermes", OptionError, "the list of tools is empty"),
        ([3], "hermes", SchemaError, "a tool must be an object, a function or a class"),
        ([print], "hermes", SchemaError, r"not builtin_function.*\n.*a function .* that calls it"),
        ([forecast, forecast], "hermes", RequestError, "forecast"),
        ([forecast], "no such model", OptionError, r"unknown model or model family 'no such model'\n.*tool_format="),
        (
            [forecast],
            "hermez",
            OptionError,
            r"unknown .*\n.*tool_format=, the name of a family; did you mean 'hermes'\?",
        ),
        ([forecast], "SmolLM2-135M", OptionError, r"does not determine the format[\s\S]*pass tool_format=.*'hermes'"),
    ],
    ids=label,
)
def test_what_is_refused(tools: list[Any], tool_format: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ToolOutput(tools, tool_format)


def test_a_choice_of_one_tool(compiler: GrammarCompiler) -> None:
    choice = {"type": "function", "function": {"name": "close"}}
    assert read(compiler, call("close", "{}"), tool_choice=choice) == [ToolCall("close", {}, CLOSE)]
    with pytest.raises(RequestError, match="tool_choice"):
        ToolOutput(TOOLS, "hermes", {"type": "function", "function": {"name": "open"}})
