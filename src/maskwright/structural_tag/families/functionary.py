"""Functionary 3: calls in elements named after the function, or messages to a recipient.

    3.1    Let me see.<function=get_weather>{"city": "Paris"}</function>
    3.2    all
           Let me see.>>>get_weather
           {"city": "Paris"}>>>get_time
           {}

The prompt of 3.2 ends with the first `>>>`, which may be missing; `all` is the user. There is no reasoning.
Source: the chat templates of meetkai/functionary-medium-v3.1 and v3.2, as llama.cpp has them.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import bare_calls, calls_in_text, canonical_bytes
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import (
    AnyTextFormat,
    ConstStringFormat,
    OptionalFormat,
    OrFormat,
    SequenceFormat,
    TagFormat,
    TagsWithSeparatorFormat,
    TriggeredTagsFormat,
)
from maskwright.structural_tag.request import ToolRequest

_NEXT = ">>>"
_TO_USER = ConstStringFormat("all\n")


@register_model_structural_tag("functionary_v3_1")
def functionary_v3_1(request: ToolRequest) -> Format:
    """Build the tag of Functionary 3.1."""
    tags = bare_calls(request, "<function=", ">", "</function>")
    return calls_in_text(request, ["<function="], tags, excludes=())


@register_model_structural_tag("functionary_v3_2")
def functionary_v3_2(request: ToolRequest) -> Format:
    """Build the tag of Functionary 3.2."""
    content = canonical_bytes(request.content, _NEXT) if request.content else None
    text: Format = AnyTextFormat(excludes=(_NEXT,), capture="content")
    ways: list[Format] = []
    if request.tools:
        tags = bare_calls(request, "", "\n", "")
        calls = TagsWithSeparatorFormat(tags, _NEXT, at_least_one=True, stop_after_first=not request.parallel)
        ways.append(calls)
        text = TriggeredTagsFormat((_NEXT,), (TagFormat(_NEXT, calls, ""),), stop_after_first=True, capture="content")
    if not request.must_call:
        ways.append(SequenceFormat((_TO_USER, content or text)))
    return SequenceFormat((OptionalFormat(ConstStringFormat(_NEXT)), OrFormat(tuple(ways))))
