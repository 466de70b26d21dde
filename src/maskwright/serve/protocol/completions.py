"""The body of POST /v1/completions.

Source: OpenAI's API reference, completions/create.
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from maskwright.serve.protocol.fields import expected, misplaced
from maskwright.serve.protocol.sampling import IGNORED, MAX_LOGPROBS, REFUSED, PenaltiesAndStops
from maskwright.serve.protocol.structure import Structured


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) is int for each in value)


def _prompts(value: Any) -> Any:
    if isinstance(value, str) or _is_ids(value):
        return [value]
    if isinstance(value, list) and value and all(isinstance(each, str) or _is_ids(each) for each in value):
        return value
    what = "a string, an array of token ids, or an array of these"
    if isinstance(value, list):
        raise misplaced(f"expected {what}, found an {'array with other items' if value else 'empty array'}")
    raise expected(what, value)


class CompletionRequest(PenaltiesAndStops, Structured):
    """A request for completions."""

    ignored: ClassVar = IGNORED
    refused: ClassVar = {
        **REFUSED,
        "tools": "use /v1/chat/completions",
        "tool_choice": "use /v1/chat/completions",
        "messages": "use /v1/chat/completions, or prompt",
        "suffix": "leave it out: the models of this server do not fill in the middle",
        "max_new_tokens": "use max_tokens",
        "max_completion_tokens": "use max_tokens",
        "max_output_tokens": "use max_tokens",
    }

    prompt: Annotated[list[str | list[int]], BeforeValidator(_prompts)]
    max_tokens: int | None = Field(None, ge=1)
    logprobs: int | None = Field(None, ge=0, le=MAX_LOGPROBS)
    echo: bool = False
