"""Hermes and Qwen 3: each call is JSON in a `tool_call` element.

    <think>
    The user wants the weather.
    </think>

    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call>

EXAONE 4 writes the same without the newlines; Granite 4.0 and 4.1 as Hermes, without reasoning of their own.
Sources: the model cards of NousResearch/Hermes-3-Llama-3.1-8B, Qwen/Qwen3-8B, LGAI-EXAONE/EXAONE-4.0-32B and
ibm-granite/granite-4.0-micro.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import calls_in_text, json_calls, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("hermes", "qwen_2_5", "granite_4")
@register_model_structural_tag("qwen_3", reasoning="auto")
def hermes(request: ToolRequest) -> Format:
    """Build the tag of Hermes, Qwen 3 and their like."""
    return _in_elements(request, "\n")


@register_model_structural_tag("exaone", "exaone_4", reasoning="auto")
def exaone(request: ToolRequest) -> Format:
    """Build the tag of EXAONE 4."""
    return _in_elements(request, "")


def _in_elements(request: ToolRequest, newline: str) -> Format:
    tags = json_calls(request, f'<tool_call>{newline}{{"name": ', ', "arguments": ', f"}}{newline}</tool_call>")
    return output(request, calls_in_text(request, ["<tool_call>"], tags))
