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

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import calls_in_section, content_of, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import (
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

_NUMBER = RegexFormat("[0-9]{1,6}")
_MARKS = ("<|open|>", "<|close|>")


@register_model_structural_tag("kimi", "kimi_k2")
def kimi(request: ToolRequest) -> Format:
    """Build the tag of Kimi K2."""
    tags = []
    for tool in request.tools:
        argument = ConstStringFormat("<|tool_call_argument_begin|>")
        content = SequenceFormat((_NUMBER, argument, request.arguments(tool)))
        tags.append(request.call(tool, f"<|tool_call_begin|>functions.{tool.name}:", content, "<|tool_call_end|>"))
    answer = calls_in_section(request, "<|tool_calls_section_begin|>", tags, "<|tool_calls_section_end|>")
    return output(request, answer)


@register_model_structural_tag("kimi_k3")
def kimi_k3(request: ToolRequest) -> Format:
    """Build the tag of Kimi K3."""
    tags = []
    for tool in request.tools:
        head = ConstStringFormat('"<|sep|>')
        numbered = SequenceFormat((_NUMBER, head, request.arguments(tool, "kimi_k3_xml")))
        tags.append(request.call(tool, f'<|open|>call tool="{tool.name}" index="', numbered, "<|close|>call<|sep|>"))
    content = content_of(request.content) if request.content else AnyTextFormat(excludes=_MARKS, capture="content")
    response = _part("response", content)
    opened, closed = "<|open|>think<|sep|>", "<|close|>think<|sep|>"
    if request.reasoning == "enabled":
        opening = OptionalFormat(ConstStringFormat(opened))
        thought: tuple[Format, ...] = (opening, request.thought("", closed, *_MARKS), response)
    elif request.reasoning == "auto":
        thought = (OptionalFormat(request.thought(opened, closed, *_MARKS)), response)
    else:
        thought = (OrFormat((response, TagFormat("", content, "<|close|>response<|sep|>"))),)
    calls: tuple[Format, ...] = ()
    if tags:
        listed = TagsWithSeparatorFormat(tuple(tags), "", at_least_one=True, stop_after_first=not request.parallel)
        section = _part("tools", listed)
        calls = (section if request.must_call else OptionalFormat(section),)
    return SequenceFormat((*thought, *calls, ConstStringFormat("<|close|>message<|sep|>")))


def _part(name: str, content: Format) -> TagFormat:
    return TagFormat(f"<|open|>{name}<|sep|>", content, f"<|close|>{name}<|sep|>")
