"""Kimi K2 and K3: all calls in one section, each with its number.

    <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}
    <|tool_call_end|><|tool_calls_section_end|>                                                      (without newlines)

K3 writes messages of parts, arguments one by one:

    …<|close|>think<|sep|><|open|>response<|sep|>Let me see.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call
    tool="get_weather" index="0"<|sep|><|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|>
    <|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>                                 (without newlines)

The prompt of K3 ends with the opening of `think`, or of `response` where there is no reasoning: these may be missing.
Sources: the tool-calling guide of moonshotai/Kimi-K2-Instruct and the chat template of Kimi-K2-Thinking; for K3, the
chat template that llama.cpp has for it.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import calls_in_section, canonical_bytes, in_order, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import (
    AnyTextFormat,
    ConstStringFormat,
    OptionalFormat,
    OrFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
    TagsWithSeparatorFormat,
)
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_NUMBER = RegexFormat("[0-9]{1,6}")
_HEAD = shared(SequenceFormat((_NUMBER, ConstStringFormat("<|tool_call_argument_begin|>"))))
_HEAD_OF_K3 = shared(SequenceFormat((_NUMBER, ConstStringFormat('"<|sep|>'))))
_MARKS = ("<|open|>", "<|close|>")


@register_model_structural_tag("kimi", "kimi_k2", reasoning="auto")
def kimi(request: ToolRequest) -> Format:
    """Build the tag of Kimi K2."""
    tags = request.calls(_call_of_k2)
    answer = calls_in_section(request, "<|tool_calls_section_begin|>", tags, "<|tool_calls_section_end|>")
    return output(request, answer)


def _call_of_k2(request: ToolRequest, tool: Tool) -> TagFormat:
    content = in_order(_HEAD, request.arguments(tool))
    return request.call(tool, f"<|tool_call_begin|>functions.{tool.name}:", content, "<|tool_call_end|>")


@register_model_structural_tag("kimi_k3", reasoning="auto")
def kimi_k3(request: ToolRequest) -> Format:
    """Build the tag of Kimi K3."""
    tags = request.calls(_call_of_k3)
    free = AnyTextFormat(excludes=_MARKS, capture="content")
    ways: list[Format] = []
    if tags:
        listed = TagsWithSeparatorFormat(tags, "", at_least_one=True, stop_after_first=not request.parallel)
        section = _part("tools", listed)
        calls = section if request.must_call or request.content else OptionalFormat(section)
        ways.append(SequenceFormat((_response(request, free), calls)))
    if not ways or (request.content and not request.must_call):
        ways.append(_response(request, canonical_bytes(request.content, *_MARKS) if request.content else free))
    answer = ways[0] if len(ways) == 1 else OrFormat(tuple(ways))
    opened, closed = "<|open|>think<|sep|>", "<|close|>think<|sep|>"
    thought: tuple[Format, ...] = ()
    if request.reasoning != "disabled":
        thought = (OptionalFormat(ConstStringFormat(opened)), request.thought("", closed, *_MARKS))
    if request.reasoning == "auto":  # what is not reasoning begins with a mark of its own
        thought = (OptionalFormat(SequenceFormat(thought)),)
    return SequenceFormat((*thought, answer, ConstStringFormat("<|close|>message<|sep|>")))


def _call_of_k3(request: ToolRequest, tool: Tool) -> TagFormat:
    numbered = in_order(_HEAD_OF_K3, request.arguments(tool, "kimi_k3_xml"))
    return request.call(tool, f'<|open|>call tool="{tool.name}" index="', numbered, "<|close|>call<|sep|>")


def _response(request: ToolRequest, content: Format) -> Format:
    """The response, which the prompt may have opened where there is no reasoning."""
    whole = _part("response", content)
    return OrFormat((whole, TagFormat("", content, whole.ends[0]))) if request.reasoning == "disabled" else whole


def _part(name: str, content: Format) -> TagFormat:
    return TagFormat(f"<|open|>{name}<|sep|>", content, f"<|close|>{name}<|sep|>")
