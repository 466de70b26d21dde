"""Llama 3.1 to 3.3, and Llama 4 with its JSON template: a call is a JSON object in the text.

    {"name": "get_weather", "parameters": {"city": "Paris"}}

The other template of Llama 4 asks for a list of Python calls and nothing else, so an answer that begins with `[` is
one:

    [get_weather(city="Paris", days=3), get_time()]

There is no reasoning.
Sources: the chat templates of meta-llama/Llama-3.1-8B-Instruct and meta-llama/Llama-4-Scout-17B-16E-Instruct.
"""

from __future__ import annotations

import keyword

from maskwright.errors import RequestError
from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import WHITE, calls_in_text, content_of, quoted, text_of
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.formats import OrFormat, RegexFormat, SequenceFormat, TagFormat, TagsWithSeparatorFormat
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("llama", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3", "llama_4")
def llama(request: ToolRequest) -> Format:
    """Build the tag of Llama 3 and 4."""
    tags = [
        request.call(tool, f'{{"name": {quoted(tool.name)}, "parameters": ', request.arguments(tool), "}")
        for tool in request.tools
    ]
    return calls_in_text(request, ['{"name": '], tags, excludes=())


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
