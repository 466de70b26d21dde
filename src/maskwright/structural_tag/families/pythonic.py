r"""Families that write calls in Python's syntax: Llama 4 and Gemma 3 as a list, LFM2 and Olmo 3 between marks.

    Llama 4, Gemma 3    [get_weather(city="Paris", days=3), get_time()]
    LFM2                <|tool_call_start|>[get_weather(city='Paris', days=3)]<|tool_call_end|>
    Olmo 3              <function_calls>\nget_weather(city='Paris', days=3)\nget_time()\n</function_calls>

The first is the whole answer: one that begins with `[` is a list of calls. Llama 4 and Gemma 3 are held to double
quotes, the others write single ones too, and JSON's `true`, `false` and `null`. LFM2 writes its calls as JSON where the
prompt asks for that, and may write text after them. There is another template of Llama 4: see llama.py.
Sources: the chat templates that vLLM has for meta-llama/Llama-4-Scout-17B-16E-Instruct, Gemma 3 and ToolACE; the one
of LiquidAI/LFM2.5-8B-A1B and https://docs.liquid.ai, "Tool Use"; for Olmo 3, vLLM's chat template and its
description of the parser.
"""

from __future__ import annotations

import keyword

from maskwright.errors import RequestError
from maskwright.structural_tag.families.parts import (
    bare_calls,
    calls_in_section,
    calls_in_text,
    json_calls,
    list_or_text,
    output,
    text_of,
)
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import TagFormat, TagsWithSeparatorFormat
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("llama_4_pythonic", "gemma_3", "toolace")
def pythonic(request: ToolRequest) -> Format:
    """Build the tag of Llama 4 with Python calls, and of Gemma 3 and ToolACE."""
    if not request.tools:
        return text_of(request)
    return list_or_text(request, _listed(request, _calls(request, "python")))


@register_model_structural_tag("lfm_2", reasoning="auto")
def lfm2(request: ToolRequest) -> Format:
    """Build the tag of LFM2."""
    begin, end = "<|tool_call_start|>", "<|tool_call_end|>"
    sections = []
    if request.tools:
        ways = _calls(request, "python_any"), json_calls(request, '{"name": ', ', "arguments": ', "}")
        sections = [TagFormat(f"{begin}[", _listed(request, calls), f"]{end}") for calls in ways]
    return output(request, calls_in_text(request, [begin], sections))


@register_model_structural_tag("olmo_3")
@register_model_structural_tag("olmo_3_think", reasoning="enabled")
def olmo(request: ToolRequest) -> Format:
    """Build the tag of Olmo 3."""
    begin, end = "<function_calls>", "\n</function_calls>"
    calls = _calls(request, "python_any")
    return output(request, calls_in_section(request, f"{begin}\n", calls, end, separator="\n", trigger=begin))


def _listed(request: ToolRequest, calls: tuple[TagFormat, ...]) -> Format:
    return TagsWithSeparatorFormat(calls, ", ", at_least_one=True, stop_after_first=not request.parallel)


def _calls(request: ToolRequest, style: str) -> tuple[TagFormat, ...]:
    """The calls of all tools.

    Raises:
        RequestError: A name is not a valid function name in Python.
    """
    for tool in request.tools:
        if not tool.name.isidentifier() or keyword.iskeyword(tool.name):
            raise RequestError(
                f"{tool.name[:60]!r} is not a valid function name in Python",
                pointer=f"{tool.body_pointer}/name",
                hint="use letters, digits and _, or another family",
            )
    return bare_calls(request, "", "(", ")", style)
