"""The bodies of POST /tokenize and /detokenize, as vLLM has them.

Tested by tests/serve/test_serve_tokens.py.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from maskwright.serve.protocol.chat import Message, TemplateVariables
from maskwright.serve.protocol.fields import Body


class TokenizeRequest(Body):
    """A text, or the messages of a chat."""

    ignored: ClassVar = frozenset(("add_generation_prompt",))

    model: str | None = None
    prompt: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None
    chat_template_kwargs: TemplateVariables = Field(default_factory=dict)
    add_special_tokens: bool = True
    return_token_strs: bool = False


class DetokenizeRequest(Body):
    """Token ids."""

    model: str | None = None
    tokens: list[Annotated[int, Field(ge=0)]]
