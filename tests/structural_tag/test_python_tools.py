"""Tools that are Python functions and classes."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import pytest

import maskwright as mw
from labels import label
from maskwright.errors import RequestError
from maskwright.openai_shapes import chat_completion
from maskwright.structural_tag import get_model_structural_tag, tool_of
from structural_tag.spelling import accepts, vocabulary

pydantic = pytest.importorskip("pydantic", reason="an optional dependency")
typing_extensions = pytest.importorskip("typing_extensions", reason="comes with pydantic")

COMPILER = mw.GrammarCompiler(vocabulary())


def get_weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """Tell the weather
    of a city.

    Args:
        city: Its name.
    """
    return city + unit


async def get_time() -> str:
    return ""


class Order(pydantic.BaseModel):
    """Order something."""

    item: Literal["tea"]


class Bare(pydantic.BaseModel):
    x: bool


@dataclasses.dataclass
class Point:
    x: bool


class Row(typing_extensions.TypedDict):
    """One row."""

    id: bool


class Pair(NamedTuple):
    left: bool


def test_name_and_description() -> None:
    for source, name, description in (
        (get_weather, "get_weather", "Tell the weather of a city."),
        (get_time, "get_time", None),
        (Order, "Order", "Order something."),
        (Bare, "Bare", None),
        (Point, "Point", None),
        (Row, "Row", "One row."),
    ):
        tool = tool_of(source)
        assert tool["type"] == "function"
        assert tool["function"]["name"] == name
        assert tool["function"].get("description") == description


def test_calls_of_functions_and_classes() -> None:
    tools = [get_weather, get_time, Order, Point, Row, tool_of(Bare)]
    tag = get_model_structural_tag("hermes", tools, "required", "disabled")
    assert tag == get_model_structural_tag("hermes", [*map(tool_of, tools[:-1]), tools[-1]], "required", "disabled")
    grammar = COMPILER.compile_structural_tag(tag)
    call = '<tool_call>\n{{"name": "{}", "arguments": {}}}\n</tool_call>'
    for name, arguments, accepted in (
        ("get_weather", '{"city": "Paris"}', True),
        ("get_weather", '{"city": "Paris", "unit": "F"}', True),
        ("get_weather", '{"city": "Paris", "unit": "K"}', False),
        ("get_weather", "{}", False),
        ("get_time", "{}", True),
        ("Order", '{"item": "tea"}', True),
        ("Order", '{"item": "milk"}', False),
        ("Point", '{"x": true}', True),
        ("Row", '{"id": false}', True),
        ("Bare", '{"x": 1}', False),
    ):
        assert accepts(grammar, call.format(name, arguments)) == accepted, (name, arguments)


def test_a_function_may_be_chosen() -> None:
    choice = {"type": "function", "function": {"name": "get_time"}}
    grammar = chat_completion({"tools": [get_weather, get_time], "tool_choice": choice}, model="hermes")
    assert grammar is not None
    assert accepts(
        COMPILER.compile_grammar(grammar), '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
    )


def positional(a: int, /) -> None: ...


def opaque(a: object, b: functools.partial) -> None: ...  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "not int"),
        ("get_weather", "not str"),
        (None, "not NoneType"),
        (list[int], "not GenericAlias"),
        (functools.partial(get_weather), "not partial"),
        (Order(item="tea"), "not Order"),
        (positional, "cannot be passed by name"),
        (opaque, "cannot describe opaque"),
        (lambda city: city, "is not a valid tool name"),
        (Pair, "the type of parameters must be 'object'"),
        (int, "the type of parameters must be 'object'"),
    ],
    ids=label,
)
def test_what_cannot_be_a_tool(source: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        get_model_structural_tag("hermes", [get_time, source])
    assert caught.value.pointer.startswith("/tools/1")
