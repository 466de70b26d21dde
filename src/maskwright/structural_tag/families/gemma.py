"""Gemma 4: arguments in braces, with names bare and strings between special tokens.

    <|channel>thought
    The user wants the weather.<channel|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>

Members come sorted by name, as the model's template has them, without regard to case; null is `null` or, as there,
`None`.
Source: the chat template of google/gemma-4, as vLLM and llama.cpp have it.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import bare_calls, calls_in_text, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest

_THINK = ("<|channel>thought\n", "<channel|>")


@register_model_structural_tag("gemma_4", reasoning="auto", any_order=False)
def gemma(request: ToolRequest) -> Format:
    """Build the tag of Gemma 4."""
    tags = bare_calls(request, "<|tool_call>call:", "", "<tool_call|>", "gemma", "<tool_call|>")
    excludes = ("<|channel>", "<channel|>")
    return output(request, calls_in_text(request, ["<|tool_call>"], tags, excludes), _THINK)
