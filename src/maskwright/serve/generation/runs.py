"""A request in the engine: slots of the queue, outputs as they come, and an end to all of it when the client goes away.

    async with admitted(server, exchange, num_outputs=2):
        async with Run(server, exchange, prepared) as run:
            async for step in run:
                step.index, step.data, step.events, step.finish_reason

The engine hands outputs over from its own thread; what has piled up of one output meanwhile comes as one step. Leaving
the block cancels what has not finished, however it is left.
Tested by tests/serve/http/test_exchange.py.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio.to_thread import run_sync

from maskwright import CompiledGrammar
from maskwright.engine import Handle, Output, Request, TokenLogprobs
from maskwright.errors import LimitError, MaskwrightError, OptionError, UnsatisfiableError
from maskwright.events import Event, ReasoningDelta
from maskwright.serve.errors import ApiError, api_error
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.observability import tracing
from maskwright.serve.replies.pieces import Piece, PiecesReader

if TYPE_CHECKING:
    from maskwright.serve.protocol.sampling import StreamOptions
    from maskwright.serve.server import Server
    from maskwright.serve.structure.structures import Structure


@dataclass
class Step:
    """What is new in one output."""

    index: int
    data: bytes = b""
    events: list[Event] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprobs] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    finish_reason: str | None = None


def usage_of_chunk(options: StreamOptions, run: Run) -> dict[str, Any]:
    """Return the field `usage` of an event of a stream before the last, if it has one."""
    if not options.include_usage:
        return {}
    return {"usage": run.usage if options.continuous_usage_stats else None}


@asynccontextmanager
async def admitted(server: Server, exchange: Exchange, num_outputs: int) -> AsyncIterator[None]:
    """Wait for as many slots as there are outputs; what is inside has them, and a limited time.

    Raises:
        ApiError: The queue is full, or the time is over.
    """
    with tracing.span("queue") as span:
        slot = server.gate.slot(exchange.client_key, num_outputs)
        waited = await slot.__aenter__()
        span.set(outputs=num_outputs)
    server.metrics.queue_seconds.observe(waited)
    exchange.notes["queue_ms"] = round(waited * 1e3, 2)
    try:
        with anyio.move_on_after(server.settings.max_request_seconds) as time_limit:
            yield
    finally:
        await slot.__aexit__(None, None, None)
    if time_limit.cancelled_caught:
        message = f"the request took longer than {server.settings.max_request_seconds:g} s"
        raise ApiError(504, message, code="request_timeout", hint="ask for fewer tokens")


class Prepared(NamedTuple):
    """A request that was read: what is left to do is to generate.

    Attributes:
        structure: What it asks of the output's form.
        requests: What the engine is to do, one for each output.
        num_prompt_tokens: Those of all prompts, each counted once.
        budget_at: The JSON pointer of the field with the budget.
    """

    structure: Structure
    requests: Sequence[Request]
    num_prompt_tokens: int
    budget_at: str

    def refusal(self, error: MaskwrightError) -> ApiError:
        """The answer to an error of the engine: a budget that is too small is the request's mistake."""
        if isinstance(error, OptionError):
            return api_error(error, f"/{error.option}")
        is_theirs = isinstance(error, UnsatisfiableError | LimitError)
        return api_error(error, self.budget_at if is_theirs else None)


