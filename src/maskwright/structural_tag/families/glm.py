"""GLM 4.5 to 4.7: the name, then keys and values in elements.

    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    </tool_call>

Source: the chat templates of zai-org/GLM-4.5 and zai-org/GLM-4.7.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import bare_calls, calls_in_text, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("glm", "glm_4_5", "glm_4_6", reasoning="auto")
@register_model_structural_tag("glm_4_7", reasoning="enabled")
def glm(request: ToolRequest) -> Format:
    """Build the tag of GLM 4."""
    # The name is told apart by what follows it: white space, the first key, or the end.
    tags = bare_calls(request, "<tool_call>", "", "</tool_call>", "glm_xml", "</tool_call>")
    return output(request, calls_in_text(request, ["<tool_call>"], tags))
