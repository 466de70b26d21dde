"""The structural tags of models' tool calls and reasoning, by XGrammar's names and arguments.

    tag = get_model_structural_tag("qwen_3", tools=tools, tool_choice="required")

The formats are those of Maskwright's model families (docs/model_families.md), so every family can be asked for, and
every full name of a model that determines one. A function registered here takes precedence.
Tested by tests/compat/test_xgrammar_tags.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, Union

from pydantic import TypeAdapter

from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.compat.xgrammar.openai_tool_call_schema import (
    AllowedToolChoiceParam,
    AllowedToolRef,
    BuiltinToolChoiceParam,
    BuiltinToolParam,
    FunctionToolParam,
    NamedToolChoiceParam,
)
from maskwright.compat.xgrammar.structural_tag import StructuralTag
from maskwright.errors import RequestError
from maskwright.structural_tag import families as _families

SimplifiedToolChoice: TypeAlias = Literal["auto", "required", "forced"]
Reasoning: TypeAlias = Literal["enabled", "disabled", "auto"]
_Tools: TypeAlias = list[FunctionToolParam | BuiltinToolParam | dict[str, Any]] | None
_Choice: TypeAlias = (
    Literal["none", "auto", "required"]
    | NamedToolChoiceParam
    | AllowedToolChoiceParam
    | BuiltinToolChoiceParam
    | dict[str, Any]
    | None
)
_Builder: TypeAlias = Callable[..., StructuralTag]

_TOOL: Final[TypeAdapter[Any]] = TypeAdapter(Union[FunctionToolParam, BuiltinToolParam])  # noqa: UP007
_CHOICE: Final[TypeAdapter[Any]] = TypeAdapter(
    Union[  # noqa: UP007
        Literal["none", "auto", "required"], NamedToolChoiceParam, AllowedToolChoiceParam, BuiltinToolChoiceParam
    ]
)
_structural_tag_registry: Final[dict[str, _Builder]] = {}


def register_model_structural_tag(name: str) -> Callable[[_Builder], _Builder]:
    """Register a function as the builder of a format, for `get_model_structural_tag`.

    It is called with the function tools, the built-in tools, the simplified tool choice and the reasoning mode, and by
    keyword with `any_order`, `exclude_special_tokens`, `max_whitespace_cnt` and `parallel_tool_calls`.
    """

    def register(builder: _Builder) -> _Builder:
        _structural_tag_registry[name] = builder
        return builder

    return register


@as_xgrammar_errors()
def get_model_structural_tag(
    model: str,
    tools: _Tools = None,
    tool_choice: _Choice = "auto",
    reasoning: bool | Reasoning = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
) -> StructuralTag:
    """Return the structural tag of a model's output: reasoning, text and tool calls.

    Args:
        model: A format that was registered, a family of Maskwright's, or the full name of a model.
        tools: Function tools and built-in tools.
        tool_choice: "none", "auto", "required", a named tool, or an allowed subset.
        reasoning: "enabled", "disabled" or "auto"; True and False mean the first two.
        force_reasoning: Without effect.
        any_order: Whether arguments have their members in any order.
        exclude_special_tokens: Passed to registered functions. In the built-in formats, special tokens never occur
            in text.
        max_whitespace_cnt: The longest run of white space in arguments; None for any.
        parallel_tool_calls: Whether there may be more than one call.

    Raises:
        RequestError: The model is unknown, or the tools or the tool choice are wrong.
    """
    functions, builtins, choice = normalize_tool_choice(tools, tool_choice)
    mode: Any = {True: "enabled", False: "disabled"}[reasoning] if isinstance(reasoning, bool) else reasoning
    builder = _structural_tag_registry.get(model) if isinstance(model, str) else None
    return (builder or _family(model))(
        functions,
        builtins,
        choice,
        mode,
        any_order=any_order,
        exclude_special_tokens=exclude_special_tokens,
        max_whitespace_cnt=max_whitespace_cnt,
        parallel_tool_calls=parallel_tool_calls,
    )


get_builtin_structural_tag = get_model_structural_tag
"""The older name of `get_model_structural_tag`."""


@as_xgrammar_errors()
def normalize_tool_choice(
    tools: _Tools = None, tool_choice: _Choice = "auto"
) -> tuple[list[FunctionToolParam], list[BuiltinToolParam], SimplifiedToolChoice]:
    """Return the function tools and the built-in tools that may be called, and whether one must be.

    Raises:
        RequestError: A tool is malformed or missing, or there are none where one must be called.
        pydantic.ValidationError: A tool or the choice is of no known form.
    """
    if tools is not None and not isinstance(tools, list):
        raise RequestError(f"tools must be a list, not {type(tools).__name__}", pointer="/tools")
    read = [
        each if isinstance(each, FunctionToolParam | BuiltinToolParam) else _read_tool(each) for each in tools or ()
    ]
    functions = [each for each in read if isinstance(each, FunctionToolParam)]
    builtins = [each for each in read if isinstance(each, BuiltinToolParam)]
    chosen: Any = _CHOICE.validate_python("auto" if tool_choice is None else tool_choice)
    if chosen == "none":
        return [], [], "auto"
    if chosen in ("auto", "required"):
        return _available(functions, builtins, chosen)
    if isinstance(chosen, NamedToolChoiceParam):
        return [_named(functions, chosen.function.name)], [], "forced"
    if isinstance(chosen, BuiltinToolChoiceParam):
        return [], [_builtin(builtins, chosen.type, chosen.name)], "forced"
    allowed = [_referenced(functions, builtins, each) for each in chosen.allowed_tools.tools]
    return _available(
        [each for each in functions if any(each is known for known in allowed)],
        [each for each in builtins if any(each is known for known in allowed)],
        chosen.allowed_tools.mode,
    )


def _read_tool(data: Any) -> FunctionToolParam | BuiltinToolParam:
    if isinstance(data, dict) and data.get("type", "function") == "function":
        return FunctionToolParam.model_validate(data)
    return _TOOL.validate_python(data)  # type: ignore[no-any-return]


def _available(
    functions: list[FunctionToolParam], builtins: list[BuiltinToolParam], choice: Literal["auto", "required"]
) -> tuple[list[FunctionToolParam], list[BuiltinToolParam], SimplifiedToolChoice]:
    if choice == "required" and not functions and not builtins:
        raise RequestError("there are no tools to call, but the tool choice is 'required'", pointer="/tools")
    return functions, builtins, choice


def _named(functions: list[FunctionToolParam], name: str) -> FunctionToolParam:
    for each in functions:
        if each.function.name == name:
            return each
    raise RequestError(f"the tool {name[:60]!r} is not among the tools", pointer="/tool_choice")


def _builtin(builtins: list[BuiltinToolParam], kind: str, name: str | None) -> BuiltinToolParam:
    found = [each for each in builtins if each.type == kind and (name is None or _name(each) == name)]
    if len(found) != 1:
        raise RequestError(f"{len(found)} built-in tools have the type {kind[:60]!r}", pointer="/tool_choice")
    return found[0]


def _referenced(
    functions: list[FunctionToolParam], builtins: list[BuiltinToolParam], reference: AllowedToolRef
) -> FunctionToolParam | BuiltinToolParam:
    if reference.type != "function":
        return _builtin(builtins, reference.type, reference.name)
    name = reference.name if reference.function is None else reference.function.name
    if name is None:
        raise RequestError("an allowed function tool requires its name", pointer="/tool_choice/allowed_tools/tools")
    return _named(functions, name)


def _name(tool: FunctionToolParam | BuiltinToolParam) -> str:
    return tool.function.name if isinstance(tool, FunctionToolParam) else tool.name or tool.type


def _family(name: str, usual: Reasoning = "enabled") -> _Builder:
    """Return the builder of one of Maskwright's families, with the arguments of a registered function."""

    @as_xgrammar_errors()
    def build(
        tools: list[FunctionToolParam] | None = None,
        builtin_tools: list[BuiltinToolParam] | None = None,
        tool_choice: SimplifiedToolChoice = "auto",
        reasoning: Reasoning = usual,
        any_order: bool = False,
        exclude_special_tokens: bool = True,
        max_whitespace_cnt: int | None = None,
        parallel_tool_calls: bool = True,
        **kwargs: Any,
    ) -> StructuralTag:
        has_built_in = bool(_families.built_in_tools(name))  # others ignore them, as in XGrammar
        several = [*(tools or ()), *((builtin_tools or ()) if has_built_in else ())]
        tag = _families.get_model_structural_tag(
            name,
            tools=[_tool_data(each) for each in several],
            tool_choice=_choice_data(several, tool_choice),
            reasoning=reasoning,
            parallel_tool_calls=parallel_tool_calls,
            any_order=any_order,
            max_whitespace_cnt=max_whitespace_cnt,
        )
        return StructuralTag.model_validate(tag.to_dict(captures=False))

    build.__name__ = build.__qualname__ = f"get_{name}_structural_tag"
    build.__doc__ = f"Return the structural tag of the family {name!r}; see `get_model_structural_tag`."
    return build


