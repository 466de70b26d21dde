"""`Engine`: the interface of everything that generates outputs, here or elsewhere.

    handle = engine.submit(Request(engine.encode("Once"), grammar=compiled), on_output=print)
    engine.cancel(handle)

    for output in generate(engine, request): ...        blocks; cancels when it is left
    completion = complete(engine, request)              the whole output

Invariants: `on_output` is called for one output of a request after the other, from a thread of the engine, at last
with a `finish_reason`, exactly once. It must not block: the next step of all outputs waits for it. Errors of a request
that show when it is submitted are raised there, later ones come as an output with `finish_reason="error"`.
Tested by tests/engine/test_local.py.
"""

from __future__ import annotations

import queue
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from maskwright.engine.outputs import FinishReason, Output, Timing, TokenLogprobs, Usage
from maskwright.engine.requests import Request
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from typing_extensions import Self

OnOutput: TypeAlias = Callable[[Output], None]


class Handle(Protocol):
    """A request that was submitted."""

    @property
    def request_id(self) -> str: ...

    @property
    def budget_caveat(self) -> str | None:
        """Why the output may be cut off at `max_tokens` though it has a grammar: lists of distinct elements do not
        always have a token budget. None otherwise, and until the grammar is compiled.
        """
        ...


@dataclass(frozen=True)
class EngineStats:
    """Figures of an engine since it was made; times in seconds."""

    num_waiting: int = 0  # requests without a slot
    num_running: int = 0  # requests with one
    num_slots: int = 0
    num_finished: int = 0
    num_steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    drafted_tokens: int = 0
    accepted_draft_tokens: int = 0
    cached_tokens: int = 0  # that the model holds at present
    model_s: float = 0.0  # in the model
    mask_s: float = 0.0  # filling masks, most of it while the model calculates
    mask_wait_s: float = 0.0  # waiting for masks after the model was done
    sample_s: float = 0.0  # applying masks, sampling, accepting, and finding forced text


class Engine(Protocol):
    """Generates outputs, several at a time."""

    @property
    def model_name(self) -> str:
        """What to call the model."""
        ...

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """For `GrammarCompiler`."""
        ...

    @property
    def max_model_len(self) -> int:
        """The most tokens of prompt and output together."""
        ...

    @property
    def has_chat_template(self) -> bool:
        """Whether the model was made for chats, so that a prompt is better written as one."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the token ids of a text, with the tokens that the model wants around a prompt."""
        ...

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the token ids of a chat, up to where the model's answer begins.

        Args:
            messages: In OpenAI's shape.
            tools: The same.
            **options: Variables of the template, such as `enable_thinking`; `add_generation_prompt` is True by default.

        Raises:
            RequestError: There is no template, or it refuses the messages.
        """
        ...

    def submit(self, request: Request, on_output: OnOutput) -> Handle:
        """Have an output generated. Returns at once; from any thread.

        Raises:
            EngineError: The engine is closed or being drained.
            LimitError: The prompt leaves no room for an output.
            TokenizerError: A token id of the prompt is not in the vocabulary, or the grammar was compiled for another
                one.
            UnsatisfiableError: No output of the grammar has so few tokens.
        """
        ...

    def cancel(self, handle: Handle) -> None:
        """End an output soon, with `finish_reason="cancelled"`. From any thread; nothing happens if it is over."""
        ...

    def stats(self) -> EngineStats:
        """Return figures. From any thread."""
        ...

    def drain(self, timeout_s: float | None = None) -> bool:
        """Take no more requests, and wait until those there are are finished. False if time was over before."""
        ...

    def close(self) -> None:
        """Cancel all requests, and free what the engine holds. So does leaving a `with` block."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@dataclass
class Completion:
    """A whole output."""

    token_ids: list[int] = field(default_factory=list)
    data: bytes = b""
    forced: list[bool] = field(default_factory=list)
    logprobs: list[TokenLogprobs] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    stop_reason: str | int | None = None
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def add(self, output: Output) -> None:
        """Add what one step adds."""
        kept = len(self.token_ids) - output.num_replaced
        self.token_ids[kept:] = output.token_ids
        self.forced[kept:] = output.forced
        self.data += output.data
        self.logprobs += output.logprobs
        self.events += output.events
        if output.finish_reason is not None:
            self.finish_reason, self.stop_reason = output.finish_reason, output.stop_reason
            self.usage = output.usage or self.usage
            self.timing = output.timing or self.timing


def generate(engine: Engine, request: Request) -> Iterator[Output]:
    """Yield the outputs of a request as they come; cancel it when nobody wants more.

    A `UserWarning` says so if the output may be cut off: see `Handle.budget_caveat`.

    Raises:
        Exception: What the request failed with.
    """
    received: queue.SimpleQueue[Output] = queue.SimpleQueue()
    handle = engine.submit(request, received.put)
    is_over = False
    try:
        while not is_over:
            output = received.get()
            is_over = output.finish_reason is not None
            if output.error is not None:
                raise output.error
            if is_over and handle.budget_caveat is not None:
                warnings.warn(handle.budget_caveat, UserWarning, stacklevel=2)
            yield output
    finally:
        if not is_over:
            engine.cancel(handle)


def complete(engine: Engine, request: Request) -> Completion:
    """Return a whole output.

    Raises:
        Exception: What the request failed with.
    """
    whole = Completion()
    for output in generate(engine, request):
        whole.add(output)
    return whole
