"""Harmony, the format of gpt-oss: messages on channels.

    <|channel|>analysis<|message|>I need the weather.<|end|><|start|>assistant<|channel|>commentary
    to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>                    (without newline)

    <|channel|>final<|message|>It is sunny.<|return|>

The prompt ends with `<|start|>assistant`. Reasoning is on the channel `analysis`, and the model may leave it out; text
on `commentary` without a recipient goes before calls. The recipient may also stand before the channel, and the content
type may be left out. Tools that are built into the model are called on `analysis` as well. With a budget for reasoning
there is one message of it at most.
Sources: https://developers.openai.com/cookbook/articles/openai-harmony; openai-harmony 0.0.8, whose renderer and parser
are compared in tests/structural_tag/families/test_makers.py.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import canonical_bytes, exactly, in_order
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, altered, shared
from maskwright.structural_tag.formats.classes import (
    AnyTextFormat,
    ConstStringFormat,
    OptionalFormat,
    OrFormat,
    SequenceFormat,
    StarFormat,
    TagFormat,
    TagsWithSeparatorFormat,
)
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tool_types import TYPES
from maskwright.structural_tag.tools import Tool

_START = "<|start|>assistant"
_TEXT = AnyTextFormat(capture="content")


_HEADS = OrFormat((_TEXT,))


def _any_of(*types: str) -> Format:
    return shared(OrFormat(tuple(ConstStringFormat(f"{each}<|message|>") for each in types)))


# The content type, in the spellings that models use, up to the content.
_TYPES = _any_of("", " <|constrain|>json", "<|constrain|>json", " json")
_TYPES_OF_BUILT_IN = _any_of("", " <|constrain|>json", "<|constrain|>json", " json", " code")


@register_model_structural_tag("harmony", "gpt_oss", reasoning="auto", built_in=("browser", "container", "python"))
def harmony(request: ToolRequest) -> Format:
    """Build the tag of gpt-oss."""
    answers = _calls_of(request)
    if not request.must_call:
        ends = ("<|return|>", "<|end|>")
        content = canonical_bytes(request.content, *ends) if request.content else _TEXT
        answers.append(TagFormat("<|channel|>final<|message|>", content, ends))
    return SequenceFormat((*_before(request), OrFormat(tuple(answers))))


def _before(request: ToolRequest) -> list[Format]:
    """The messages before the answer: reasoning, and text before calls."""
    analysis = _message(request.thought("<|channel|>analysis<|message|>", "<|end|>"))
    preamble = _message(TagFormat("<|channel|>commentary<|message|>", _TEXT, "<|end|>"))
    preambles: list[Format] = [StarFormat(preamble)] if request.tools else []
    if request.reasoning == "disabled":
        return preambles
    if request.thinking_token_budget is not None:
        return [*preambles, OptionalFormat(analysis), *preambles]
    return [StarFormat(OrFormat((analysis, preamble)) if request.tools else analysis)]


def _message(tag: TagFormat) -> Format:
    return SequenceFormat((tag, ConstStringFormat(_START)))


def _calls_of(request: ToolRequest) -> list[Format]:
    calls = request.calls(_call)
    if not calls:
        return []
    return [TagsWithSeparatorFormat(calls, _START, at_least_one=True, stop_after_first=not request.parallel)]


def _call(request: ToolRequest, tool: Tool) -> TagFormat:
    """A tool's call, the recipient behind the channel or before it, the content type in its spellings."""
    is_function = tool.kind in TYPES
    recipient = f" to=functions.{tool.name}" if is_function else f" to={tool.name}"
    heads = [
        exactly(head)
        for channel in (("commentary",) if is_function else ("commentary", "analysis"))
        for head in (f"<|channel|>{channel}{recipient}", f"{recipient}<|channel|>{channel}")
    ]
    types = _TYPES if is_function else _TYPES_OF_BUILT_IN
    content = in_order(altered(_HEADS, elements=tuple(heads)), types, request.arguments(tool))
    return request.call(tool, "", content, "<|call|>")
