r"""Families that write all calls as one JSON array, after a marker or without one.

    Granite 3     <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]      3.0; <tool_call>[…] later
    Phi-4-mini    functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]
    Nemotron      <TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>
    Hunyuan A13B  <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
    Jamba 1.5     <tool_calls>[\n    {"name": "get_weather", "arguments": {"city": "Paris"}}\n]</tool_calls>
    Apertus       <|tools_prefix|>[{"get_weather": {"city": "Paris"}}]<|tools_suffix|>
    xLAM 2        [{"name": "get_weather", "arguments": {"city": "Paris"}}]

Granite 3.3 puts its answer between `<response>` and `</response>` where it has reasoned, Hunyuan A13B between
`<answer>` and `</answer>`. An answer of xLAM that begins with `[` is a list of calls. Nemotron is Nemotron Nano 2 and
the Llama Nemotron models; version 3 writes elements.
Sources: the chat template of ibm-granite/granite-3.3-8b-instruct; granite-io 0.5.3 and vLLM's parser, which read the
second marker; for Phi-4-mini the template and the parser that vLLM has for it, as the model's own chat template leaves
the output to the model; the chat templates of NVIDIA-Nemotron-Nano-9B-v2 and Llama-3_3-Nemotron-Super-49B-v1_5; those
that vLLM has for Hunyuan A13B, Apertus and xLAM; vLLM's parser for Jamba and its reader of Hunyuan's reasoning.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import (
    THINK,
    calls_in_section,
    exactly,
    json_calls,
    list_or_text,
    marked,
    output,
    text_of,
)
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import TagFormat, TagsWithSeparatorFormat
from maskwright.structural_tag.request import ToolRequest

_MARKERS = ("<|tool_call|>", "<tool_call>")
_BRACKET = exactly("[")
_RESPONSE = ("<response>", "</response>")
_ANSWER = ("<answer>", "</answer>")
_INNER = ("<|inner_prefix|>", "<|inner_suffix|>")


@register_model_structural_tag("granite", "granite_3", reasoning="auto")
def granite(request: ToolRequest) -> Format:
    """Build the tag of Granite 3."""
    if request.reasoning == "disabled":
        return _list(request, *_MARKERS, opening=_BRACKET)
    answer = _list(request, *_MARKERS, opening=_BRACKET, excludes=(*THINK, *_RESPONSE))
    return output(request, marked(request, answer, _RESPONSE))


@register_model_structural_tag("phi_4_mini")
def phi(request: ToolRequest) -> Format:
    """Build the tag of Phi-4-mini."""
    return _list(request, "functools[", excludes=())


@register_model_structural_tag("nemotron_nano_2", reasoning="enabled")
@register_model_structural_tag("llama_nemotron", reasoning="auto")
def nemotron(request: ToolRequest) -> Format:
    """Build the tag of Nemotron Nano 2 and the Llama Nemotron models."""
    answer = calls_in_section(
        request, "<TOOLCALL>[", _calls(request), "]</TOOLCALL>", separator=", ", trigger="<TOOLCALL>"
    )
    return output(request, answer)


@register_model_structural_tag("hunyuan_a13b", reasoning="auto")
def hunyuan(request: ToolRequest) -> Format:
    """Build the tag of Hunyuan A13B."""
    begin, end, excludes = "<tool_calls>[", "]</tool_calls>", (*THINK, *_ANSWER)
    answer = calls_in_section(
        request, begin, _calls(request), end, separator=", ", trigger="<tool_calls>", excludes=excludes
    )
    return output(request, marked(request, answer, _ANSWER))


@register_model_structural_tag("jamba", "jamba_1_5")
def jamba(request: ToolRequest) -> Format:
    """Build the tag of Jamba 1.5."""
    begin, end = "<tool_calls>[\n    ", "\n]</tool_calls>"
    return calls_in_section(
        request, begin, _calls(request), end, separator=",\n    ", trigger="<tool_calls>", excludes=()
    )


@register_model_structural_tag("apertus", reasoning="auto")
def apertus(request: ToolRequest) -> Format:
    """Build the tag of Apertus."""
    tags = json_calls(request, "{", ": ", "}")
    mark, end = "<|tools_prefix|>", "]<|tools_suffix|>"
    answer = calls_in_section(request, f"{mark}[", tags, end, separator=", ", trigger=mark, excludes=_INNER)
    return output(request, answer, _INNER)


@register_model_structural_tag("xlam", "xlam_2")
def xlam(request: ToolRequest) -> Format:
    """Build the tag of xLAM 2."""
    if not request.tools:
        return text_of(request)
    return list_or_text(request, TagsWithSeparatorFormat(_calls(request), ", ", True, not request.parallel))


def _list(
    request: ToolRequest, *begins: str, opening: Format | None = None, excludes: tuple[str, ...] = THINK
) -> Format:
    calls = _calls(request)
    return calls_in_section(request, begins, calls, "]", opening=opening, separator=", ", excludes=excludes)


def _calls(request: ToolRequest) -> tuple[TagFormat, ...]:
    return json_calls(request, '{"name": ', ', "arguments": ', "}")
