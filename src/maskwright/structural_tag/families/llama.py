"""Llama 3.1 to 3.3, and Llama 4 with its JSON template: a call is a JSON object in the text.

    {"name": "get_weather", "parameters": {"city": "Paris"}}
    <|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}

`"type": "function"` may be there or not, and what follows `<|python_tag|>` may be spread over lines.

The other template of Llama 4 asks for a list of Python calls and nothing else, so an answer that begins with `[` is
one. Strings are in double quotes:

    [get_weather(city="Paris", days=3), get_time()]

There is no reasoning.
Sources: the chat templates of meta-llama/Llama-3.1-8B-Instruct and meta-llama/Llama-4-Scout-17B-16E-Instruct; the
prompt formats and `encode_tool_call` of llama-models 0.3.0.
"""

from __future__ import annotations

import keyword

from maskwright.errors import RequestError
from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import WHITE, calls_in_text, content_of, quoted, text_of
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import (
    OrFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
    TagsWithSeparatorFormat,
)
from maskwright.structural_tag.request import ToolRequest

_TAG = "<|python_tag|>"
_TYPE = '"type": "function"'
# How a call begins before its name, goes on after it, and ends.
_SPELLINGS = (
    ('{"name": ', ', "parameters": ', "}"),
    (f'{{{_TYPE}, "name": ', ', "parameters": ', "}"),
    (f'{_TAG}{{"name": ', ', "parameters": ', "}"),
    (f'{_TAG}{{{_TYPE}, "name": ', ', "parameters": ', "}"),
    (f'{_TAG}{{\n    {_TYPE},\n    "name": ', ',\n    "parameters": ', "\n}"),
)


@register_model_structural_tag("llama", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3", "llama_4")
def llama(request: ToolRequest) -> Format:
    """Build the tag of Llama 3 and 4."""
    tags = [
        request.call(tool, f"{begin}{quoted(tool.name)}{middle}", request.arguments(tool), end)
        for tool in request.tools
        for begin, middle, end in _SPELLINGS
    ]
    if not tags:  # an object with a name may be part of an answer
        return text_of(request, [_TAG])
    return calls_in_text(request, [_SPELLINGS[0][0], _SPELLINGS[1][0], _TAG], tags, excludes=())


_NO_LIST = RegexFormat(r"\s*(?:[^\s\[](?:.|\n)*)?")


@register_model_structural_tag("llama_4_pythonic")
def llama_4_pythonic(request: ToolRequest) -> Format:
    """Build the tag of Llama 4 with Python calls."""
    if not request.tools:
        return text_of(request)
    for tool in request.tools:
        if not tool.name.isidentifier() or keyword.iskeyword(tool.name):
            raise RequestError(
                f"{tool.name[:60]!r} cannot be called in Python",
                pointer=f"{tool.pointer.removesuffix('parameters')}name",
                hint="use letters, digits and _, or another family",
            )
    calls = tuple(request.call(tool, f"{tool.name}(", request.arguments(tool, "python"), ")") for tool in request.tools)
    listed = TagsWithSeparatorFormat(calls, ", ", at_least_one=True, stop_after_first=not request.parallel)
    section = SequenceFormat((WHITE, TagFormat("[", listed, "]")))
    if request.must_call:
        return section
    return OrFormat((section, text_of(request) if request.content else content_of(_NO_LIST)))