class Run:
    """The outputs of a request.

    Args:
        server: The server.
        exchange: The request and its reply.
        prepared: What to generate.
        with_pieces: Whether steps have pieces.
    """

    def __init__(self, server: Server, exchange: Exchange, prepared: Prepared, *, with_pieces: bool = False) -> None:
        self._server = server
        self._exchange = exchange
        self._prepared = prepared
        self._requests = requests = prepared.requests
        self._pieces = [PiecesReader(server.engine.tokenizer_info) for _ in requests] if with_pieces else None
        self._arrived: deque[tuple[int, Output]] = deque()
        self._has_arrived = asyncio.Event()
        self._num_open = len(requests)
        self._first_at: float | None = None
        self._stack = ExitStack()
        self._span = tracing.Span()
        self._num_prompt_tokens = prepared.num_prompt_tokens
        self._num_tokens = self._num_forced = self._num_reasoning = 0

    async def __aenter__(self) -> Run:
        self._span = self._stack.enter_context(tracing.span("generate", outputs=len(self._requests)))
        self._stack.callback(self._record)
        loop = asyncio.get_running_loop()
        try:
            for i, request in enumerate(self._requests):
                # In a thread, as it may have to find out whether any output fits into the budget.
                on_output = partial(self._hand_over, loop, i)
                handle = await run_sync(self._server.engine.submit, request, on_output)
                self._stack.callback(self._server.engine.cancel, handle)
                self._warn(request, handle)
        except BaseException as error:
            self._stack.close()
            if isinstance(error, MaskwrightError):
                raise self._prepared.refusal(error) from error
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stack.close()

    def __aiter__(self) -> Run:
        return self

    async def __anext__(self) -> Step:
        if not self._num_open:
            raise StopAsyncIteration
        while not self._arrived:
            self._has_arrived.clear()
            await self._has_arrived.wait()
        step = Step(self._arrived[0][0])
        while self._arrived and self._arrived[0][0] == step.index:
            self._add(self._arrived.popleft()[1], step)
        return step

    @property
    def usage(self) -> dict[str, Any]:
        """The numbers of tokens, as OpenAI's API has them; that of forced tokens is ours."""
        details = {"reasoning_tokens": self._num_reasoning, "forced_tokens": self._num_forced}
        return {
            "prompt_tokens": self._num_prompt_tokens,
            "completion_tokens": self._num_tokens,
            "total_tokens": self._num_prompt_tokens + self._num_tokens,
            "completion_tokens_details": details,
        }

    def _hand_over(self, loop: asyncio.AbstractEventLoop, index: int, output: Output) -> None:
        """Take an output in the engine's thread."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._arrive, index, output)

    def _arrive(self, index: int, output: Output) -> None:
        self._arrived.append((index, output))
        self._has_arrived.set()

    def _add(self, output: Output, step: Step) -> None:
        if output.error is not None:
            if isinstance(output.error, MaskwrightError):
                raise self._prepared.refusal(output.error) from output.error
            raise output.error
        if output.token_ids and self._first_at is None:
            self._first_at = time.perf_counter()
            self._span.event("first token")
        step.data += output.data
        step.events += output.events
        step.token_ids += output.token_ids
        step.logprobs += output.logprobs
        self._num_tokens += len(output.token_ids) - output.num_replaced
        self._num_forced += sum(output.forced)
        if any(isinstance(event, ReasoningDelta) for event in output.events):
            self._num_reasoning += len(output.token_ids)
        if self._pieces is not None:
            self._pieces[step.index].add(output, step.pieces)
        if output.finish_reason is not None:
            step.finish_reason = output.finish_reason
            self._num_open -= 1
            self._measure(output)

    def _measure(self, last: Output) -> None:
        """Count what the engine has measured of an output."""
        metrics = self._server.metrics
        metrics.outputs.labels(last.finish_reason).inc()
        if last.timing is None:
            return
        for i, mask_us in enumerate(last.timing.mask_us):
            metrics.mask_seconds.observe(mask_us / 1e6)
            if i == 0:
                metrics.first_mask_seconds.observe(mask_us / 1e6)
        if last.usage is not None and last.usage.completion_tokens > 1:
            metrics.token_seconds.observe(last.timing.tpot_s(last.usage))

    def _warn(self, request: Request, handle: Handle) -> None:
        """Let the reply say that the output may be cut off, if that is so."""
        if handle.budget_caveat is not None:
            assert isinstance(request.grammar, CompiledGrammar)
            at = self._prepared.budget_at
            self._server.budget_warnings.add(self._exchange, request.grammar, handle.budget_caveat, at)

    def _record(self) -> None:
        metrics, notes = self._server.metrics, self._exchange.notes
        metrics.prompt_tokens.inc(self._num_prompt_tokens)
        metrics.output_tokens.inc(self._num_tokens)
        metrics.forced_tokens.inc(self._num_forced)
        notes.update(prompt_tokens=self._num_prompt_tokens, output_tokens=self._num_tokens)
        self._span.set(**notes, forced_tokens=self._num_forced)
        if self._first_at is None:
            return
        to_first = self._first_at - self._exchange.began
        metrics.first_token_seconds.observe(to_first)
        notes["first_token_ms"] = round(to_first * 1e3, 2)
