"""What an engine gives back: an `Output` per step and request, with figures in the last one.

    data = b"".join(output.data for output in outputs)      the whole text
    outputs[-1].finish_reason                               "stop", "length", "cancelled" or "error"

Tested by tests/engine/test_local.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from maskwright.events import Event

FinishReason: TypeAlias = Literal["stop", "length", "cancelled", "error"]


class TokenLogprobs(NamedTuple):
    """The log-probability of a token that was chosen, and of the most likely ones, by the model itself."""

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...]  # (token id, log-probability), the most likely first


@dataclass(frozen=True)
class Usage:
    """Tokens of one request. Stop tokens are not counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0  # of the completion: inserted without asking the model
    drafted_tokens: int = 0  # proposed, and read by the model
    accepted_draft_tokens: int = 0


@dataclass
class Timing:
    """When things happened to one request, in seconds since it was submitted, and what masks took.

    Attributes:
        admitted_s: It got a slot.
        grammar_s: Its grammar was there; None without one.
        first_token_s: Its first token was there: the TTFT.
        last_token_s: Its last one.
        total_s: It was over.
        mask_us: What each of its masks took to fill; in a batch, its share of the call.
        mask_wait_us: How long its steps waited for masks after the model was done, together.
        num_steps: Steps of the model that it took part in.
    """

    admitted_s: float = 0.0
    grammar_s: float | None = None
    first_token_s: float | None = None
    last_token_s: float | None = None
    total_s: float = 0.0
    mask_us: list[float] = field(default_factory=list)
    mask_wait_us: float = 0.0
    num_steps: int = 0

    @property
    def decode_s(self) -> float:
        """From the first token to the last."""
        if self.first_token_s is None or self.last_token_s is None:
            return 0.0
        return self.last_token_s - self.first_token_s

    def tpot_s(self, usage: Usage) -> float:
        """Seconds per output token after the first."""
        return self.decode_s / (usage.completion_tokens - 1) if usage.completion_tokens > 1 else 0.0

    @property
    def mask_share(self) -> float:
        """The share of the time from its slot to its last token in which masks were waited for."""
        seconds = (self.last_token_s or 0.0) - self.admitted_s
        return self.mask_wait_us / 1e6 / seconds if seconds > 0 else 0.0


@dataclass(frozen=True)
class Output:
    """What one step adds to an output.

    Attributes:
        request_id: That of the request.
        token_ids: New tokens.
        data: New bytes, which may end inside a character. They lag behind the tokens while they may be the beginning of
            a stop string; with the last output comes all that is left.
        forced: For each new token whether the grammar forced it, so that the model was not asked.
        logprobs: For each new token, if asked for.
        events: What is new of tool calls, reasoning and text, if asked for.
        num_replaced: How many of the last tokens reported before the new ones replace. They spelled the beginning of
            forced text in another way than the tokenizer would; the bytes are the same.
        finish_reason: None while the output goes on. "stop": it is complete, or a stop string or token came;
            "length": it was cut off; "cancelled"; "error".
        stop_reason: The stop string or the token of `stop_token_ids` that came.
        error: Why the request failed.
        usage: With the last output.
        timing: With the last output.
    """

    request_id: str
    token_ids: tuple[int, ...] = ()
    data: bytes = b""
    forced: tuple[bool, ...] = ()
    logprobs: tuple[TokenLogprobs, ...] = ()
    events: tuple[Event, ...] = ()
    num_replaced: int = 0
    finish_reason: FinishReason | None = None
    stop_reason: str | int | None = None
    error: Exception | None = None
    usage: Usage | None = None
    timing: Timing | None = None
