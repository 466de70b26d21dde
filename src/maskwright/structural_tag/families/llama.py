"""Llama 3.1 to 3.3, and Llama 4 with its JSON template: a call is a JSON object in the text.

    {"name": "get_weather", "parameters": {"city": "Paris"}}
    <|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}

A call that must come is the very beginning, since SGLang looks for it there. `"type": "function"` may be there or not,
and what follows `<|python_tag|>` may be spread over lines.

The other template of Llama 4 asks for a list of Python calls: see pythonic.py. There is no reasoning.
Sources: the chat templates of meta-llama/Llama-3.1-8B-Instruct and meta-llama/Llama-4-Scout-17B-16E-Instruct; the
prompt formats and `encode_tool_call` of llama-models 0.3.0.
"""

from __future__ import annotations

from maskwright.structural_tag.families.parts import calls_in_text, exactly, json_calls, text_of
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import OrFormat, TagFormat
from maskwright.structural_tag.request import ToolRequest

_TAG = "<|python_tag|>"
_TYPE = '"type": "function"'
# What parsers take for the beginning of a call, however it is spaced, so that no text holds it.
_TRIGGERS = ('{"name"', f"{{{_TYPE}", _TAG)
_OTHERWISE = ('{"type":"function"',)
# How a call begins before its name, in one line or several; what stands after the name and at the end.
_IN_A_LINE = tuple(f'{tag}{{{kind}"name": ' for tag in ("", _TAG) for kind in ("", f"{_TYPE}, "))
_IN_LINES = (f'{_TAG}{{\n    {_TYPE},\n    "name": ',)
_SPELLINGS = ((_IN_A_LINE, ', "parameters": ', "}"), (_IN_LINES, ',\n    "parameters": ', "\n}"))


@register_model_structural_tag("llama", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3", "llama_4")
def llama(request: ToolRequest) -> Format:
    """Build the tag of Llama 3 and 4."""
    if not request.tools:  # an object with a name may be part of an answer
        return text_of(request, [_TAG])
    tags = []
    for begins, middle, end in _SPELLINGS:
        # One object for all begins: it is looked at once.
        calls = OrFormat(json_calls(request, "", middle, end))
        tags += [TagFormat(begin, calls, "") for begin in begins]
    return calls_in_text(request, _TRIGGERS, tags, excludes=_OTHERWISE, separator=";", before=exactly(""))
