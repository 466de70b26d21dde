"""Cohere's models: Command A and Command R7B with calls as a JSON list, newer ones with calls as elements.

    <|START_THINKING|>I need the weather.<|END_THINKING|><|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
    ]<|END_ACTION|>

    <cofl:tool_calls><cofl:tool_call id="0" name="get_weather"><cofl:value name="city" type="raw">Paris</cofl:value>
    </cofl:tool_call></cofl:tool_calls>                                                             (without newline)

    <|START_RESPONSE|>It is sunny.<|END_RESPONSE|>                         an answer; newer: START_TEXT and END_TEXT

Answers without these marks are accepted too, JSON above all, which the models are asked to write bare.
Source: cohere-melody 0.15.3, whose renderer and parser are compared in tests/structural_tag/families/test_makers.py.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import calls_in_section, exactly, in_order, marked, output, quoted
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import RegexFormat, TagFormat
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")
_ANSWERS = (("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>"))
_SECTION = ("<cofl:tool_calls>", "</cofl:tool_calls>")  # which their parser sees in reasoning and values as well
_NUMBER = shared(RegexFormat("[0-9]{1,3}"))
_ID = shared(RegexFormat("[A-Za-z0-9_-]{1,40}"))
_MARKS = (*_THINK, *_ANSWERS[0], *_ANSWERS[1])


@register_model_structural_tag("command_a", "command_r7b", reasoning="auto")
def command(request: ToolRequest) -> Format:
    """Build the tag of Command A and Command R7B."""
    tags = request.calls(_json_call)
    begin, end = "<|START_ACTION|>[\n", "\n]<|END_ACTION|>"
    answer = calls_in_section(request, begin, tags, end, separator=",\n", trigger="<|START_ACTION|>", excludes=_MARKS)
    return output(request, marked(request, answer, *_ANSWERS), _THINK)


def _json_call(request: ToolRequest, tool: Tool) -> TagFormat:
    middle = exactly(f'", "tool_name": {quoted(tool.name)}, "parameters": ')
    content = in_order(_NUMBER, middle, request.arguments(tool))
    return request.call(tool, '    {"tool_call_id": "', content, "}")


@register_model_structural_tag("cohere", reasoning="enabled")
def cohere(request: ToolRequest) -> Format:
    """Build the tag of Cohere's newer models."""
    begin, end = _SECTION
    answer = calls_in_section(request, begin, request.calls(_call), end, excludes=_MARKS)
    return output(request, marked(request, answer, *_ANSWERS), _THINK, excludes=(begin,))


def _call(request: ToolRequest, tool: Tool) -> TagFormat:
    head = exactly(f'" name="{tool.name}">')
    arguments = request.arguments(tool, "cohere_xml", "</cofl:tool_call>", *_SECTION)
    return request.call(tool, '<cofl:tool_call id="', in_order(_ID, head, arguments), "</cofl:tool_call>")
