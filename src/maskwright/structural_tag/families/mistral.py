"""Mistral, tokenizer v11 and later: the name and its arguments behind special tokens.

    [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_time[ARGS]{}

Reasoning models write `[THINK]…[/THINK]` first. Older tokenizers write a list: see json_lists.py.
Source: mistral-common, tokenizer versions 11 and 13.
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import calls_in_text, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.request import ToolRequest

_THINK = ("[THINK]", "[/THINK]")


@register_model_structural_tag("mistral")
def mistral(request: ToolRequest) -> Format:
    """Build the tag of Mistral's newer models."""
    tags = [request.call(tool, f"[TOOL_CALLS]{tool.name}[ARGS]", request.arguments(tool), "") for tool in request.tools]
    return output(request, calls_in_text(request, ["[TOOL_CALLS]"], tags, excludes=_THINK), _THINK)
