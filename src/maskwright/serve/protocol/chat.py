"""The body of POST /v1/chat/completions.

Source: OpenAI's API reference, chat/create; vLLM's documentation of its OpenAI-compatible server.
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from maskwright.serve.errors import invalid
from maskwright.serve.protocol.fields import Part, expected, misplaced, read_body, shown_of, type_of
from maskwright.serve.protocol.sampling import IGNORED, MAX_LOGPROBS, REFUSED, PenaltiesAndStops
from maskwright.serve.protocol.structure import Structured, Tools
from maskwright.serve.protocol.tools import check_tools

if TYPE_CHECKING:
    from typing_extensions import Self

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
_THINKING: Final = 'use reasoning_effort, or chat_template_kwargs: {"enable_thinking": …}'
# Arguments of the functions that apply a template, ours and those of transformers.
_NO_VARIABLES: Final = (
    *("self", "messages", "conversation", "tools", "chat_template", "tokenize", "tokenizer_kwargs", "padding"),
    *("truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask"),
    *("continue_final_message", "processor_kwargs", "sanitize_control_tokens"),
)
_TEXT_PARTS: Final = ("text", "input_text", "output_text", "refusal")


def _content_text(value: Any) -> str | None:
    """The text of a message's content: a string, or parts of text."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise expected("a string or an array of parts", value)
    return "".join([_text(part, i) for i, part in enumerate(value)])


def _text(part: Any, index: int) -> str:
    if not isinstance(part, dict):
        raise misplaced(f'expected a part, {{"type": "text", "text": …}}, found {type_of(part)}', index)
    kind = part.get("type")
    if kind not in _TEXT_PARTS:
        found = "a part without a type" if kind is None else f"a part of type {shown_of(kind)}"
        raise misplaced(f"this server reads text only, found {found}", index)
    name = "refusal" if kind == "refusal" else "text"
    if name not in part:
        raise misplaced("the field is required", index, name)
    text = part[name]
    if not isinstance(text, str):
        raise misplaced(f"expected a string, found {type_of(text)}", index, name)
    return text


def _called_arguments(value: Any) -> Any:
    """Arguments as data, since chat templates write them as JSON themselves; as they are where they are not JSON.

    Where there are none, some clients send null or an empty text.
    """
    if value is None:
        return {}
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _template_variables(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse what would not be a variable of the chat template, but another template, or another argument of ours."""
    for name in _NO_VARIABLES:
        if name in value:
            raise misplaced(f"{name} cannot be set here: it is no variable of the chat template", name)
    return value


TemplateVariables = Annotated[dict[str, Any], AfterValidator(_template_variables)]


class CalledFunction(Part):
    name: str
    arguments: Annotated[Any, BeforeValidator(_called_arguments)] = Field(default_factory=dict)


class CalledCustom(Part):
    name: str
    input: str


class Call(Part):
    """A call that the model has written earlier, of a function or of a custom tool."""

    id: str | None = None
    type: str = "function"
    function: CalledFunction | None = None
    custom: CalledCustom | None = None

    @model_validator(mode="after")
    def _is_of_its_type(self) -> Self:
        kind = "custom" if self.type == "custom" else "function"
        if getattr(self, kind) is None:
            raise misplaced("the field is required", kind)
        return self


class Message(Part):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[str | None, BeforeValidator(_content_text)] = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        """Only the assistant may write nothing, where it has called tools; an empty text is one."""
        if self.content is None and not (self.role == "assistant" and (self.tool_calls or self.reasoning_content)):
            instead = ", or tool_calls" if self.role == "assistant" else ""
            raise PydanticCustomError("expected", f"a message of role {self.role!r} needs content{instead}")
        return self


class ChatRequest(PenaltiesAndStops, Structured, Tools):
    """A request for chat completions."""

    ignored: ClassVar = IGNORED | {"verbosity", "prediction"}
    refused: ClassVar = {
        **REFUSED,
        "audio": "this server writes text only",
        "web_search_options": "pass a function that searches, which the client runs",
        "max_new_tokens": "use max_completion_tokens",
        "max_output_tokens": "use max_completion_tokens",
        "prompt": "use messages, or /v1/completions",
        "input": "use messages, or /v1/responses",
        "text": "use response_format",
        "format": "use response_format",
        "reasoning": "use reasoning_effort",
        "thinking": _THINKING,
        "enable_thinking": _THINKING,
        "echo": "leave it out, or use /v1/completions",
        "add_generation_prompt": "leave it out, or use /v1/completions, where the prompt is all yours",
        "continue_final_message": "use /v1/completions, with the beginning of the answer at the end of the prompt",
    }

    messages: list[Message] = Field(min_length=1)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    modalities: list[Literal["text"]] | None = None
    logprobs: bool = False
    top_logprobs: int = Field(0, ge=0, le=MAX_LOGPROBS)
    reasoning_effort: Effort | None = None
    chat_template_kwargs: TemplateVariables = Field(default_factory=dict)


def read_chat(body: Any) -> ChatRequest:
    """Read a body whose fields do not contradict each other.

    Raises:
        ApiError: A field is unknown, unsupported or malformed, or has no effect beside another one.
    """
    asked = read_body(ChatRequest, body)
    check_tools(asked.tools, asked.tool_choice)
    if asked.top_logprobs and not asked.logprobs:
        raise invalid("top_logprobs has no effect without logprobs", "/top_logprobs", hint='add "logprobs": true')
    limits = {asked.max_tokens, asked.max_completion_tokens} - {None}
    if len(limits) > 1:
        message = f"max_tokens is {asked.max_tokens}, but max_completion_tokens is {asked.max_completion_tokens}"
        hint = "leave out max_tokens, the older name of max_completion_tokens"
        raise invalid(message, "/max_tokens", code="conflicting_fields", hint=hint)
    return asked
