"""What a request says of tools and reasoning, checked and normalised, as a family's builder receives it.

    read_request(tools, "required", reasoning="auto").calls(my_call)

`tools` is read by tools.py, `tool_choice` by tool_choice.py. Arguments follow the schema as the standard defines it;
`strict: true` forbids undeclared properties, and with `strict: false` any object is accepted. A function without
`parameters` takes none. Errors have a JSON pointer.

Agents send the same tools turn after turn, each time as new data. A tool is known by its content (kept.py),
and with it what `ToolRequest.calls` made of it: an unchanged one costs its content and two look-ups.
Tested by tests/structural_tag/test_request.py, test_kept_tools.py and test_thinking_budget.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from maskwright.errors import RequestError
from maskwright.structural_tag.formats.base import Format, Known, altered
from maskwright.structural_tag.formats.classes import AnyTextFormat, JSONSchemaFormat, TagFormat
from maskwright.structural_tag.formats.defaults import checked_options, with_defaults
from maskwright.structural_tag.formats.fields import MAX_COUNT
from maskwright.structural_tag.formats.kept import KEPT, kept_tag
from maskwright.structural_tag.tool_choice import choose
from maskwright.structural_tag.tool_types import wrong
from maskwright.structural_tag.tools import Tool, read_tools
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.numbering import Numbering

Reasoning = Literal["enabled", "disabled", "auto"]

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
_numbers: Final = Numbering()


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
        raise wrong("'enabled', 'disabled' or 'auto'", reasoning, "/reasoning", hint)
    budget = _read_budget(thinking_token_budget)
    if not isinstance(parallel_tool_calls, bool):
        raise wrong("true or false", parallel_tool_calls, "/parallel_tool_calls")
    known = read_tools(tools, built_in)
    chosen, must_call = choose(known, tool_choice)
    is_named = isinstance(tool_choice, Mapping) and tool_choice.get("type") != "allowed_tools"
    chosen_options = checked_options(options, *_OTHER_ARGUMENTS) if options else options
    if content is not None:
        content = with_defaults(content, chosen_options)
    parallel = parallel_tool_calls and not is_named  # a tool that is named is called once
    return ToolRequest(chosen, must_call, parallel, given, content, budget, chosen_options)


def _read_budget(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= MAX_COUNT):
        return value
    pointer = "/thinking_token_budget"
    if type(value) is not int:
        raise wrong("an integer (a number of tokens)", value, pointer)
    hint = "omit it for reasoning of any length"
    raise RequestError(f"expected an integer from 0 to {MAX_COUNT:,}", pointer=pointer, hint=hint)
