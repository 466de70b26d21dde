"""The tools of a request, checked and normalised.

    [{"type": "function", "function": {"name": …, "parameters": …, "strict": …}}]     Chat Completions
    [{"type": "function", "name": …, "parameters": …, "strict": …}]                   Responses
    [{"type": "custom", "name": …, "format": …}]      called with one text: see custom_tools.py
    [{"type": "browser.search", "parameters": …}]                       built into a model: see tool_types.py
    [get_weather, Order]                                        functions and classes: see schema_inputs.py

Agents send the same tools turn after turn, each time as new data. A tool is known by its content (kept.py): an
unchanged one costs its content and a look-up.
Source: OpenAI's API reference, chat/create and responses/create.
Tested by tests/structural_tag/test_request.py, test_tool_types.py and test_kept_tools.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, cast

from maskwright._kernel import canonical_bytes
from maskwright.errors import RequestError, SchemaError
from maskwright.frontends.json_schema.read.misspelled import says_nothing
from maskwright.inputs.request_fields import check_near
from maskwright.inputs.schema_inputs import tool_of
from maskwright.structural_tag.custom_tools import check_custom, schema_of_input
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.formats.schemas import OwnSchema
from maskwright.structural_tag.tool_types import TYPES, check_type, named_part, wrong

MAX_TOOLS: Final = 10_000

# Families write names bare, between marks such as these.
_UNSPEAKABLE: Final = re.compile(r"""[\s\x00-\x1f\x7f\ud800-\udfff"'<>()\[\]{}|=&\\]""")
_TYPES_OF_NO_ARGUMENTS: Final = ("array", "string", "number", "integer", "boolean", "null")
# What Anthropic's API, MCP and Gemini's API call the schema of the arguments.
_SCHEMAS_ELSEWHERE: Final = ("input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_ANY_ARGUMENTS: Final = OwnSchema({"type": "object"})
_NO_ARGUMENTS: Final = OwnSchema({"type": "object", "properties": {}, "additionalProperties": False})


class Tool(NamedTuple):
    """A tool that may be called.

    Attributes:
        name: its name.
        schema: the schema of its arguments.
        strict: whether undeclared properties are forbidden; None leaves that to the options.
        kind: "function", or the type of a built-in.
        pointer: the JSON pointer of the schema; of a custom tool, that of what its input is held to.
        declared: with `strict: false`, the schema that it came with.
        content: what it was read from, as canonical bytes; None if that is not plain data.
    """

    name: str
    schema: OwnSchema
    strict: bool | None
    kind: str
    pointer: str
    declared: OwnSchema | None = None
    content: bytes | None = None

    @property
    def body_pointer(self) -> str:
        """The JSON pointer of the object that has the name."""
        return self.pointer.removesuffix("/parameters").partition("/format")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments, as data of one's own."""
        return cast(dict[str, Any], self.schema.data)


def read_tools(tools: Any, built_in: Collection[str]) -> tuple[Tool, ...]:
    """Return the tools of a request; `built_in` are the namespaces of those that its model family has built in.

    Raises:
        RequestError: One is malformed or of an unknown type, or two have one name; `pointer` says where.
    """
    if tools is None:
        return ()
    if not isinstance(tools, (list, tuple)):
        hint = "pass [tool]"
        if isinstance(tools, str):
            is_json = tools.lstrip()[:1] in ("[", "{")
            hint = "pass the array itself, not its JSON text" if is_json else "pass the tools themselves, not a name"
        raise wrong("an array of tools", tools, "/tools", hint)
    if len(tools) > MAX_TOOLS:
        raise RequestError(f"there are more than {MAX_TOOLS:,} tools", pointer="/tools")
    read: dict[str, Tool] = {}
    for i, each in enumerate(tools):
        tool = _known_tool(each, f"/tools/{i}", built_in)
        if tool.name in read:
            raise RequestError(
                f"duplicate tool name {tool.name[:60]!r}", pointer=f"/tools/{i}", hint="tool names must be unique"
            )
        read[tool.name] = tool
    return tuple(read.values())


def _known_tool(data: Any, pointer: str, built_in: Collection[str]) -> Tool:
    """A tool, read unless equal data were before."""
    if type(data) is not dict and not isinstance(data, Mapping):
        try:
            data = tool_of(data)
        except SchemaError as error:
            raise RequestError(error.message, pointer=pointer, hint=error.hint) from error
    check_type(data, pointer, built_in)
    content = canonical_bytes(data)
    if content is None:
        return _read_tool(data, pointer)
    found: Tool | None = KEPT.find(content)
    if found is None:
        found = cast(Tool, KEPT.keep(content, _read_tool(data, pointer)._replace(content=content)))
    if found.pointer.startswith(f"{pointer}/"):
        return found
    moved = found._replace(pointer=f"{pointer}/{found.pointer.split('/', 3)[3]}")
    return cast(Tool, KEPT.replace(content, moved))


def _read_tool(data: Mapping[str, Any], pointer: str) -> Tool:
    kind = data.get("type", "function")
    if not isinstance(kind, str):
        raise wrong("a string", kind, f"{pointer}/type")
    body, at = named_part(data, kind, pointer)
    if not isinstance(body, Mapping):
        raise wrong("an object", body, at)
    name = _name_in(body, kind)
    if not isinstance(name, str) or not name:
        hint = 'a tool is {"type": "function", "function": {"name": …, "parameters": …}}'
        if kind == "custom":
            hint = 'a custom tool is {"type": "custom", "name": …, "format": …}'
        raise RequestError("the tool has no name", pointer=f"{at}/name", hint=hint)
    if _UNSPEAKABLE.search(name):
        raise RequestError(
            f"{name[:60]!r} is not a valid tool name", pointer=f"{at}/name", hint="use letters, digits, _ and -"
        )
    if "parameters" not in body:
        if "parameters" in data:
            raise RequestError(
                f"parameters stand beside {kind!r}", pointer=f"{pointer}/parameters", hint=f"move them into {kind!r}"
            )
        for other in _SCHEMAS_ELSEWHERE:
            if other in body:
                raise RequestError(f"{other} is not supported", pointer=f"{at}/{other}", hint="use 'parameters'")
    check_near(body, ("name", "parameters", "strict"), ("description",), at)
    strict = optional_flag(body.get("strict"), f"{at}/strict")
    parameters = body.get("parameters")
    if kind == "custom":
        if parameters is not None:
            hint = "leave them out, or let type be 'function'"
            raise RequestError("a custom tool has no parameters", pointer=f"{at}/parameters", hint=hint)
        check_custom(data, body, pointer, at)
        schema, pointer = schema_of_input(body.get("format"), f"{at}/format")
        return Tool(name, OwnSchema(schema), None, kind, pointer)
    if parameters is None:
        if kind != "function":  # whose arguments only the model knows
            return Tool(name, _ANY_ARGUMENTS, False, kind, f"{at}/parameters")
        parameters = _NO_ARGUMENTS
    elif strict is False:
        declared = OwnSchema(parameters) if isinstance(parameters, dict) else None
        return Tool(name, _ANY_ARGUMENTS, False, kind, f"{at}/parameters", declared)
    elif not isinstance(parameters, dict):
        way_out = 'write {"type": "object", "properties": …}'
        if isinstance(parameters, str):
            way_out = "pass the object itself, not its JSON text"
        raise wrong("a JSON Schema (an object)", parameters, f"{at}/parameters", way_out)
    else:
        _check_wrapped(parameters, f"{at}/parameters")
        parameters = OwnSchema(_of_objects(parameters, f"{at}/parameters/type"))
    return Tool(name, parameters, strict, kind, f"{at}/parameters")


def held_to_schemas(tools: Any) -> Any:
    """Return tools without `"strict": false`, so that calls follow the schemas as they are.

    In structural tags, it lets a call have any arguments. In requests, it is the default that some clients send with
    every tool (pydantic-ai to /v1/responses, LlamaIndex): OpenAI's models follow the schema then, too, mostly.
    """
    return [_held(tool) for tool in tools] if isinstance(tools, list) else tools


def _held(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    function = tool.get("function")
    if isinstance(function, dict) and function.get("strict") is False:
        return {**tool, "function": {**function, "strict": None}}
    return {**tool, "strict": None} if tool.get("strict") is False else tool


def name_of(tool: Mapping[str, Any]) -> str:
    """Return the name by which a well-formed tool is called."""
    kind = tool.get("type", "function")
    return cast(str, _name_in(named_part(tool, kind, "")[0], kind))


def _name_in(body: Mapping[str, Any], kind: str) -> Any:
    return body.get("name", None if kind in TYPES else kind)


def _check_wrapped(schema: dict[str, Any], pointer: str) -> None:
    """Refuse bare properties: as a schema, their names are keywords that nobody knows, and any object is valid."""
    if "type" in schema or "properties" in schema:  # as nearly always
        return
    if any(isinstance(value, dict) and "type" in value for value in schema.values()) and all(map(says_nothing, schema)):
        hint = 'wrap them: {"type": "object", "properties": {…}}'
        raise RequestError("the properties of the arguments are not in a schema", pointer=pointer, hint=hint)


def _of_objects(schema: dict[str, Any], pointer: str) -> dict[str, Any]:
    """The schema for objects alone, whatever else it is for."""
    types = schema.get("type", "object")
    if types == "object":
        return schema if "type" in schema else {**schema, "type": "object"}
    if isinstance(types, list) and "object" in types:
        return {**schema, "type": "object"}
    if isinstance(types, list) or types in _TYPES_OF_NO_ARGUMENTS:
        raise RequestError("the type of parameters must be 'object'", pointer=pointer, hint="use 'object'")
    return schema  # what is wrong with it is for the one who reads it


def optional_flag(value: Any, pointer: str) -> bool | None:
    """True, false or nothing; a number is none of these."""
    if value is None or isinstance(value, bool):
        return value
    raise wrong("true or false", value, pointer)