def _tool_data(tool: FunctionToolParam | BuiltinToolParam) -> dict[str, Any]:
    """A tool as Maskwright takes it; one that declares no parameters takes any."""
    data = tool.model_dump(exclude_none=True)
    body = data["function"] if isinstance(tool, FunctionToolParam) else data
    body.setdefault("parameters", {"type": "object", "additionalProperties": True})
    return data


def _choice_data(tools: list[FunctionToolParam | BuiltinToolParam], choice: SimplifiedToolChoice) -> Any:
    if choice != "forced":
        return choice if tools or choice == "required" else "none"
    if len(tools) != 1:
        raise RequestError(f"a forced tool choice requires exactly one tool, not {len(tools)}", pointer="/tools")
    (tool,) = tools
    if isinstance(tool, FunctionToolParam):
        return {"type": "function", "function": {"name": tool.function.name}}
    return {"type": tool.type}


get_cohere_structural_tag = _family("cohere")
get_deepseek_r1_structural_tag = _family("deepseek_r1")
get_deepseek_v3_1_structural_tag = _family("deepseek_v3_1")
get_deepseek_v3_2_structural_tag = _family("deepseek_v3_2")
get_deepseek_v4_structural_tag = _family("deepseek_v4")
get_deepseek_v4_1_structural_tag = _family("deepseek_v4_1")
get_exaone_structural_tag = _family("exaone")
get_glm_4_7_structural_tag = _family("glm_4_7")
get_harmony_structural_tag = _family("harmony")
get_kimi_structural_tag = _family("kimi")
get_kimi_k3_structural_tag = _family("kimi_k3")
get_llama_structural_tag = _family("llama")
get_mimo_structural_tag = _family("mimo")
get_minimax_structural_tag = _family("minimax")
get_minimax_m3_structural_tag = _family("minimax_m3", "auto")
get_qwen_3_structural_tag = _family("qwen_3")
get_qwen_3_5_structural_tag = _family("qwen_3_5")
get_qwen_3_coder_structural_tag = _family("qwen_3_coder")
