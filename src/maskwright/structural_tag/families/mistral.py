"""Mistral: calls behind special tokens, by the version of the tokenizer.

    v3 to v7      [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1B2c3D4e"}]
    v11           [TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Paris"}
    v13, v15      [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_time[ARGS]{}

After the first call come only calls: nothing tells text from the arguments before it. Ids may be left out. Before the
list of v3 to v7 there may be a space, which SentencePiece puts there. Reasoning models of v13 and later write
`[THINK]…[/THINK]` first.
Source: mistral-common 1.13.1, whose output is compared in tests/structural_tag/families/test_makers.py.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import (
    bare_calls,
    calls_in_section,
    in_order,
    json_calls,
    output,
)
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import (
    ConstStringFormat,
    OptionalFormat,
    OrFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
)
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_THINK = ("[THINK]", "[/THINK]")
_ID = SequenceFormat((ConstStringFormat("[CALL_ID]"), RegexFormat("[A-Za-z0-9]{9}")))
_TO_ARGUMENTS = shared(SequenceFormat((OptionalFormat(_ID), ConstStringFormat("[ARGS]"))))
_END = SequenceFormat((RegexFormat('(?:, "id": "[A-Za-z0-9]{9}")?'), ConstStringFormat("}")))


@register_model_structural_tag("mistral_v3")
def mistral_v3(request: ToolRequest) -> Format:
    """Build the tag of Mistral's tokenizers v3 to v7."""
    calls = json_calls(request, '{"name": ', ', "arguments": ', "")
    tags = [TagFormat("", SequenceFormat((OrFormat(calls), _END)), "")] if calls else []
    return calls_in_section(
        request, "[TOOL_CALLS]", tags, "]", opening=RegexFormat(r" ?\["), separator=", ", excludes=()
    )


@register_model_structural_tag("mistral_v11")
def mistral_v11(request: ToolRequest) -> Format:
    """Build the tag of Mistral's tokenizer v11."""
    return _calls(request, request.calls(_call_of_v11))


def _call_of_v11(request: ToolRequest, tool: Tool) -> TagFormat:
    return request.call(tool, tool.name, in_order(_TO_ARGUMENTS, request.arguments(tool)), "")


@register_model_structural_tag("mistral", "mistral_v13", "mistral_v15", reasoning="auto")
def mistral(request: ToolRequest) -> Format:
    """Build the tag of Mistral's tokenizers v13 and later."""
    return output(request, _calls(request, bare_calls(request, "", "[ARGS]", ""), _THINK), _THINK)


def _calls(request: ToolRequest, tags: tuple[TagFormat, ...], excludes: tuple[str, ...] = ()) -> Format:
    """Free text, then all calls, each behind its mark."""
    return calls_in_section(request, "[TOOL_CALLS]", tags, "", separator="[TOOL_CALLS]", excludes=excludes)
