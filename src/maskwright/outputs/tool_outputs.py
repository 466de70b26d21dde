"""Tool calls as outputs: from the tools that a caller has to the calls that a model has written, as Python objects.

    wanted = ToolOutput([get_weather], "hermes")
    compiled = wanted.compile(compiler)
    wanted.read(matcher)                    # [ToolCall("get_weather", {"city": "Paris"}, get_weather)]

A tool is a function with annotated parameters, a class that pydantic knows, or an OpenAI tool. Arguments are those of
its kind: a dict of typed values for a function, an instance for a class, a dict for an OpenAI tool.
Tested by tests/outputs/test_tool_outputs.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_type_hints

from maskwright.compiling.compiled_grammar import CompiledGrammar
from maskwright.compiling.compiler import GrammarCompiler
from maskwright.errors import OptionError, RequestError
from maskwright.events import CallDone, EventReader, ReasoningDelta, TextDelta
from maskwright.inputs.schema_inputs import tool_of
from maskwright.matcher import GrammarMatcher
from maskwright.structural_tag import get_model_structural_tag
from maskwright.structural_tag.custom_tools import as_function
from maskwright.structural_tag.tools import name_of
from maskwright.support.arguments import instance


class ToolCall(NamedTuple):
    """A call that a model has written."""

    name: str
    arguments: Any  # a dict, or an instance of the tool if that is a class
    tool: Any  # what was passed as the tool


class ToolOutput:
    """Calls of some tools, in the format of a model family; `tools` are these as chat templates take them.

    Args:
        tools: What can be called; no two of the same name.
        tool_format: The name of a family or of a model, as `get_model_structural_tag` takes it.
        tool_choice: As in Chat Completions; "required" for at least one call, "auto" to let the model answer in text.
        options: The fields of `JsonSchemaOptions`.
        **request: `reasoning`, `parallel_tool_calls` and `thinking_token_budget`, as `get_model_structural_tag` takes
            them; None is its default.

    Raises:
        OptionError: The family is unknown, or a model's name does not determine it.
        RequestError, SchemaError: A tool or the choice is malformed, or cannot be enforced.
    """

    def __init__(
        self,
        tools: Sequence[Any],
        tool_format: str,
        tool_choice: Any = "required",
        options: Mapping[str, Any] | None = None,
        **request: Any,
    ) -> None:
        instance("tool_format", tool_format, str)
        if not tools:
            raise OptionError("the list of tools is empty", option="output_type", hint="pass at least one tool")
        as_data = [tool if isinstance(tool, Mapping) else tool_of(tool) for tool in tools]
        given = {name: value for name, value in request.items() if value is not None}
        try:
            self._tag = get_model_structural_tag(tool_format, as_data, tool_choice, **{**(options or {}), **given})
        except RequestError as error:
            if error.pointer != "/model":
                raise
            hint = f"pass tool_format=, the name of a family; {error.hint}"
            raise OptionError(error.message, option="tool_format", hint=hint) from error
        self.tools = [_for_templates(tool) for tool in as_data]
        self._given = dict(zip(map(name_of, as_data), tools, strict=True))

    def compile(self, compiler: GrammarCompiler) -> CompiledGrammar:
        """Compile the structure of the calls."""
        return compiler.compile_structural_tag(self._tag)

    def read(self, matcher: GrammarMatcher) -> list[ToolCall] | str:
        """Return the calls of a complete output, or the answer if it has none, without reasoning and marks.

        Raises:
            pydantic.ValidationError: A validator of the caller's refuses arguments that the schema allows.
        """
        events = EventReader(matcher).read()
        calls = [self._call(event.name, event.arguments) for event in events if isinstance(event, CallDone)]
        answer = "".join(event.text for event in events if isinstance(event, TextDelta))
        reasons = any(isinstance(event, ReasoningDelta) for event in events)
        return calls or (answer.lstrip("\n") if reasons else answer)

    def _call(self, name: str, arguments: str) -> ToolCall:
        tool = self._given[name]
        if isinstance(tool, Mapping):
            return ToolCall(name, json.loads(arguments), tool)
        from pydantic import TypeAdapter

        if isinstance(tool, type):
            adapter: Any = TypeAdapter(tool)
            return ToolCall(name, adapter.validate_json(arguments), tool)
        types = get_type_hints(tool, include_extras=True)
        values = {
            key: TypeAdapter(types.get(key, Any)).validate_json(json.dumps(value))
            for key, value in json.loads(arguments).items()
        }
        return ToolCall(name, values, tool)


def _for_templates(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """A function's tool as in Chat Completions, where it is written as for Responses."""
    if tool.get("type") == "custom":
        return as_function(tool)
    if tool.get("type", "function") != "function" or "function" in tool:
        return tool
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}
