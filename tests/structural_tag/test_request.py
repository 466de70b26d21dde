"""Tools and tool choice: all their shapes, and errors by pointer."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from maskwright.errors import OptionError, RequestError
from maskwright.structural_tag import request

F = {"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}
G = {"type": "function", "name": "g", "strict": True, "parameters": {"type": "object"}}
SEARCH = {"type": "web_search", "parameters": {"type": "object"}}
TOOLS = [F, G, SEARCH]
OBJECT = {"type": "object"}
BUILT_IN = ("web_search",)
read_request = partial(request.read_request, built_in=BUILT_IN)


def chosen(choice: Any, tools: Any = TOOLS) -> tuple[list[str], bool]:
    made = read_request(tools, choice)
    return [tool.name for tool in made.tools], made.must_call


def test_tools() -> None:
    assert [(t.name, t.parameters, t.strict, t.kind, t.pointer) for t in read_request(TOOLS, "auto").tools] == [
        ("f", {"properties": {}, "type": "object"}, None, "function", "/tools/0/function/parameters"),
        ("g", OBJECT, True, "function", "/tools/1/parameters"),
        ("web_search", OBJECT, None, "web_search", "/tools/2/parameters"),
    ]


def test_tools_that_moved_know_the_place() -> None:
    for tools in (TOOLS, TOOLS[::-1], [G, F], TOOLS):
        for i, tool in enumerate(read_request(tools, "auto").tools):
            assert tool.pointer == f"/tools/{i}/function/parameters" if tools[i] is F else f"/tools/{i}/parameters"


def test_free_arguments() -> None:
    body = {"name": "f", "parameters": {"type": "null"}, "strict": False}
    assert read_request([{"type": "function", "function": body}], None).tools[0].parameters == OBJECT
    assert read_request([{"type": "web_search"}], None).tools[0].parameters == OBJECT


@pytest.mark.parametrize("body", [{}, {"parameters": None}, {"strict": True}, {"strict": False}])
def test_a_function_without_parameters_has_none(body: dict[str, Any]) -> None:
    found = read_request([{"type": "function", "function": {"name": "f", **body}}], None).tools[0].parameters
    assert found == {"type": "object", "properties": {}, "additionalProperties": False}


def test_arguments_are_objects_whatever_else_the_schema_is_for() -> None:
    body = {"name": "f", "parameters": {"type": ["object", "null"], "required": ["a"]}}
    assert read_request([{"type": "function", "function": body}], None).tools[0].parameters == {
        **OBJECT,
        "required": ["a"],
    }
    with pytest.raises(RequestError, match="the type of parameters must be 'object'") as caught:
        read_request([{"name": "f", "parameters": {"type": ["array", "null"]}}], None)
    assert caught.value.pointer == "/tools/0/parameters/type"


@pytest.mark.parametrize("nested", [False, True])
def test_custom_tools_are_told_apart_by_name(nested: bool) -> None:
    def named(name: str) -> dict[str, Any]:
        return {"type": "custom", "custom": {"name": name}} if nested else {"type": "custom", "name": name}

    made = read_request([named("a"), named("b")], named("b"))
    assert [tool.name for tool in made.tools] == ["b"]
    assert made.must_call
    with pytest.raises(RequestError, match="unknown tool 'c'"):
        read_request([named("a")], named("c"))
    with pytest.raises(RequestError, match="no tool of type"):
        read_request([{"name": "a"}], named("a"))


def test_a_tool_that_is_named_is_called_once() -> None:
    tools = [{"name": "f"}, {"name": "g"}]
    assert not read_request(tools, {"type": "function", "name": "g"}).parallel
    assert read_request(tools, "required").parallel
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "g"}]}
    assert read_request(tools, allowed).parallel


@pytest.mark.parametrize("value", [0, 1, "yes"])
def test_a_number_is_no_truth(value: Any) -> None:
    with pytest.raises(RequestError, match="true or false"):
        read_request([{"name": "f", "strict": value}], None)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, (["f", "g", "web_search"], False)),
        ("auto", (["f", "g", "web_search"], False)),
        ("none", ([], False)),
        ("required", (["f", "g", "web_search"], True)),
        ({"type": "function", "function": {"name": "g"}}, (["g"], True)),
        ({"type": "function", "name": "f"}, (["f"], True)),
        ({"type": "web_search"}, (["web_search"], True)),
        ({"type": "allowed_tools", "tools": [{"type": "function", "name": "g"}]}, (["g"], False)),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "web_search"}, {"type": "function", "function": {"name": "f"}}],
                },
            },
            (["f", "web_search"], True),
        ),
    ],
)
def test_choices(choice: Any, expected: tuple[list[str], bool]) -> None:
    assert chosen(choice) == expected


def test_no_tools() -> None:
    assert chosen("auto", None) == ([], False)
    assert chosen("none", []) == ([], False)


def test_reasoning() -> None:
    assert read_request(None, None, reasoning=True).reasoning == "enabled"
    assert read_request(None, None, reasoning=False).reasoning == "disabled"


@pytest.mark.parametrize(
    ("tools", "choice", "pointer", "message"),
    [
        ("f", "auto", "/tools", "an array"),
        ([3], "auto", "/tools/0", "a tool"),
        ([F, {"type": "function"}], "auto", "/tools/1/name", "has no name"),
        ([{"type": "function", "function": {"name": ""}}], "auto", "/tools/0/function/name", "has no name"),
        ([{"type": "function", "function": 3}], "auto", "/tools/0/function", "an object"),
        ([F, F], "auto", "/tools/1", "duplicate tool name 'f'"),
        ([{"type": 3}], "auto", "/tools/0/type", "a string"),
        ([{"type": "custom"}], "auto", "/tools/0/name", "has no name"),
        (
            [{"type": "function", "function": {"name": "f"}, "parameters": {}}],
            "auto",
            "/tools/0/parameters",
            "move them into 'function'",
        ),
        ([{**G, "strict": "yes"}], "auto", "/tools/0/strict", "true or false"),
        ([{**G, "parameters": []}], "auto", "/tools/0/parameters", "JSON Schema"),
        ([F] * 10_001, "auto", "/tools", "more than"),
        ([{**G, "name": "a b"}], "auto", "/tools/0/name", "not a valid tool name"),
        ([{**G, "name": 'a">'}], "auto", "/tools/0/name", "not a valid tool name"),
        ([{**G, "name": "\ud800"}], "auto", "/tools/0/name", "not a valid tool name"),
        ([{**G, "parameters": {"type": "array"}}], "auto", "/tools/0/parameters/type", "must be 'object'"),
        ([{"name": "f", "input_schema": {}}], "auto", "/tools/0/input_schema", "use 'parameters'"),
        ([{"name": "f", "inputSchema": {}}], "auto", "/tools/0/inputSchema", "use 'parameters'"),
        ([{"name": "f", "parametersJsonSchema": {}}], "auto", "/tools/0/parametersJsonSchema", "use 'parameters'"),
        ([{"functionDeclarations": [{"name": "f"}]}], "auto", "/tools/0/name", 'a tool is {"type": "function"'),
        ([{"name": "f", "parameters": "{}"}], "auto", "/tools/0/parameters", "not its JSON text"),
        ([{"name": "f", "parameters": {"a": {"type": "string"}}}], "auto", "/tools/0/parameters", 'wrap them: {"type"'),
        ({"name": "f"}, "auto", "/tools", r"pass \[tool\]"),
        ("[]", "auto", "/tools", "not its JSON text"),
        ([{"name": "f", "paramters": {}}], "auto", "/tools/0/paramters", "did you mean 'parameters'"),
        (
            [{"type": "function", "function": {"name": "f", "strickt": True}}],
            None,
            "/tools/0/function/strickt",
            "'strict'",
        ),
        ([F], "f", "/tool_choice", '"type": "function"'),
        (TOOLS, "web_search", "/tool_choice", r'use {"type": "web_search", "name": "web_search"}'),
        ([{"type": "custom", "name": "f"}], "f", "/tool_choice", r'use {"type": "custom", "custom": {"name": "f"}}'),
        ([{"name": "get_weather"}], "get_wether", "/tool_choice", r'did you mean {.*"name": "get_weather"}}\?'),
        (TOOLS, "x", "/tool_choice", r'chosen by {"type": "function", .*; the tools are \'f\', \'g\', \'web_search\''),
        ([{"name": f"f{i}"} for i in range(9)], "x", "/tool_choice", "'f4', …"),
        (TOOLS, {"type": "function", "name": "x"}, "/tool_choice/name", "the tools are 'f', 'g', 'web_search'"),
        ([F], "Auto", "/tool_choice", "did you mean 'auto'"),
        (TOOLS, {"name": "g"}, "/tool_choice", 'use {"type": "function", "function": {"name": "g"}}'),
        (
            TOOLS,
            {"type": "function", "function": {}},
            "/tool_choice/function",
            "a tool is chosen by .*the tools are 'f', 'g'",
        ),
        (TOOLS, {"type": "allowed_tools", "tools": ["g"]}, "/tool_choice/tools/0", 'use {"type": "function", '),
        ([F], "any", "/tool_choice", "use 'required'"),
        ([F], "require", "/tool_choice", "did you mean 'required'"),
        ([], "required", "/tool_choice", "there are no tools"),
        ([F], "any", "/tool_choice", "'none', 'auto', 'required'"),
        ([F], 3, "/tool_choice", "'none', 'auto', 'required'"),
        ([F], {"name": "f"}, "/tool_choice", "requires the field 'type'"),
        ([F], {"type": "function"}, "/tool_choice", "requires the field 'name'"),
        ([F], {"type": "function", "function": {"name": "ff"}}, "/tool_choice/function/name", "did you mean 'f'"),
        ([F], {"type": "code"}, "/tool_choice/type", "no tool of type"),
        ([F], {"type": "Function", "name": "f"}, "/tool_choice/type", "did you mean 'function'"),
        ([F], {"type": "allowed_tools"}, "/tool_choice", "requires the field 'tools'"),
        ([F], {"type": "allowed_tools", "mode": "x", "tools": []}, "/tool_choice/mode", "'auto' or 'required'"),
        ([F], {"type": "allowed_tools", "mode": "required", "tools": []}, "/tool_choice", "there are no tools"),
        (
            [F],
            {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "function", "name": "x"}]}},
            "/tool_choice/allowed_tools/tools/0/name",
            "unknown tool",
        ),
    ],
)
def test_errors(tools: Any, choice: Any, pointer: str, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        read_request(tools, choice)
    assert caught.value.pointer == pointer


def test_parallel_tool_calls_are_checked() -> None:
    with pytest.raises(RequestError) as caught:
        read_request(None, None, parallel_tool_calls="no")  # type: ignore[arg-type]
    assert caught.value.pointer == "/parallel_tool_calls"


def test_reasoning_is_checked() -> None:
    with pytest.raises(RequestError) as caught:
        read_request(None, None, reasoning="much")
    assert caught.value.pointer == "/reasoning"


@pytest.mark.parametrize(
    "options",
    [
        {"any_order": "yes"},
        {"any_order": []},
        {"max_whitespace_cnt": "x"},
        {"max_whitespace_cnt": -1},
        {"whitespace_pattern": 1},
        {"strict": True},
        {"on_unsupported": "ignore"},
    ],
    ids=str,
)
def test_options_for_all_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError) as error:
        read_request([{"name": "f"}], "auto", options=options)
    assert error.value.option in options
