"""MiniMax M2 and M3: all calls in one section, with an element a parameter.

    <minimax:tool_call>
    <invoke name="get_weather">
    <parameter name="city">Paris</parameter>
    </invoke>
    </minimax:tool_call>

M3 puts `]<]minimax[>[` before each tag, and writes objects and arrays as elements too.
Sources: the tool-calling guide of MiniMaxAI/MiniMax-M2; for M3, the parsers of vLLM 0.32 and SGLang 0.5.23, and the
structural tag that XGrammar 0.2.8 builds.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import THINK, bare_calls, calls_in_section, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest

_M3 = "]<]minimax[>["
_M3_THINK = ("<mm:think>", "</mm:think>")


@register_model_structural_tag("minimax", "minimax_m2", reasoning="enabled")
def minimax(request: ToolRequest) -> Format:
    """Build the tag of MiniMax M2."""
    begin, end = "<minimax:tool_call>", "</minimax:tool_call>"
    tags = bare_calls(request, '<invoke name="', '">\n', "</invoke>\n", "minimax_xml", "</invoke>", end)
    excludes = (*THINK, "<invoke name=")  # vLLM takes it for a call, also outside of the section
    answer = calls_in_section(request, f"{begin}\n", tags, end, trigger=begin, excludes=excludes)
    return output(request, answer)


@register_model_structural_tag("minimax_m3", reasoning="auto")
def minimax_m3(request: ToolRequest) -> Format:
    """Build the tag of MiniMax M3."""
    tags = bare_calls(request, f'{_M3}<invoke name="', '">', f"{_M3}</invoke>\n", "minimax_m3_xml", _M3)
    begin, end = f"{_M3}<tool_call>", f"{_M3}</tool_call>"
    answer = calls_in_section(request, f"{begin}\n", tags, end, trigger=begin, excludes=_M3_THINK)
    return output(request, answer, _M3_THINK)
