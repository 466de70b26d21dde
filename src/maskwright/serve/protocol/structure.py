"""The fields about the form of the output, read by `maskwright.openai_shapes`; here they are data.

    response_format        OpenAI's, and structural tags
    structured_outputs     vLLM's: one of json, regex, choice, grammar, json_object, structural_tag
    json_schema, regex, ebnf, structural_tag        SGLang's
Tested by tests/serve/test_serve_structure.py.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

OF_SGLANG: Final = ("json_schema", "regex", "ebnf", "structural_tag")
OF_ENGINES: Final = ("structured_outputs", *OF_SGLANG)


class Structured(BaseModel):
    """Fields of engines, for completions of all kinds."""

    response_format: Any = None
    structured_outputs: Any = None
    json_schema: Any = None
    regex: Any = None
    ebnf: Any = None
    structural_tag: Any = None


class Tools(BaseModel):
    """Fields about tools and reasoning."""

    tools: Any = None
    tool_choice: Any = None
    parallel_tool_calls: Any = None
    thinking_token_budget: Any = None
