"""The types of tools: functions, custom tools, and those that a model family has built in.

    check_type({"type": "fnction", "function": {…}}, "/tools/0", ())
    RequestError: unknown tool type 'fnction', /tools/0/type, did you mean 'function'?

A built-in tool is called by its name, or by its type where it has none; what stands before the dot in `browser.search`
is its namespace, and a family says which namespaces its models know.
Tested by tests/structural_tag/test_tool_types.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from maskwright.errors import RequestError
from maskwright.structural_tag.formats.fields import kind_of
from maskwright.support.near_names import nearest

TYPES: Final = ("function", "custom")  # Chat Completions says the rest in an object named after the type
_OF_SCHEMAS: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_WRAP_SCHEMA: Final = (
    'a tool has this JSON Schema as its parameters: {"type": "function", "function": {"name": …, "parameters": {…}}}'
)


def check_type(tool: Mapping[str, Any], pointer: str, built_in: Collection[str]) -> None:
    """Refuse a tool of a type that is neither a function, nor custom, nor in one of the namespaces of `built_in`.

    Raises:
        RequestError: It is of another type; the hint says what to write.
    """
    kind = tool.get("type", "function")
    if kind in TYPES or not isinstance(kind, str):
        return
    name = tool.get("name", kind)
    likely = _likely(tool, kind)
    if likely is None and isinstance(name, str) and name.split(".")[0] in built_in:
        return
    hint = f"did you mean {likely!r}?" if likely else _way_out(kind, built_in)
    raise RequestError(f"unknown tool type {kind[:60]!r}", pointer=f"{pointer}/type", hint=hint)


def _likely(tool: Mapping[str, Any], kind: str) -> str | None:
    """The type that was meant: the one whose object there is, or one spelled alike."""
    inside = [each for each in TYPES if isinstance(tool.get(each), Mapping)]
    return inside[0] if inside else nearest(kind.lower(), TYPES)


def _way_out(kind: str, built_in: Collection[str]) -> str:
    if kind in _OF_SCHEMAS:
        return _WRAP_SCHEMA
    known = f"the family has {', '.join(built_in)}" if built_in else "the family has none"
    return f"write a function that does the same, which you run; as for built-in tools, {known}"


def named_part(data: Mapping[str, Any], kind: str, pointer: str) -> tuple[Any, str]:
    """Return what a tool, or a choice of one, says in an object named after its type, or itself; and where that is."""
    return (data[kind], f"{pointer}/{kind}") if kind in TYPES and kind in data else (data, pointer)


def wrong(expected: str, value: Any, pointer: str, hint: str | None = None) -> RequestError:
    """Return the error for a value of another kind."""
    found = f"{value!r:.60}" if isinstance(value, str) else kind_of(value)
    return RequestError(f"expected {expected}, found {found}", pointer=pointer, hint=hint)


def lacks(field: str, value: Any, pointer: str, hint: str | None = None) -> RequestError:
    """Return the error for what should be an object with this field."""
    if isinstance(value, Mapping):
        return RequestError(f"the object requires the field {field}", pointer=pointer, hint=hint)
    return wrong("an object", value, pointer, hint)
