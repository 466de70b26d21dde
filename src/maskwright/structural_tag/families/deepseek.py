"""DeepSeek R1 and V3 to V4: all calls in one section.

    R1     <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
           ```json
           {"city": "Paris"}
           ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
    V3.1   <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜>
           <｜tool▁calls▁end｜>                                                             (without newline)
    V3.2   <｜DSML｜function_calls>
           <｜DSML｜invoke name="get_weather">
           <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
           </｜DSML｜invoke>
           </｜DSML｜function_calls>

V4 calls the section `tool_calls`, V4.1 ` calls` with a space in front of each name. The JSON of R1, V3 and V3.1 is
held to one line, unless the request says where white space stands: vLLM 0.32 reads no more of it, and drops the call.
Sources: the chat templates of deepseek-ai/DeepSeek-R1 and DeepSeek-V3.1, the encoding guide of DeepSeek-V3.2; for V4
and V4.1, vLLM's documentation of its parsers and published outputs.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.options import LAYOUT_OPTIONS
from maskwright.structural_tag.families.parts import bare_calls, calls_in_section, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.request import ToolRequest

_BEGIN, _END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _SEP, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


@register_model_structural_tag("deepseek_r1", reasoning="enabled")
@register_model_structural_tag("deepseek_v3")
def deepseek_r1(request: ToolRequest) -> Format:
    """Build the tag of DeepSeek R1 and V3."""
    tags = bare_calls(_in_a_line(request), f"{_CALL}function{_SEP}", "\n```json\n", f"\n```{_CALL_END}")
    return output(request, calls_in_section(request, _BEGIN, tags, _END, separator="\n"))


@register_model_structural_tag("deepseek_v3_1", reasoning="auto")
def deepseek_v3_1(request: ToolRequest) -> Format:
    """Build the tag of DeepSeek V3.1."""
    tags = bare_calls(_in_a_line(request), _CALL, _SEP, _CALL_END)
    return output(request, calls_in_section(request, _BEGIN, tags, _END))


@register_model_structural_tag("deepseek_v3_2", reasoning="auto")
def deepseek_v3_2(request: ToolRequest) -> Format:
    """Build the tag of DeepSeek V3.2."""
    return _dsml(request, "function_calls", "deepseek_xml")


@register_model_structural_tag("deepseek_v4", reasoning="auto")
def deepseek_v4(request: ToolRequest) -> Format:
    """Build the tag of DeepSeek V4."""
    return _dsml(request, "tool_calls", "deepseek_xml")


@register_model_structural_tag("deepseek_v4_1", reasoning="auto")
def deepseek_v4_1(request: ToolRequest) -> Format:
    """Build the tag of DeepSeek V4.1."""
    return _dsml(request, " calls", "deepseek_v4_1_xml", " ")


def _in_a_line(request: ToolRequest) -> ToolRequest:
    """The request with arguments in one line, unless it chooses a layout."""
    if any(request.options.get(name) is not None for name in LAYOUT_OPTIONS):
        return request
    return request._replace(options={**request.options, "whitespace_pattern": "[ \\t]{0,32}"})


def _dsml(request: ToolRequest, section: str, style: str, space: str = "") -> Format:
    begin, end = f"<｜DSML｜{section}>", f"</｜DSML｜{section}>"
    close = f"</｜DSML｜{space}invoke>"
    tags = bare_calls(request, f'<｜DSML｜{space}invoke name="', '">\n', f"{close}\n", style, close, end)
    return output(request, calls_in_section(request, f"{begin}\n", tags, end, trigger=begin))
