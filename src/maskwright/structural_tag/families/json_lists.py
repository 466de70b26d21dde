"""Families that write all calls as one JSON array after a marker.

    Granite 3     <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]
    Mistral v3    [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}]
    Phi-4-mini    functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]
    Command A     <|START_ACTION|>[
                      {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
                  ]<|END_ACTION|>

Sources: the chat templates of ibm-granite/granite-3.3-8b-instruct and CohereLabs/c4ai-command-a-03-2025; tokenizer v3
of mistral-common; for Phi-4-mini the parser that vLLM has for it, as its chat template leaves the output to the model.
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import THINK, calls_in_section, output, quoted
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import ConstStringFormat, RegexFormat, SequenceFormat
from maskwright.structural_tag.request import ToolRequest

_COMMAND_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")


@register_model_structural_tag("granite", "granite_3")
def granite(request: ToolRequest) -> Format:
    """Build the tag of Granite 3."""
    return output(request, _list(request, "<|tool_call|>["))


@register_model_structural_tag("mistral_v3")
def mistral_v3(request: ToolRequest) -> Format:
    """Build the tag of Mistral's tokenizers v3 to v7."""
    return _list(request, "[TOOL_CALLS][", excludes=())


@register_model_structural_tag("phi_4_mini")
def phi(request: ToolRequest) -> Format:
    """Build the tag of Phi-4-mini."""
    return _list(request, "functools[", excludes=())


def _list(request: ToolRequest, begin: str, excludes: tuple[str, ...] = THINK) -> Format:
    tags = [
        request.call(tool, f'{{"name": {quoted(tool.name)}, "arguments": ', request.arguments(tool), "}")
        for tool in request.tools
    ]
    return calls_in_section(request, begin, tags, "]", separator=", ", excludes=excludes)


@register_model_structural_tag("command_a", "command_r7b")
def command(request: ToolRequest) -> Format:
    """Build the tag of Command A and Command R7B."""
    tags = []
    for tool in request.tools:
        middle = ConstStringFormat(f'", "tool_name": {quoted(tool.name)}, "parameters": ')
        content = SequenceFormat((RegexFormat("[0-9]{1,3}"), middle, request.arguments(tool)))
        tags.append(request.call(tool, '    {"tool_call_id": "', content, "}"))
    begin, end = "<|START_ACTION|>[\n", "\n]<|END_ACTION|>"
    answer = calls_in_section(
        request, begin, tags, end, separator=",\n", trigger="<|START_ACTION|>", excludes=_COMMAND_THINK
    )
    return output(request, answer, _COMMAND_THINK)
