"""The body of POST /v1/responses.

The server keeps nothing of earlier responses: a conversation is sent whole, as items of `input`.
Source: OpenAI's API reference, responses/create.
Tested by tests/serve/test_responses.py.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from maskwright.serve.errors import ApiError, invalid
from maskwright.serve.protocol.chat import Effort, Message, called_arguments, content_text
from maskwright.serve.protocol.fields import Part, expected, read_body
from maskwright.serve.protocol.sampling import IGNORED, REFUSED, Sampling
from maskwright.serve.protocol.structure import OF_ENGINES, Tools
from maskwright.serve.protocol.tools import check_tools

_STATELESS: Final = "this server keeps no responses: send the whole conversation as input"
_NO_LOGPROBS: Final = "leave it out, or use /v1/chat/completions, which has log-probabilities"
_INCLUDED_LOGPROBS: Final = "message.output_text.logprobs"
_OF_CHATS: Final = (
    *("n", "best_of", "seed", "stop", "stop_token_ids"),
    *("logit_bias", "frequency_penalty", "presence_penalty"),
)
_GUIDED: Final = tuple(name for name, way_out in REFUSED.items() if "structured_outputs" in way_out)


def _messages(value: Any) -> Any:
    """Items of `input` as messages of a chat."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise expected("a string or an array of items", value)
    return [message for item in value for message in _message(item)]


def _message(item: Any) -> list[dict[str, Any]]:
    if not isinstance(item, dict):
        raise expected("an item (an object)", item)
    kind = item.get("type", "message")
    if kind == "message":
        return [{"role": item.get("role"), "content": content_text(item.get("content"))}]
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": called_arguments(item.get("arguments"))}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return [{"role": "assistant", "tool_calls": [call]}]
    if kind == "function_call_output":
        output = item.get("output")
        return [{"role": "tool", "tool_call_id": item.get("call_id"), "content": content_text(output)}]
    if kind == "reasoning":
        return []  # as chat templates leave out the reasoning of earlier turns
    raise expected("an item of type message, function_call, function_call_output or reasoning", item)


class ReasoningOptions(Part):
    """How much the model is to reason."""

    effort: Effort | None = None


class ResponsesRequest(Sampling, Tools):
    """A request for a response."""

    ignored: ClassVar = IGNORED | {"include", "truncation", "stream_options", "max_tool_calls"}
    refused: ClassVar = {
        **REFUSED,
        "previous_response_id": _STATELESS,
        "conversation": _STATELESS,
        "background": "send the request and wait",
        "prompt": "write the prompt as input",
        "max_tokens": "use max_output_tokens",
        "max_completion_tokens": "use max_output_tokens",
        "response_format": "use text.format",
        "messages": "use input, or /v1/chat/completions",
        "logprobs": _NO_LOGPROBS,
        **dict.fromkeys(_OF_CHATS, "leave it out, or use /v1/chat/completions"),
        "reasoning_effort": 'use reasoning: {"effort": …}',
        **dict.fromkeys((*OF_ENGINES, *_GUIDED), "use text.format, or /v1/chat/completions"),
    }

    input: Annotated[list[Message], BeforeValidator(_messages), Field(min_length=1)]
    instructions: str | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    text: Any = None
    reasoning: ReasoningOptions | None = None
    top_logprobs: int = Field(0, ge=0)
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


def read_response(body: Any) -> ResponsesRequest:
    """Read a body.

    Raises:
        ApiError: A field is unknown, unsupported or malformed.
    """
    asked = read_body(ResponsesRequest, body)
    check_tools(asked.tools, asked.tool_choice)
    if asked.top_logprobs:
        raise _no_logprobs("top_logprobs", "/top_logprobs")
    included = body.get("include")
    if isinstance(included, list) and _INCLUDED_LOGPROBS in included:
        raise _no_logprobs(_INCLUDED_LOGPROBS, f"/include/{included.index(_INCLUDED_LOGPROBS)}")
    return asked


def _no_logprobs(what: str, pointer: str) -> ApiError:
    return invalid(f"{what} is not supported here", pointer, code="unsupported_field", hint=_NO_LOGPROBS)
