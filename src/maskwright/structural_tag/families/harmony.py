"""Harmony, the format of gpt-oss: messages on channels.

    <|channel|>analysis<|message|>I need the weather.<|end|><|start|>assistant<|channel|>commentary
    to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>                    (without newline)

    <|channel|>final<|message|>It is sunny.<|return|>

The prompt ends with `<|start|>assistant`. Reasoning is on the channel `analysis`; text on `commentary` without a
recipient goes before calls. The recipient may also stand before the channel.
Source: https://developers.openai.com/cookbook/articles/openai-harmony
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import content_of
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import (
    AnyTextFormat,
    ConstStringFormat,
    OrFormat,
    SequenceFormat,
    StarFormat,
    TagFormat,
    TagsWithSeparatorFormat,
)
from maskwright.structural_tag.request import Tool, ToolRequest

_START = "<|start|>assistant"


@register_model_structural_tag("harmony", "gpt_oss")
def harmony(request: ToolRequest) -> Format:
    """Build the tag of gpt-oss."""
    text = AnyTextFormat(capture="content")
    before: list[Format] = []
    if request.reasoning != "disabled":
        before.append(TagFormat("<|channel|>analysis<|message|>", AnyTextFormat(capture="reasoning"), "<|end|>"))
    if request.tools:
        before.append(TagFormat("<|channel|>commentary<|message|>", text, "<|end|>"))
    last: list[Format] = []
    if request.tools:
        calls = tuple(call for tool in request.tools for call in _calls(request, tool))
        last.append(TagsWithSeparatorFormat(calls, _START, at_least_one=True, stop_after_first=not request.parallel))
    if not request.must_call:
        last.append(
            TagFormat(
                "<|channel|>final<|message|>",
                content_of(request.content) if request.content else text,
                ("<|return|>", "<|end|>"),
            )
        )
    answer = OrFormat(tuple(last))
    if not before:
        return answer
    message = SequenceFormat((OrFormat(tuple(before)), ConstStringFormat(_START)))
    return SequenceFormat((StarFormat(message), answer))


def _calls(request: ToolRequest, tool: Tool) -> list[TagFormat]:
    """A tool's calls, the recipient behind the channel or before it, the content type in its spellings."""
    recipient = f"to=functions.{tool.name}" if tool.kind == "function" else f"to={tool.name}"
    begins = [
        f"<|channel|>commentary {recipient} <|constrain|>json<|message|>",
        f"<|channel|>commentary {recipient}<|constrain|>json<|message|>",
        f"<|channel|>commentary {recipient} json<|message|>",
        f" {recipient}<|channel|>commentary <|constrain|>json<|message|>",
        f" {recipient}<|channel|>commentary json<|message|>",
    ]
    return [request.call(tool, begin, request.arguments(tool), "<|call|>") for begin in begins]
