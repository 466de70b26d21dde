"""The body of POST /v1/responses.

The server keeps nothing of earlier responses: a conversation is sent whole, as items of `input`.
Source: OpenAI's API reference, responses/create.
Tested by tests/serve/test_responses.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field, ValidationError

from maskwright.serve.errors import ApiError, invalid
from maskwright.serve.protocol.chat import Effort, Message, TemplateVariables
from maskwright.serve.protocol.fields import Options, expected, misplaced, mistake, read_body, shown_of, type_of
from maskwright.serve.protocol.sampling import IGNORED, REFUSED, Sampling
from maskwright.serve.protocol.structure import OF_ENGINES, Tools
from maskwright.serve.protocol.tools import check_tools
from maskwright.structural_tag.tool_types import TYPES

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
    return [_message(item, i) for i, item in enumerate(value) if not _is_reasoning(item)]


def _is_reasoning(item: Any) -> bool:
    """Whether an item is left out, as chat templates leave out the reasoning of earlier turns."""
    return isinstance(item, dict) and item.get("type") == "reasoning"


def _message(item: Any, index: int) -> Message:
    """An item as a message; what is wrong with it is said where it stands in the request."""
    if not isinstance(item, dict):
        raise misplaced(f"expected an item, an object, found {type_of(item)}", index)
    kind = item.get("type", "message")
    read = _READ.get(kind) if isinstance(kind, str) else None
    if read is None:
        if kind == "item_reference":
            raise misplaced(f"an item_reference is not supported: {_STATELESS}", index, "type")
        known = ", ".join(map(repr, _READ))
        raise misplaced(f"expected an item of type {known} or 'reasoning', found {shown_of(kind)}", index, "type")
    if kind != "message" and item.get("call_id") is None:
        raise misplaced("the field is required: it says which call and which output belong together", index, "call_id")
    try:
        return Message.model_validate(read(item))
    except ValidationError as error:
        message, path = mistake(error)
        raise misplaced(message, index, *_in_item(kind, path)) from None


def _in_item(kind: str, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where a mistake stands in an item, by where it stands in the message that the item becomes."""
    if kind in ("function_call", "custom_tool_call"):
        return tuple("call_id" if step == "id" else step for step in path[2:] if step not in TYPES)
    if kind in ("function_call_output", "custom_tool_call_output") and path:
        return {"tool_call_id": "call_id", "content": "output"}.get(str(path[0]), path[0]), *path[1:]
    return path


def _called(item: Mapping[str, Any]) -> dict[str, Any]:
    call = {**_renamed(item, call_id="id"), "function": _renamed(item, name="name", arguments="arguments")}
    return {"role": "assistant", "tool_calls": [call]}


def _called_custom(item: Mapping[str, Any]) -> dict[str, Any]:
    custom = _renamed(item, name="name", input="input")
    return {"role": "assistant", "tool_calls": [{**_renamed(item, call_id="id"), "type": "custom", "custom": custom}]}


def _returned(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "tool", **_renamed(item, call_id="tool_call_id", output="content")}


def _renamed(item: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The fields that there are, under the names that they have in a message."""
    return {name: item[given] for given, name in names.items() if given in item}


_READ: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "message": lambda item: _renamed(item, role="role", content="content"),
    "function_call": _called,
    "function_call_output": _returned,
    "custom_tool_call": _called_custom,
    "custom_tool_call_output": _returned,
}


class ReasoningOptions(Options):
    """How much the model is to reason, and how its reasoning is shown: a summary is not made here."""

    effort: Effort | None = None
    summary: Any = None
    generate_summary: Any = None
    context: Any = None
    mode: Any = None


class ResponsesRequest(Sampling, Tools):
    """A request for a response."""

    ignored: ClassVar = IGNORED | {"include", "truncation", "stream_options", "max_tool_calls"}
    refused: ClassVar = {
        **REFUSED,
        "previous_response_id": _STATELESS,
        "conversation": _STATELESS,
        "background": "send the request and wait",
        "context_management": "send what the model is to see, and no more",
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
    chat_template_kwargs: TemplateVariables = Field(default_factory=dict)


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
