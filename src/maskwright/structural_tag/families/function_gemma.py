"""FunctionGemma: arguments in braces, with names bare and strings between `<escape>`.

    <start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>

There is no reasoning.
Source: vLLM's documentation of its parser, and https://ai.google.dev/gemma/docs/functiongemma.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import bare_calls, calls_in_text
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("functiongemma")
def function_gemma(request: ToolRequest) -> Format:
    """Build the tag of FunctionGemma."""
    begin, end = "<start_function_call>", "<end_function_call>"
    tags = bare_calls(request, f"{begin}call:", "", end, "function_gemma", end)
    return calls_in_text(request, [begin], tags, excludes=())
