"""The registry of model families: a builder by name.

    @register_model_structural_tag("my_model")
    def my_model(request: ToolRequest) -> Format: …

    tag = get_model_structural_tag("my_model", tools=tools, tool_choice="required")

Names are compared by their letters and digits, without case: "Qwen3-Coder" is "qwen_3_coder"; full names of models are
looked up in model_names.py. A family says whether its models reason and in which order they write arguments; that holds
where the caller does not say otherwise.
Tested by tests/structural_tag/test_families.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from maskwright.errors import OptionError, RequestError
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.structural_tag.families.model_names import Certain, find_model
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import ConstStringFormat
from maskwright.structural_tag.formats.fields import kind_of
from maskwright.structural_tag.formats.tag import StructuralTag
from maskwright.structural_tag.request import Reasoning, ToolRequest, read_request
from maskwright.support.arguments import instance

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.frontends.json_schema import JsonSchemaKeywords

Builder: TypeAlias = Callable[[ToolRequest], Format]


class Family(NamedTuple):
    """A registered name, what builds its tags, and what its models do where the caller does not say."""

    name: str
    builder: Builder
    reasoning: Reasoning
    any_order: bool
    built_in: tuple[str, ...]


_FAMILIES: dict[str, Family] = {}  # by the letters and digits of the name


def register_model_structural_tag(
    *names: str, reasoning: Reasoning = "disabled", any_order: bool = True, built_in: Collection[str] = ()
) -> Callable[[Builder], Builder]:
    """Register a function as the builder of a family, under one or more names; a name may be registered again.

    Args:
        names: The names of the family.
        reasoning: What its models do by default: "disabled" if they do not reason, "auto" if they may open their
            reasoning themselves, "enabled" if the prompt opens it.
        any_order: Whether its models write the properties of arguments in any order, as they do where the chat
            template keeps the caller's order.
        built_in: The namespaces of the tools that are built into its models: with "browser", a tool may have the type
            or the name "browser" or "browser.search".

    Raises:
        ArgumentError: A name is not a str.
        OptionError: There is no name, or it has no letters and digits; or `reasoning` is none of the three.
    """
    for name in names or ("",):
        hint = 'write @register_model_structural_tag("my_model")' if callable(name) or not name else None
        if not _bare(instance("name", name, str, hint)):
            message = f"a model family needs a name with letters or digits, not {name!r}"
            raise OptionError(message, option="names", hint=hint)
    if reasoning not in ("disabled", "auto", "enabled"):
        message = f"reasoning must be 'disabled', 'auto' or 'enabled', not {reasoning!r}"
        raise OptionError(message, option="reasoning")

    def register(builder: Builder) -> Builder:
        _FAMILIES.update((_bare(name), Family(name, builder, reasoning, any_order, tuple(built_in))) for name in names)
        return builder

    return register


def model_families() -> tuple[str, ...]:
    """Return the names of all registered families."""
    return tuple(family.name for family in _FAMILIES.values())


def default_reasoning(model: str) -> Reasoning:
    """Return what `reasoning=None` means for a family or a model.

    Raises:
        RequestError: The family is unknown, or the model's name does not determine it.

    >>> default_reasoning("qwen_3")
    'auto'
    """
    return _family(model).reasoning


def built_in_tools(model: str) -> tuple[str, ...]:
    """Return the namespaces of the tools that are built into the models of a family.

    Raises:
        RequestError: The family is unknown, or the model's name does not determine it.

    >>> built_in_tools("harmony")
    ('browser', 'container', 'python')
    """
    return _family(model).built_in


@takes_schema_options
def get_model_structural_tag(
    model: str,
    tools: Sequence[Any] | None = None,
    tool_choice: Any = "auto",
    reasoning: Any = None,
    *,
    parallel_tool_calls: bool = True,
    content: Format | None = None,
    thinking_token_budget: int | None = None,
    **options: Unpack[JsonSchemaKeywords],
) -> StructuralTag:
    """Return the structural tag for a model's output: text, tool calls and reasoning.

    Args:
        model: A family, such as "llama" or "qwen_3_coder" (`model_families` lists them), or the full name of a model,
            such as "Qwen/Qwen3-8B", where that determines the family.
        tools: Tools in the shape of Chat Completions or Responses, or Python functions and classes, which `tool_of`
            converts.
        tool_choice: "none", "auto", "required", a named tool, or an allowed subset.
        reasoning: "enabled" (the output begins with reasoning, whose opening tag may stand in the prompt), "disabled",
            or "auto" (reasoning that the output opens itself, or none); True and False mean the first two. None means
            what the family's models do with the defaults of their chat template. Families whose format has no
            reasoning ignore it, as their chat templates do.
        parallel_tool_calls: Whether there may be more than one call. If not, nothing follows the first.
        content: The format of the answer where no tool is called, such as a `JSONSchemaFormat`; None for free text.
        thinking_token_budget: The largest number of tokens of reasoning between its opening and its end, after which
            only the end is allowed; 0 closes it at once, None means no limit. Ignored like `reasoning`.
        **options: The fields of `JsonSchemaOptions`, for all arguments, and for `content` where it does not set them. A
            tool's own `strict` takes precedence over `strict_mode`. Without `any_order`, or with None, properties come
            as the family's models write them: in any order, or sorted. What `on_unsupported="relax"` does not enforce
            is reported when the tag is compiled, in `Grammar.report`.

    Raises:
        RequestError: The family is unknown or has no place for `content`, the model's name does not determine it, or
            tools or tool choice are malformed; `pointer` says where.
        OptionError: An option is wrong, or contradicts another one; `option` names it.

    >>> get_model_structural_tag("hermes").format.type
    'any_text'
    """
    if not isinstance(model, str):
        raise RequestError(
            f"expected the name of a model or a model family, found {kind_of(model)}",
            pointer="/model",
            hint="the name comes first, then the tools: get_model_structural_tag('hermes', tools)",
        )
    family = _family(model)
    request = read_request(
        tools,
        tool_choice,
        reasoning=family.reasoning if reasoning is None else reasoning,
        parallel_tool_calls=parallel_tool_calls,
        content=content,
        thinking_token_budget=thinking_token_budget,
        options=options,
        built_in=family.built_in,
    )
    if content is not None and not _has_place_for_content(family.builder):
        raise RequestError(
            f"the model family {family.name!r} has no place for the format of the answer",
            pointer="/model",
            hint="let its function use request.content where no tool is called",
        )
    if request.options.get("any_order") is None:
        request = request._replace(options={**request.options, "any_order": family.any_order})
    return StructuralTag(format=family.builder(request))


@lru_cache(maxsize=256)
def _has_place_for_content(builder: Builder) -> bool:
    """Whether the answer of a family has the form that a request asks for."""
    request = ToolRequest((), False, True, "disabled", ConstStringFormat("content"))
    return builder(request) != builder(request._replace(content=None))


def _family(model: str) -> Family:
    """The family of this name, or of the model that has it, as far as that is certain.

    Raises:
        RequestError: It is not known, or the model might be of several families.
    """
    family = _FAMILIES.get(_bare(model))
    if family is not None:
        return family
    found = find_model(model)
    if isinstance(found, Certain):
        family = _FAMILIES[_bare(found.family)]
        return family if found.reasoning is None else family._replace(reasoning=found.reasoning)
    if found is None:
        raise RequestError(f"unknown model or model family {model[:60]!r}", pointer="/model", hint=_hint(_bare(model)))
    names = ", ".join(map(repr, found.families or model_families()))
    raise RequestError(
        f"the model name {model[:60]!r} does not determine the format of tool calls: {found.reason}",
        pointer="/model",
        hint=f"pass one of the families: {names}",
    )


def _hint(bare: str) -> str:
    """The family that the name of a model contains, or one with a similar name."""
    within = max((known for known in _FAMILIES if known in bare), key=len, default=None)
    near = [within] if within else get_close_matches(bare[:60], _FAMILIES, 1, 0.65)
    return (
        f"did you mean {_FAMILIES[near[0]].name!r}?"
        if near
        else f"the families are: {', '.join(sorted(model_families()))}"
    )


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
