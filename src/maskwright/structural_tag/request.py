"""Tools and tool choice of a request, checked and normalised.

    tools        [{"type": "function", "function": {"name": …, "parameters": …, "strict": …}}]     Chat Completions
                 [{"type": "function", "name": …, "parameters": …, "strict": …}]                   Responses
                 [{"type": "browser.search", "parameters": …}]                  built into a model: see tool_types.py
                 [get_weather, Order]                               functions and classes: see schema_inputs.py
    tool_choice  "none" | "auto" | "required" | {"type": "function", "function": {"name": …}} | {"type": "function",
                 "name": …} | {"type": "browser.search"} | {"type": "allowed_tools", "mode": …, "tools": […]}

Arguments follow the schema as the standard defines it; `strict: true` forbids undeclared properties, and with
`strict: false` any object is accepted. A function without `parameters` takes none. Errors have a JSON pointer.

Agents send the same tools turn after turn, each time as new data. A tool is known by its content (kept.py),
and with it what `ToolRequest.calls` made of it: an unchanged one costs its content and two look-ups.
Source: OpenAI's API reference, chat/create and responses/create.
Tested by tests/structural_tag/test_request.py, test_kept_tools.py and test_thinking_budget.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, cast

from maskwright._kernel import canonical_bytes
from maskwright.errors import RequestError, SchemaError
from maskwright.frontends.json_schema.read.misspelled import says_nothing
from maskwright.inputs.request_fields import check_near
from maskwright.inputs.schema_inputs import tool_of
from maskwright.structural_tag.formats.base import Format, Known, altered
from maskwright.structural_tag.formats.classes import AnyTextFormat, JSONSchemaFormat, TagFormat
from maskwright.structural_tag.formats.defaults import checked_options, with_defaults
from maskwright.structural_tag.formats.fields import MAX_COUNT, kind_of
from maskwright.structural_tag.formats.kept import KEPT, kept_tag
from maskwright.structural_tag.formats.schemas import OwnSchema
from maskwright.structural_tag.tool_types import TYPES, check_type
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.numbering import Numbering

Reasoning = Literal["enabled", "disabled", "auto"]
MAX_TOOLS: Final = 10_000

# Families write names bare, between marks such as these.
_UNSPEAKABLE: Final = re.compile(r"""[\s\x00-\x1f\x7f\ud800-\udfff"'<>()\[\]{}|=&\\]""")
_TYPES_OF_NO_ARGUMENTS: Final = ("array", "string", "number", "integer", "boolean", "null")
# What Anthropic's API, MCP and Gemini's API call the schema of the arguments.
_SCHEMAS_ELSEWHERE: Final = ("input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_OF_DECLARED_MEMBERS: Final = ("minimax_m3_xml",)
_NO_OPTIONS: Final[Mapping[str, Any]] = {}
_OTHER_ARGUMENTS: Final = (
    "tools",
    "tool_choice",
    "reasoning",
    "parallel_tool_calls",
    "content",
    "thinking_token_budget",
)
_ANY_ARGUMENTS: Final = OwnSchema({"type": "object"})
_NO_ARGUMENTS: Final = OwnSchema({"type": "object", "properties": {}, "additionalProperties": False})
_numbers: Final = Numbering()


class Tool(NamedTuple):
    """A tool that may be called.

    Attributes:
        name: its name.
        schema: the schema of its arguments.
        strict: whether undeclared properties are forbidden; None leaves that to the options.
        kind: "function", or the type of a built-in.
        pointer: the JSON pointer of the schema.
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
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments, as data of one's own."""
        return cast(dict[str, Any], self.schema.data)


class ToolRequest(NamedTuple):
    """The checked request, as a family's builder receives it.

    Attributes:
        tools: those that may be called; empty for `tool_choice="none"`.
        must_call: whether one must be called.
        parallel: whether several may be called.
        reasoning: whether the output begins with reasoning; with "auto", the model decides.
        thinking_token_budget: the largest number of tokens of reasoning; None for no limit.
        content: the format of the answer where no tool is called; None for free text.
        options: the fields of `JsonSchemaOptions` that the caller set, for all arguments.
    """

    tools: tuple[Tool, ...]
    must_call: bool
    parallel: bool
    reasoning: Reasoning
    content: Format | None = None
    thinking_token_budget: int | None = None
    options: Mapping[str, Any] = _NO_OPTIONS

    @property
    def _plain_options(self) -> tuple[tuple[str, Any], ...]:
        return tuple([each for each in self.options.items() if each[0] != "registry"])

    def arguments(self, tool: Tool, style: str = "json", *excludes: str) -> JSONSchemaFormat:
        """Return the format of a tool's arguments. None of `excludes` occurs in strings without quotes.

        In a style that can write declared properties only, arguments with `strict: false` follow their schema, too.
        """
        usual = _usual_arguments(style, excludes, self._plain_options)
        schema = tool.declared if tool.declared is not None and style in _OF_DECLARED_MEMBERS else tool.schema
        strict = usual.strict_mode if tool.strict is None else tool.strict
        registry = self.options.get("registry")
        return altered(usual, json_schema=schema, strict_mode=strict, registry=registry, origin=tool.pointer)

    def calls(self, make: Callable[..., TagFormat], *choices: Hashable) -> tuple[TagFormat, ...]:
        """Return the call of each tool, `make(request, tool, *choices)`; for a tool met before, the one made then.

        So a call must depend on nothing but the tool, the options and `choices`: the request that `make` gets has no
        more. `make` is a function of a module, as it is known by identity.
        """
        bare = ToolRequest((), False, True, "disabled", options=self.options)
        has_registry = self.options.get("registry") is not None  # whose contents are not known here
        made_by = None if has_registry else _made_by(make, choices, self._plain_options)
        return tuple([_known_call(bare, tool, made_by, make, choices) for tool in self.tools])

    def call(self, tool: Tool, begin: str, content: Format, end: str) -> TagFormat:
        """Return the tag of a call of a tool; `begin` must contain its name."""
        return altered(_usual_call(end), begin=begin, content=content, capture=f"call:{tool.name}")

    def thought(self, begin: str, end: str, *excludes: str) -> TagFormat:
        """Return the tag of reasoning within `thinking_token_budget`; none of `excludes` occurs in it."""
        text = AnyTextFormat(excludes, self.thinking_token_budget, capture="reasoning")
        return TagFormat(begin, text, end)


@lru_cache(maxsize=256)
def _made_by(*how: Hashable) -> int:
    """A number for a way to make calls: short keys."""
    return _numbers.take()


def _known_call(
    bare: ToolRequest, tool: Tool, made_by: int | None, make: Callable[..., TagFormat], choices: tuple[Hashable, ...]
) -> TagFormat:
    if tool.content is None or made_by is None:
        return make(bare, tool, *choices)
    found: TagFormat | None = KEPT.find((tool.content, made_by))
    if found is not None and found.known is not None and found.known.origin == tool.pointer:
        return found  # as nearly always
    interrupt_checkpoint()
    return kept_tag(Known(tool.content, made_by, tool.pointer), lambda: make(bare, tool, *choices))


@lru_cache(maxsize=64)
def _usual_arguments(style: str, excludes: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> JSONSchemaFormat:
    """What the arguments of all tools of a request have in common: read and checked once."""
    return JSONSchemaFormat(True, style, excludes=excludes, capture="arguments", **dict(options))


@lru_cache(maxsize=64)
def _usual_call(end: str) -> TagFormat:
    """What all calls have in common."""
    return TagFormat("", AnyTextFormat(), end)


def read_request(
    tools: Any,
    tool_choice: Any,
    *,
    reasoning: Any = "enabled",
    parallel_tool_calls: Any = True,
    content: Format | None = None,
    thinking_token_budget: Any = None,
    options: Mapping[str, Any] = _NO_OPTIONS,
    built_in: Collection[str] = (),
) -> ToolRequest:
    """Check the fields of a request that are about tools and reasoning; `built_in` are the namespaces of the built-in
    tools of the model family.

    Raises:
        RequestError: A field is malformed, or names an unknown tool; `pointer` says which.
        OptionError: An option is unknown or invalid.
    """
    if isinstance(reasoning, bool):
        reasoning = "enabled" if reasoning else "disabled"
    given: Any = reasoning if isinstance(reasoning, str) else None
    if given not in ("enabled", "disabled", "auto"):
        hint = "use 'disabled'" if given in ("off", "none", "no", "false") else "use 'enabled'"
        raise _wrong("'enabled', 'disabled' or 'auto'", reasoning, "/reasoning", hint)
    budget = _read_budget(thinking_token_budget)
    if not isinstance(parallel_tool_calls, bool):
        raise _wrong("true or false", parallel_tool_calls, "/parallel_tool_calls")
    known = _read_tools(tools, built_in)
    chosen, must_call = _choose(known, tool_choice)
    is_named = isinstance(tool_choice, Mapping) and tool_choice.get("type") != "allowed_tools"
    chosen_options = checked_options(options, *_OTHER_ARGUMENTS) if options else options
    if content is not None:
        content = with_defaults(content, chosen_options)
    parallel = parallel_tool_calls and not is_named  # a tool that is named is called once
    return ToolRequest(chosen, must_call, parallel, given, content, budget, chosen_options)


def _wrong(expected: str, value: Any, pointer: str, hint: str | None = None) -> RequestError:
    found = f"{value!r:.60}" if isinstance(value, str) else kind_of(value)
    return RequestError(f"expected {expected}, found {found}", pointer=pointer, hint=hint)


def _lacks(field: str, value: Any, pointer: str) -> RequestError:
    """Return the error for what should be an object with this field."""
    if isinstance(value, Mapping):
        return RequestError(f"the object requires the field {field}", pointer=pointer)
    return _wrong("an object", value, pointer)


def optional_flag(value: Any, pointer: str) -> bool | None:
    """True, false or nothing; a number is none of these."""
    if value is None or isinstance(value, bool):
        return value
    raise _wrong("true or false", value, pointer)


def _read_budget(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= MAX_COUNT):
        return value
    pointer = "/thinking_token_budget"
    if type(value) is not int:
        raise _wrong("an integer (a number of tokens)", value, pointer)
    hint = "omit it for reasoning of any length"
    raise RequestError(f"expected an integer from 0 to {MAX_COUNT:,}", pointer=pointer, hint=hint)


def _read_tools(tools: Any, built_in: Collection[str]) -> tuple[Tool, ...]:
    if tools is None:
        return ()
    if not isinstance(tools, (list, tuple)):
        hint = "pass [tool]"
        if isinstance(tools, str):
            is_json = tools.lstrip()[:1] in ("[", "{")
            hint = "pass the array itself, not its JSON text" if is_json else "pass the tools themselves, not a name"
        raise _wrong("an array of tools", tools, "/tools", hint)
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
        raise _wrong("a string", kind, f"{pointer}/type")
    body, at = _named_part(data, kind, pointer)
    if not isinstance(body, Mapping):
        raise _wrong("an object", body, at)
    name = _name_in(body, kind)
    if not isinstance(name, str) or not name:
        hint = 'a tool is {"type": "function", "function": {"name": …, "parameters": …}}'
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
    if kind == "custom":
        _check_custom(body, at)
    strict = optional_flag(body.get("strict"), f"{at}/strict")
    parameters = body.get("parameters")
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
        raise _wrong("a JSON Schema (an object)", parameters, f"{at}/parameters", way_out)
    else:
        _check_wrapped(parameters, f"{at}/parameters")
        parameters = OwnSchema(_of_objects(parameters, f"{at}/parameters/type"))
    return Tool(name, parameters, strict, kind, f"{at}/parameters")


def name_of(tool: Mapping[str, Any]) -> str:
    """Return the name by which a well-formed tool is called."""
    kind = tool.get("type", "function")
    return cast(str, _name_in(_named_part(tool, kind, "")[0], kind))


def _name_in(body: Mapping[str, Any], kind: str) -> Any:
    return body.get("name", None if kind in TYPES else kind)


def _check_wrapped(schema: dict[str, Any], pointer: str) -> None:
    """Refuse bare properties: as a schema, their names are keywords that nobody knows, and any object is valid."""
    if "type" in schema or "properties" in schema:  # as nearly always
        return
    if any(isinstance(value, dict) and "type" in value for value in schema.values()) and all(map(says_nothing, schema)):
        hint = 'wrap them: {"type": "object", "properties": {…}}'
        raise RequestError("the properties of the arguments are not in a schema", pointer=pointer, hint=hint)


def _check_custom(body: Mapping[str, Any], pointer: str) -> None:
    """Refuse what would restrict a custom tool's input: families write calls with JSON arguments only."""
    wanted = body.get("format")
    if wanted is not None and not (isinstance(wanted, Mapping) and wanted.get("type") == "text"):
        hint = "use a function, with a pattern in its parameters if that is enough"
        raise RequestError("the format of a custom tool is not supported", pointer=f"{pointer}/format", hint=hint)


def _named_part(data: Mapping[str, Any], kind: str, pointer: str) -> tuple[Any, str]:
    """What a tool, or a choice of one, says in an object named after its type, or itself; and where that is."""
    return (data[kind], f"{pointer}/{kind}") if kind in TYPES and kind in data else (data, pointer)


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


def _choose(tools: tuple[Tool, ...], choice: Any, pointer: str = "/tool_choice") -> tuple[tuple[Tool, ...], bool]:
    """Return the tools that may be called, and whether one must be."""
    if choice is not None and not isinstance(choice, str | Mapping):
        raise _wrong("'none', 'auto', 'required' or an object", choice, pointer)
    if choice is None or choice == "auto":
        return tools, False
    if choice == "none":
        return (), False
    if choice == "required":
        if not tools:
            raise RequestError("tool_choice is 'required', but there are no tools", pointer=pointer, hint="pass tools")
        return tools, True
    if not isinstance(choice, Mapping):
        near = get_close_matches(choice[:60], ("none", "auto", "required"), 1)
        hint = "use 'required'" if choice == "any" else f"did you mean {near[0]!r}?" if near else None
        if any(choice == tool.name for tool in tools):
            hint = f'use {{"type": "function", "function": {{"name": "{choice}"}}}}'
        raise _wrong("'none', 'auto', 'required' or an object", choice, pointer, hint)
    if choice.get("type") == "allowed_tools":
        inner, at = choice, pointer
        if "allowed_tools" in choice:
            inner, at = choice["allowed_tools"], f"{pointer}/allowed_tools"
        return _allowed(tools, inner, at)
    return (_named(tools, choice, pointer),), True


def _allowed(tools: tuple[Tool, ...], choice: Any, pointer: str) -> tuple[tuple[Tool, ...], bool]:
    given = choice.get("tools") if isinstance(choice, Mapping) else None
    if not isinstance(given, (list, tuple)):
        raise _lacks("'tools' (an array)", choice, pointer)
    names = {_named(tools, each, f"{pointer}/tools/{i}").name for i, each in enumerate(given)}
    mode = choice.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise _wrong("'auto' or 'required'", mode, f"{pointer}/mode")
    return _choose(tuple(tool for tool in tools if tool.name in names), mode, pointer)


def _named(tools: tuple[Tool, ...], choice: Any, pointer: str) -> Tool:
    """The tool that a choice names."""
    if not isinstance(choice, Mapping) or not isinstance(choice.get("type"), str):
        raise _lacks("'type' (a string)", choice, pointer)
    kind = choice["type"]
    inner, at = _named_part(choice, kind, pointer)
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
        raise _lacks("'name' (a string)", inner, at)
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        near = get_close_matches(name[:60], list(by_name)[:1000], 1)
        hint = f"did you mean {near[0]!r}?" if near else "it must be the name of one of the tools"
        raise RequestError(f"unknown tool {name[:60]!r}", pointer=f"{at}/name", hint=hint)
    return by_name[name]
