"""Which tools of OpenAI's API there are here: functions and custom tools, which the client runs.

What a provider runs is refused. To a chat template, a custom tool is a function of one text, `input`.

    check_tools([{"type": "web_search"}], None)
    ApiError 400: tools of type 'web_search' are not supported. Hint: leave it out, …, param "/tools/0/type"

What is wrong with these is for `maskwright.openai_shapes` to say.
Source: OpenAI's API reference, responses/create and chat/create.
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from maskwright.serve.errors import invalid
from maskwright.structural_tag.custom_tools import as_function
from maskwright.structural_tag.tool_types import TYPES
from maskwright.structural_tag.tools import name_of
from maskwright.support.near_names import nearest

_RUN_YOURSELF: Final = "leave it out, or write a function that does the same, which the client runs"
_INSTEAD: Final = {
    "mcp": "leave it out, or pass the tools of the MCP server as functions, which the client runs",
    "namespace": "pass the tools in it as functions, without a namespace",
}
_CHOICES: Final = '"none", "auto", "required", or the name of a tool: {"type": "function", …}'


def check_tools(tools: Any, tool_choice: Any) -> None:
    """Refuse tools that are neither functions nor custom, and a choice of them.

    Raises:
        ApiError: There is one; `param` leads to its type.
    """
    _check_each(tools, "/tools")
    if not isinstance(tool_choice, Mapping):
        return
    kind = tool_choice.get("type")
    if kind == "allowed_tools":
        _check_each(tool_choice.get("tools"), "/tool_choice/tools")
        nested = tool_choice.get("allowed_tools")
        if isinstance(nested, Mapping):
            _check_each(nested.get("tools"), "/tool_choice/allowed_tools/tools")
    elif isinstance(kind, str) and kind not in TYPES:
        _refuse(kind, "/tool_choice/type", f"use {_CHOICES}")


def as_of_chat(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool as chat templates write it: a function in the shape of Chat Completions."""
    if tool.get("type") == "custom":
        return as_function(tool)
    if isinstance(tool.get("function"), Mapping):
        return tool
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def custom_names(tools: Any) -> frozenset[str]:
    """Return the names of the custom tools among well-formed ones."""
    return frozenset(name_of(tool) for tool in tools or () if tool.get("type") == "custom")


def _check_each(tools: Any, pointer: str) -> None:
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        kind = tool.get("type", "function") if isinstance(tool, Mapping) else None
        if isinstance(kind, str) and kind not in TYPES:
            near = nearest(kind, TYPES)
            hint = f"did you mean {near!r}?" if near else _INSTEAD.get(kind, _RUN_YOURSELF)
            _refuse(kind, f"{pointer}/{i}/type", hint)


def _refuse(kind: str, pointer: str, hint: str) -> None:
    raise invalid(f"tools of type {kind[:60]!r} are not supported", pointer, code="unsupported_tool", hint=hint)
