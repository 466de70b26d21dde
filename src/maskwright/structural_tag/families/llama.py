"""Llama 3.1 to 3.3, and Llama 4 with its JSON template: a call is a JSON object in the text.

    {"name": "get_weather", "parameters": {"city": "Paris"}}

There is no reasoning. The other template of Llama 4 writes Python calls, `[get_weather(city="Paris")]`: not built here.
Sources: the chat templates of meta-llama/Llama-3.1-8B-Instruct and meta-llama/Llama-4-Scout-17B-16E-Instruct.
"""

from __future__ import annotations

from maskwright.structural_tag.base import Format
from maskwright.structural_tag.families.parts import calls_in_text, quoted
from maskwright.structural_tag.families.registry import register_model_structural_tag
from maskwright.structural_tag.request import ToolRequest


@register_model_structural_tag("llama", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3", "llama_4")
def llama(request: ToolRequest) -> Format:
    """Build the tag of Llama 3 and 4."""
    tags = [
        request.call(tool, f'{{"name": {quoted(tool.name)}, "parameters": ', request.arguments(tool), "}")
        for tool in request.tools
    ]
    return calls_in_text(request, ['{"name": '], tags, excludes=())
