"""The fields that chat completions, completions and responses share: how to sample, and how to reply.

Names are those of OpenAI, and of vLLM and SGLang where OpenAI has none (`top_k`, `min_p`, `repetition_penalty`, …).
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from maskwright.serve.protocol.fields import Body, Options, Texts, expected

MAX_LOGPROBS: Final = 20
MAX_STOPS: Final = 16
_MAX_SEED: Final = (1 << 63) - 1

_SAMPLES: Final = "leave it out: this server samples, without a beam search"
_NO_LEAST: Final = "leave it out; a structure can require more, as with minLength or minItems"
IGNORED: Final = frozenset(
    (
        *("user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"),
        *("prompt_cache_retention", "prompt_cache_options", "request_id", "priority", "skip_special_tokens"),
        *("spaces_between_special_tokens", "separate_reasoning", "include_reasoning", "stream_reasoning"),
    )
)
REFUSED: Final = {
    "best_of": "use n",
    "guided_json": 'use structured_outputs: {"json": …}',
    "guided_regex": 'use structured_outputs: {"regex": …}',
    "guided_choice": 'use structured_outputs: {"choice": …}',
    "guided_grammar": 'use structured_outputs: {"grammar": …}',
    "guided_json_object": 'use structured_outputs: {"json_object": true}',
    "guided_whitespace_pattern": 'use structured_outputs: {"json": …, "whitespace_pattern": …}',
    "guided_decoding_backend": "leave it out: this server has one backend",
    "min_tokens": _NO_LEAST,
    "min_new_tokens": _NO_LEAST,
    "add_special_tokens": "leave it out: they are those that the model wants",
    "chat_template": "leave it out: it is the model's own",
    "top_a": "use top_p or min_p",
    "ignore_eos": _NO_LEAST,
    "use_beam_search": _SAMPLES,
    "length_penalty": _SAMPLES,
    "early_stopping": _SAMPLES,
    "bad_words": "use logit_bias, or a structure without them",
    "allowed_token_ids": "use logit_bias, or a structure such as a regex",
    "prompt_logprobs": "leave it out: log-probabilities are those of outputs",
    "truncate_prompt_tokens": "shorten the prompt",
    "moderation": "leave it out: this server does not moderate",
    "extra_body": "move what is in it to the top of the request: extra_body is an argument of the openai client",
    "grammar": 'use structured_outputs: {"grammar": …}',
    "functions": "use tools",
    "function_call": "use tool_choice",
}


def _biases(value: Any) -> Any:
    """Token ids are keys of an object, and so they are strings."""
    if not isinstance(value, dict) or not all(name.isdecimal() for name in value):
        more = " with other names" if isinstance(value, dict) else ""
        raise expected("an object from token ids to numbers", value, more)
    return {int(name): bias for name, bias in value.items()}


class StreamOptions(Options):
    """What a stream brings besides the output.

    Attributes:
        include_usage: a last event with the numbers of tokens.
        continuous_usage_stats: with that, the numbers so far in each event, as in vLLM.
        include_pieces: the text of each token as `pieces` of the choice, and whether the structure forced it.
    """

    include_usage: bool = False
    continuous_usage_stats: bool = False
    include_pieces: bool = False
    include_obfuscation: bool = False


class Sampling(Body):
    """How to sample."""

    refused: ClassVar = REFUSED

    model: str | None = None
    temperature: float = Field(1.0, ge=0, le=100)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=-1)
    min_p: float = Field(0.0, ge=0, le=1)
    stream: bool = False


class PenaltiesAndStops(Sampling):
    """What chat completions and completions have beyond responses."""

    n: int = Field(1, ge=1, le=128)
    seed: int | None = Field(None, ge=-_MAX_SEED - 1, le=_MAX_SEED)
    stop: Texts = Field(default_factory=list, max_length=MAX_STOPS)
    stop_token_ids: list[int] = Field(default_factory=list)
    include_stop_str_in_output: bool = False
    frequency_penalty: float = Field(0.0, ge=-2, le=2)
    presence_penalty: float = Field(0.0, ge=-2, le=2)
    repetition_penalty: float = Field(1.0, gt=0, le=2)
    logit_bias: Annotated[dict[int, float], BeforeValidator(_biases)] = Field(default_factory=dict)
    stream_options: StreamOptions = Field(default_factory=StreamOptions)
