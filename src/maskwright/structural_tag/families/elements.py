"""Families with an element a parameter and marks of their own: Seed-OSS, Step 3, Hunyuan 3 and dots.

    Seed-OSS    <seed:tool_call>
                <function=get_weather>
                <parameter=city>Paris</parameter>
                </function>
                </seed:tool_call>
    Step 3      <｜tool_calls_begin｜>
                <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">
                <steptml:parameter name="city">Paris</steptml:parameter>
                </steptml:invoke><｜tool_call_end｜>
                <｜tool_calls_end｜>
    Hunyuan 3   <tool_calls>
                <tool_call>get_weather<tool_sep>
                <arg_key>city</arg_key>
                <arg_value>Paris</arg_value>
                </tool_call>
                </tool_calls>
    dots        <dots_function_call>
                <invoke name="get_weather">
                <parameter name="city">Paris</parameter>
                </invoke>
                </dots_function_call>

Step 3.5 and later write as Qwen3-Coder. Hunyuan 3 is described without the suffix that some of its tokenizers have
(`<tool_call:opensource>`): give those a family of their own.
Sources: the chat template that llama.cpp has for ByteDance-Seed/Seed-OSS-36B-Instruct; for Step 3, Hunyuan 3 and dots,
the descriptions in SGLang's parsers.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.structural_tag.families.parts import bare_calls, calls_in_section, calls_in_text, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest

_SEED_THINK = ("<seed:think>", "</seed:think>")


@register_model_structural_tag("seed_oss", reasoning="auto")
def seed_oss(request: ToolRequest) -> Format:
    """Build the tag of Seed-OSS."""
    begin, end = "<seed:tool_call>", "</seed:tool_call>"
    marks = ("</function>", end, "<parameter=")  # by which parsers cut
    tags = bare_calls(request, f"{begin}\n<function=", ">\n", f"</function>\n{end}", "mimo_xml", *marks)
    # Parsers take a function in the text for a call.
    answer = calls_in_text(request, [begin], tags, excludes=(*_SEED_THINK, "<function="))
    return output(request, answer, _SEED_THINK)


@register_model_structural_tag("step_3", reasoning="enabled")
def step_3(request: ToolRequest) -> Format:
    """Build the tag of Step 3."""
    call = ('<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="', '">\n')
    closing = ("</steptml:invoke>", "<｜tool_call_end｜>")
    return _in_section(request, ("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"), call, "step_xml", closing)


@register_model_structural_tag("hunyuan_3", reasoning="auto")
def hunyuan_3(request: ToolRequest) -> Format:
    """Build the tag of Hunyuan 3."""
    call = ("<tool_call>", "<tool_sep>\n")
    return _in_section(request, ("<tool_calls>", "</tool_calls>"), call, "glm_xml", ("</tool_call>",))


@register_model_structural_tag("dots", reasoning="auto")
def dots(request: ToolRequest) -> Format:
    """Build the tag of dots."""
    section, call = ("<dots_function_call>", "</dots_function_call>"), ('<invoke name="', '">\n')
    return _in_section(request, section, call, "minimax_xml", ("</invoke>",))


def _in_section(
    request: ToolRequest, section: tuple[str, str], call: tuple[str, str], style: str, closing: Sequence[str]
) -> Format:
    """All calls in a section, between its marks; `call` stands before and after a name, `closing` at the end."""
    begin, end = section
    tags = bare_calls(request, *call, f"{''.join(closing)}\n", style, *closing, end)
    return output(request, calls_in_section(request, f"{begin}\n", tags, end, trigger=begin))
