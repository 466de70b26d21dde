"""GLM 4.5 to 4.7: the name, then keys and values in elements.

    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call>

4.7 may leave out the newlines; before it the one after the name is always there, as parsers for 4.5 need it.
Source: the chat templates of zai-org/GLM-4.5 and zai-org/GLM-4.7.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import bare_calls, calls_in_text, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("glm", "glm_4_5", "glm_4_6", reasoning="auto")
def glm(request: ToolRequest) -> Format:
    """Build the tag of GLM 4.5 and 4.6."""
    return _calls_in_text(request, "\n")


@register_model_structural_tag("glm_4_7", reasoning="enabled")
def glm_4_7(request: ToolRequest) -> Format:
    """Build the tag of GLM 4.7."""
    # The name is told apart by what follows it: white space, the first key, or the end.
    return _calls_in_text(request, "")


def _calls_in_text(request: ToolRequest, after_name: str) -> Format:
    tags = bare_calls(request, "<tool_call>", after_name, "</tool_call>", "glm_xml", "</tool_call>")
    return output(request, calls_in_text(request, ["<tool_call>"], tags))
