r"""Families that write each call as a JSON object between marks of their own.

    ERNIE 4.5         <tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>
    LongCat Flash     <longcat_tool_call>\n{"name": …, "arguments": …}\n</longcat_tool_call>
    InternLM 2.5      <|action_start|><|plugin|>\n{"name": …, "parameters": …}<|action_end|>
    Granite 20B FC    <function_call> {"name": …, "arguments": …}
    GigaChat 3        function call<|role_sep|>\n{"name": …, "arguments": …}
    MiniMax M1        <tool_calls>\n{"name": …, "arguments": …}\n{"name": …, "arguments": …}\n</tool_calls>

An answer of ERNIE's thinking models stands between `<response>` and `</response>`. InternLM writes `parameters` or
`arguments`, and Intern-S1 a space before `<|plugin|>`. GigaChat ends its text with `<|message_sep|>` before the call,
and calls one function at a time.
Sources: the parsers that vLLM has for these models, and SGLang's for Intern-S1; InternLM's chat/chat_format.md; the
chat templates of MiniMax-M1 and of InternLM 2.5 in vLLM's examples, and of GigaChat3-10B-A1.8B in llama.cpp's;
the model cards of meituan-longcat/LongCat-Flash-Chat and ibm-granite/granite-20b-functioncalling.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import (
    THINK,
    calls_in_section,
    calls_in_text,
    in_order,
    json_calls,
    marked,
    output,
    quoted,
)
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format, shared
from maskwright.structural_tag.formats.classes import (
    ConstStringFormat,
    OrFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
)
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_RESPONSE = ("<response>", "</response>")
_LONGCAT_THINK = ("<longcat_think>", "</longcat_think>")
_PLUGIN = SequenceFormat((RegexFormat(" ?"), ConstStringFormat("<|plugin|>\n")))
_KEY = shared(OrFormat((ConstStringFormat('"parameters": '), ConstStringFormat('"arguments": '))))
_ROLE = "function call<|role_sep|>\n"


@register_model_structural_tag("ernie_4_5", reasoning="enabled")
def ernie(request: ToolRequest) -> Format:
    """Build the tag of ERNIE 4.5's thinking models."""
    tags = _calls(request, "<tool_call>\n", "\n</tool_call>")
    answer = calls_in_text(request, ["<tool_call>"], tags, excludes=(*THINK, *_RESPONSE))
    return output(request, marked(request, answer, _RESPONSE))


@register_model_structural_tag("longcat", "longcat_flash")
@register_model_structural_tag("longcat_flash_thinking", reasoning="enabled")
def longcat(request: ToolRequest) -> Format:
    """Build the tag of LongCat Flash."""
    tags = _calls(request, "<longcat_tool_call>\n", "\n</longcat_tool_call>")
    answer = calls_in_text(request, ["<longcat_tool_call>"], tags, excludes=_LONGCAT_THINK)
    return output(request, answer, _LONGCAT_THINK)


@register_model_structural_tag("internlm_2_5")
@register_model_structural_tag("intern_s1", reasoning="auto")
def internlm(request: ToolRequest) -> Format:
    """Build the tag of InternLM 2.5 and Intern-S1."""
    begin, end = "<|action_start|>", "<|action_end|>"
    tags = []
    if request.tools:
        calls = OrFormat(request.calls(_call_of_internlm))
        tags = [TagFormat(begin, SequenceFormat((_PLUGIN, calls)), end)]
    return output(request, calls_in_text(request, [begin], tags))


def _call_of_internlm(request: ToolRequest, tool: Tool) -> TagFormat:
    return request.call(tool, f'{{"name": {quoted(tool.name)}, ', in_order(_KEY, request.arguments(tool)), "}")


@register_model_structural_tag("granite_20b_functioncalling")
def granite_20b(request: ToolRequest) -> Format:
    """Build the tag of Granite 20B for function calling."""
    tags = _calls(request, "<function_call> ", "")
    return calls_in_text(request, ["<function_call>"], tags, excludes=())


@register_model_structural_tag("gigachat_3")
def gigachat(request: ToolRequest) -> Format:
    """Build the tag of GigaChat 3, which calls one function."""
    calls = OrFormat(_calls(request, "", "")) if request.tools else None
    tags = [TagFormat(begin, calls, "") for begin in (_ROLE, f"<|message_sep|>\n\n{_ROLE}")] if calls else []
    return calls_in_text(request._replace(parallel=False), [_ROLE, "<|message_sep|>"], tags, excludes=())


@register_model_structural_tag("minimax_m1", reasoning="auto")
def minimax_m1(request: ToolRequest) -> Format:
    """Build the tag of MiniMax M1."""
    tags = _calls(request, "", "\n")
    begin = "<tool_calls>"
    return output(request, calls_in_section(request, f"{begin}\n", tags, "</tool_calls>", trigger=begin))


def _calls(request: ToolRequest, begin: str, end: str) -> tuple[TagFormat, ...]:
    """Calls as JSON objects of name and arguments, between two marks."""
    return json_calls(request, f'{begin}{{"name": ', ', "arguments": ', f"}}{end}")
