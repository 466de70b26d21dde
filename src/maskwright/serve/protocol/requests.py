"""Which endpoint a body is for, by the field that only its requests have, and the body read as that.

    read_request({"input": "Hi", "max_tokens": 5})
    ApiError 400: max_tokens is not supported. Hint: use max_output_tokens, param "/max_tokens"

A body without such a field is part of a chat: only the fields that it has are looked at.
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from maskwright.serve.protocol.chat import ChatRequest, read_chat
from maskwright.serve.protocol.completions import CompletionRequest
from maskwright.serve.protocol.fields import read_body
from maskwright.serve.protocol.responses import ResponsesRequest, read_response

Endpoint = Literal["chat", "completion", "response"]


def read_request(body: Mapping[str, Any]) -> ChatRequest | CompletionRequest | ResponsesRequest:
    """Read a request of any endpoint.

    Raises:
        ApiError: A field is unknown, unsupported or malformed, or has no effect beside another one.
    """
    if "messages" not in body and "input" in body:
        return read_response(body)
    if "messages" not in body and "prompt" in body:
        return read_body(CompletionRequest, body)
    return read_chat({"messages": [{"role": "user", "content": ""}], **body})
