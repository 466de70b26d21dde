"""The fields of requests: those about the output's form, all others, and misspelled ones.

    check_fields({"response_formt": …}, READ, "", others=OF_A_CHAT)     RequestError: did you mean 'response_format'?

A request's body has many fields that do not concern the output's form, and servers add their own. An unknown field that
looks like a misspelling of a supported one is an error, and so is the name that another API uses for the output's form.
In objects that are about the form alone, and in the dictionaries of engines, every field must be known.
Sources: OpenAI's API reference (chat/create, responses/create), vLLM's `StructuredOutputsParams`, SGLang's
`SamplingParams`.
Tested by tests/structural_tag/test_openai_shapes.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from maskwright.errors import RequestError
from maskwright.support.near_names import nearest

READ: Final = ("response_format", "tools", "tool_choice", "parallel_tool_calls", "thinking_token_budget")
OF_A_CHAT: Final = frozenset(
    (
        *("messages", "model", "audio", "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens"),
        *("max_tokens", "metadata", "modalities", "n", "prediction", "presence_penalty", "prompt_cache_key"),
        *("prompt_cache_retention", "reasoning_effort", "safety_identifier", "seed", "service_tier", "stop", "store"),
        *("stream", "stream_options", "temperature", "top_logprobs", "top_p", "user", "verbosity"),
        *("web_search_options", "functions", "function_call"),
    )
)
READ_OF_RESPONSES: Final = ("text", *READ[1:])
OF_A_RESPONSE: Final = frozenset(
    (
        *("background", "context_management", "conversation", "include", "input", "instructions"),
        *("max_output_tokens", "max_tool_calls", "metadata", "model", "previous_response_id", "prompt"),
        *("prompt_cache_key", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store"),
        *("stream", "stream_options", "temperature", "top_logprobs", "top_p", "truncation", "user"),
        *("functions", "function_call"),
    )
)
OF_STRUCTURED_OUTPUTS: Final = frozenset(("disable_fallback", "_backend", "_backend_was_auto"))
OF_SAMPLING: Final = frozenset(
    (
        *("max_new_tokens", "stop", "stop_token_ids", "stop_regex", "temperature", "top_p", "top_k", "min_p"),
        *("frequency_penalty", "presence_penalty", "repetition_penalty", "min_new_tokens", "n", "ignore_eos"),
        *("skip_special_tokens", "spaces_between_special_tokens", "no_stop_trim", "custom_params"),
        *("stream_interval", "logit_bias", "sampling_seed"),
    )
)

_VLLM: Final = "use structured_outputs, and maskwright.openai_shapes.vllm to read it"
_SGLANG: Final = "these are SGLang's sampling parameters: use maskwright.openai_shapes.sglang"
_INSTEAD: Final = {
    "functions": "use tools",
    "function_call": "use tool_choice",
    "structured_outputs": "use maskwright.openai_shapes.vllm to read it",
    "guided_json": _VLLM,
    "guided_regex": _VLLM,
    "guided_choice": _VLLM,
    "guided_grammar": _VLLM,
    "guided_json_object": _VLLM,
    "guided_whitespace_pattern": _VLLM,
    "json_schema": "use response_format",
    "type": 'wrap it: {"response_format": …}, or {"text": {"format": …}} for Responses',
    "response_format": "use text.format",
    "text": "use response_format",
    "regex": _SGLANG,
    "ebnf": _SGLANG,
    "structural_tag": "use response_format",
}
_NEAR: Final = 0.75


def check_body(request: Mapping[Any, Any], read: Collection[str], others: Collection[str]) -> None:
    """Raise an error for unsupported fields about the output's form, and for misspelled ones.

    Raises:
        RequestError: There is one; `pointer` leads to it.
    """
    for name, value in request.items():
        if name in read or value is None:
            continue
        if name in _INSTEAD:
            raise RequestError(f"{name} is not supported here", pointer=f"/{name}", hint=_INSTEAD[name])
        near = None if name in others else nearest(str(name), read, _NEAR)
        if near is not None:
            raise RequestError(f"unknown field {name!r}", pointer=f"/{name}", hint=f"did you mean {near!r}?")


def check_near(given: Mapping[Any, Any], read: Collection[str], others: Collection[str], pointer: str) -> None:
    """Raise an error for misspelled fields in an object that may have fields of its own.

    Raises:
        RequestError: There is one; `pointer` leads to it.
    """
    for name in given:
        if name in read or name in others:
            continue
        near = nearest(str(name), read, _NEAR)
        if near is not None and near not in given:
            place = f"{pointer}/{name}"
            raise RequestError(f"unknown field {str(name)[:60]!r}", pointer=place, hint=f"did you mean {near!r}?")


def check_all(given: Mapping[Any, Any], known: Collection[str], pointer: str, ignored: Collection[str] = ()) -> None:
    """Raise an error for every unknown field; None stands for a missing field.

    Raises:
        RequestError: There is one; `pointer` leads to it.
    """
    for name, value in given.items():
        if name in known or name in ignored or value is None:
            continue
        place, shown = f"{pointer}/{str(name)[:60]}", repr(str(name)[:60])
        now = str(name).removeprefix("guided_")
        if now != name and now in known:
            raise RequestError(f"{name} is not supported", pointer=place, hint=f"use {now!r}")
        if name == "structured_outputs":
            raise RequestError("unknown field 'structured_outputs'", pointer=place, hint="pass its value alone")
        near = nearest(str(name), known) or next((each for each in known if str(name) in each), None)
        hint = f"did you mean {near!r}?" if near else f"the fields are: {', '.join(known)}"
        raise RequestError(f"unknown field {shown}", pointer=place, hint=hint)
