"""Cohere's models that write calls as elements.

    <cofl:tool_calls><cofl:tool_call id="0" name="get_weather"><cofl:value name="city" type="raw">Paris</cofl:value>
    </cofl:tool_call></cofl:tool_calls>                                                             (without newline)

Command A and Command R7B write a JSON list instead: see json_lists.py.
Source: the structural tag that XGrammar 0.2.8 builds; no model card was at hand.
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import calls_in_section, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import ConstStringFormat, RegexFormat, SequenceFormat
from maskwright.structural_tag.request import ToolRequest

_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")


@register_model_structural_tag("cohere")
def cohere(request: ToolRequest) -> Format:
    """Build the tag of Cohere's newer models."""
    tags = []
    for tool in request.tools:
        head = ConstStringFormat(f'" name="{tool.name}">')
        arguments = request.arguments(tool, "cohere_xml", "</cofl:tool_call>")
        content = SequenceFormat((RegexFormat("[0-9]{1,6}"), head, arguments))
        tags.append(request.call(tool, '<cofl:tool_call id="', content, "</cofl:tool_call>"))
    answer = calls_in_section(request, "<cofl:tool_calls>", tags, "</cofl:tool_calls>", excludes=_THINK)
    return output(request, answer, _THINK)
