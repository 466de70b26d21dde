"""Which of the tools may be called, and whether one must be.

    "none" | "auto" | "required" | {"type": "function", "function": {"name": …}} | {"type": "function", "name": …}
    {"type": "browser.search"} | {"type": "allowed_tools", "mode": …, "tools": […]}

Source: OpenAI's API reference, chat/create and responses/create.
Tested by tests/structural_tag/test_request.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from maskwright.errors import RequestError
from maskwright.structural_tag.tool_types import TYPES, lacks, named_part, wrong
from maskwright.structural_tag.tools import Tool

_MOST_NAMES: Final = 5  # in a hint


def choose(tools: tuple[Tool, ...], choice: Any, pointer: str = "/tool_choice") -> tuple[tuple[Tool, ...], bool]:
    """Return the tools that may be called, and whether one must be.

    Raises:
        RequestError: The choice is malformed, or names an unknown tool; `pointer` says where.
    """
    if choice is not None and not isinstance(choice, str | Mapping):
        raise wrong("'none', 'auto', 'required' or an object", choice, pointer)
    if choice is None or choice == "auto":
        return tools, False
    if choice == "none":
        return (), False
    if choice == "required":
        if not tools:
            raise RequestError("tool_choice is 'required', but there are no tools", pointer=pointer, hint="pass tools")
        return tools, True
    if not isinstance(choice, Mapping):
        raise wrong("'none', 'auto', 'required' or an object", choice, pointer, _meant_by(tools, choice))
    if choice.get("type") == "allowed_tools":
        inner, at = choice, pointer
        if "allowed_tools" in choice:
            inner, at = choice["allowed_tools"], f"{pointer}/allowed_tools"
        return _allowed(tools, inner, at)
    return (_named(tools, choice, pointer),), True


def _meant_by(tools: tuple[Tool, ...], choice: str) -> str | None:
    """What to write instead of a text that is no choice, such as the bare name of a tool."""
    by_name = {tool.name: tool for tool in tools}
    if choice in by_name:
        return f"use {_choice_of(by_name[choice])}"
    if choice == "any":
        return "use 'required'"
    if near := get_close_matches(choice[:60].lower(), ("none", "auto", "required"), 1):
        return f"did you mean {near[0]!r}?"
    if near := get_close_matches(choice[:60], list(by_name)[:1000], 1):
        return f"did you mean {_choice_of(by_name[near[0]])}?"
    return f"a tool is chosen by {_choice_of(tools[0])}; {_names_of(tools)}" if tools else None


def _name_in(choice: Any) -> str:
    """The name of a tool, which stands alone or in an object without a type; "" if it does not."""
    name = choice.get("name") if isinstance(choice, Mapping) else choice
    return name if isinstance(name, str) else ""


def _choice_of(tool: Tool) -> str:
    """The choice that names a tool, as JSON."""
    if tool.kind not in TYPES:
        return json.dumps({"type": tool.kind, "name": tool.name})
    return json.dumps({"type": tool.kind, tool.kind: {"name": tool.name}})


def _names_of(tools: Collection[Tool]) -> str:
    names = [repr(tool.name) for tool in islice(tools, _MOST_NAMES)]
    return f"the tools are {', '.join(names)}" + (", …" if len(tools) > _MOST_NAMES else "")


def _allowed(tools: tuple[Tool, ...], choice: Any, pointer: str) -> tuple[tuple[Tool, ...], bool]:
    given = choice.get("tools") if isinstance(choice, Mapping) else None
    if not isinstance(given, (list, tuple)):
        raise lacks("'tools' (an array)", choice, pointer)
    names = {_named(tools, each, f"{pointer}/tools/{i}").name for i, each in enumerate(given)}
    mode = choice.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise wrong("'auto' or 'required'", mode, f"{pointer}/mode")
    return choose(tuple(tool for tool in tools if tool.name in names), mode, pointer)


def _named(tools: tuple[Tool, ...], choice: Any, pointer: str) -> Tool:
    """The tool that a choice names."""
    if not isinstance(choice, Mapping) or not isinstance(choice.get("type"), str):
        raise lacks("'type' (a string)", choice, pointer, _meant_by(tools, _name_in(choice)))
    kind = choice["type"]
    inner, at = named_part(choice, kind, pointer)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if kind != "function":
        if all(tool.kind != kind for tool in tools):
            near = get_close_matches(kind[:60].lower(), {"function", *(tool.kind for tool in tools[:1000])}, 1)
            hint = f"did you mean {near[0]!r}?" if near else "use 'function'"
            raise RequestError(f"tools has no tool of type {kind[:60]!r}", pointer=f"{pointer}/type", hint=hint)
        tools = tuple(tool for tool in tools if tool.kind == kind)
        if name is None and inner is choice:
            return tools[0]
    if not isinstance(name, str):
        raise lacks("'name' (a string)", inner, at, _meant_by(tools, ""))
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        near = get_close_matches(name[:60], list(by_name)[:1000], 1)
        hint = f"did you mean {near[0]!r}?" if near else _names_of(tools) if tools else "pass tools"
        raise RequestError(f"unknown tool {name[:60]!r}", pointer=f"{at}/name", hint=hint)
    return by_name[name]
