"""Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, Granite 4.2, MiMo V2: calls in elements, with an element a parameter.

    <tool_call>
    <function=get_weather>
    <parameter=city>
    Paris
    </parameter>
    </function>
    </tool_call>

MiMo writes values as they are, `<parameter=city>Paris</parameter>`, and may leave out the newlines around the function.
Sources: the chat templates of Qwen/Qwen3-Coder-30B-A3B-Instruct, Qwen 3.5 and XiaomiMiMo/MiMo-V2.5, and the one that
llama.cpp has for Step 3.7 Flash; for Nemotron and Granite, vLLM's documentation of its parsers.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import THINK, bare_calls, calls_in_text, exactly, in_order, output
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import ConstStringFormat, RegexFormat, SequenceFormat, TagFormat
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_ENDS = ("</function>", "</tool_call>", "<parameter=")  # parsers of these formats cut calls by them
_NOT_IN_TEXT = (*THINK, "<function=")  # which parsers take for a call, also without its mark
_NEWLINE = shared(RegexFormat("\\n?"))
_END = shared(SequenceFormat((ConstStringFormat("</function>"), _NEWLINE)))


@register_model_structural_tag("qwen_3_coder")
@register_model_structural_tag("qwen_3_5", "nemotron_3", "step_3_5", reasoning="enabled")
@register_model_structural_tag("granite_4_2", reasoning="auto")
def qwen_coder(request: ToolRequest) -> Format:
    """Build the tag of Qwen3-Coder and Qwen 3.5."""
    begin, end = "<tool_call>\n<function=", "</function>\n</tool_call>"
    tags = bare_calls(request, begin, ">\n", end, "qwen_xml", *_ENDS)
    return output(request, calls_in_text(request, ["<tool_call>"], tags, _NOT_IN_TEXT))


@register_model_structural_tag("mimo", reasoning="enabled")
def mimo(request: ToolRequest) -> Format:
    """Build the tag of MiMo."""
    return output(request, calls_in_text(request, ["<tool_call>"], request.calls(_call_of_mimo), _NOT_IN_TEXT))


def _call_of_mimo(request: ToolRequest, tool: Tool) -> TagFormat:
    arguments = request.arguments(tool, "mimo_xml", *_ENDS)
    content = in_order(_NEWLINE, exactly(f"<function={tool.name}>"), arguments, _END)
    return request.call(tool, "<tool_call>", content, "</tool_call>")
