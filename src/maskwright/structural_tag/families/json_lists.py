"""Families that write all calls as one JSON array after a marker.

    Granite 3     <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]      3.0; <tool_call>[…] later
    Phi-4-mini    functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]

Granite 3.3 puts its answer between `<response>` and `</response>` where it has reasoned.
Sources: the chat template of ibm-granite/granite-3.3-8b-instruct; granite-io 0.5.3 and vLLM's parser, which read the
second marker; for Phi-4-mini the template and the parser that vLLM
has for it, as the model's own chat template leaves the output to the model.
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import THINK, calls_in_section, marked, output, quoted
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.request import ToolRequest

_MARKERS = ("<|tool_call|>[", "<tool_call>[")
_RESPONSE = ("<response>", "</response>")


@register_model_structural_tag("granite", "granite_3", reasoning="auto")
def granite(request: ToolRequest) -> Format:
    """Build the tag of Granite 3."""
    if request.reasoning == "disabled":
        return _list(request, *_MARKERS)
    answer = _list(request, *_MARKERS, excludes=(*THINK, *_RESPONSE))
    return output(request, marked(request, answer, _RESPONSE))


@register_model_structural_tag("phi_4_mini")
def phi(request: ToolRequest) -> Format:
    """Build the tag of Phi-4-mini."""
    return _list(request, "functools[", excludes=())


def _list(request: ToolRequest, *begins: str, excludes: tuple[str, ...] = THINK) -> Format:
    tags = [
        request.call(tool, f'{{"name": {quoted(tool.name)}, "arguments": ', request.arguments(tool), "}")
        for tool in request.tools
    ]
    return calls_in_section(request, begins, tags, "]", separator=", ", excludes=excludes)
