"""POST /v1/completions: prompts continued, each with `n` outputs.

Source: OpenAI's API reference, completions/create.
Tested by tests/serve/test_completions.py.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from anyio.to_thread import run_sync

from maskwright.engine import Engine
from maskwright.serve.errors import invalid
from maskwright.serve.generation.runs import Prepared, Run, Step, admitted, usage_of_chunk
from maskwright.serve.generation.sampling import engine_requests
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.limits.budgets import check_outputs
from maskwright.serve.protocol.completions import CompletionRequest
from maskwright.serve.protocol.fields import read_body
from maskwright.serve.replies.logprobs import CompletionLogprobs
from maskwright.serve.replies.parts import PartsReader
from maskwright.serve.server import Server


async def complete(server: Server, exchange: Exchange, body: Mapping[str, Any]) -> None:
    """Continue prompts."""
    asked = read_body(CompletionRequest, body)
    name = server.check_model(asked.model)
    check_outputs(server.settings, num_outputs(asked))
    async with admitted(server, exchange, num_outputs(asked)):
        prepared = await prepare_completion(server, exchange, asked, body)
        with_pieces = asked.stream and asked.stream_options.include_pieces
        reply = _Reply(server, asked, name)
        async with Run(server, exchange, prepared, with_pieces=with_pieces) as run:
            await (reply.stream if asked.stream else reply.whole)(exchange, run)


def num_outputs(asked: CompletionRequest) -> int:
    """Return how many outputs a request asks for."""
    return asked.n * len(asked.prompt)


async def prepare_completion(
    server: Server, exchange: Exchange, asked: CompletionRequest, body: Mapping[str, Any]
) -> Prepared:
    """Compile the structure and read the prompts.

    Raises:
        ApiError: A field is malformed, or the request wants more than there is.
    """
    structure = await server.compiled(exchange, "completion", body, "disabled")
    prompts = await run_sync(_encoded, server.engine, asked)
    budgets = [server.budget(len(ids), asked.max_tokens, "/max_tokens", "/prompt") for ids in prompts]
    requests = engine_requests(asked, prompts, budgets, structure, asked.logprobs)
    return Prepared(structure, requests, sum(map(len, prompts)), "/max_tokens")


def _encoded(engine: Engine, asked: CompletionRequest) -> list[list[int]]:
    """The token ids of each prompt."""
    vocab_size = engine.tokenizer_info.vocab_size
    prompts = [engine.encode(each) if isinstance(each, str) else each for each in asked.prompt]
    for i, ids in enumerate(prompts):
        if not ids:
            raise invalid("the prompt has no tokens", f"/prompt/{i}", hint="begin with a text")
        wrong = next((token for token in ids if not 0 <= token < vocab_size), None)
        if wrong is not None:
            message = f"token {wrong} is outside the vocabulary of {vocab_size:,}"
            raise invalid(message, f"/prompt/{i}", code="unknown_token")
    return prompts


class _Reply:
    """The reply to one request."""

    def __init__(self, server: Server, asked: CompletionRequest, name: str) -> None:
        info = server.engine.tokenizer_info
        self._asked = asked
        self._echoed = [""] * num_outputs(asked)
        if asked.echo:
            texts = [
                each if isinstance(each, str) else info.decode(each).decode("utf-8", "replace") for each in asked.prompt
            ]
            self._echoed = [text for text in texts for _ in range(asked.n)]
        self._readers = [PartsReader(False) for _ in self._echoed]
        self._logprobs = [CompletionLogprobs(info, len(echo)) for echo in self._echoed]
        self._head = {
            "id": f"cmpl-{secrets.token_hex(12)}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": name,
        }

    async def whole(self, exchange: Exchange, run: Run) -> None:
        """Reply when all outputs are complete."""
        steps: list[list[Step]] = [[] for _ in self._readers]
        async for step in run:
            self._feed(step)
            steps[step.index].append(step)
        choices = [
            self._choice(
                i,
                self._echoed[i] + reader.content,
                logprobs=self._of([each for step in steps[i] for each in step.logprobs], i),
                finish_reason=steps[i][-1].finish_reason,
            )
            for i, reader in enumerate(self._readers)
        ]
        await exchange.reply({**self._head, "choices": choices, "usage": run.usage})

    async def stream(self, exchange: Exchange, run: Run) -> None:
        """Reply piece by piece."""
        await exchange.open_stream()
        for i, text in enumerate(self._echoed):
            if text:
                await self._send(exchange, run, self._choice(i, text))
        async for step in run:
            extra: dict[str, Any] = {}
            if step.pieces:
                extra["pieces"] = [piece._asdict() for piece in step.pieces]
            text, logprobs = self._feed(step), self._of(step.logprobs, step.index)
            if text or extra or logprobs or step.finish_reason:
                reason = step.finish_reason
                await self._send(exchange, run, self._choice(step.index, text, logprobs, reason, **extra))
        if self._asked.stream_options.include_usage:
            await exchange.event({**self._head, "choices": [], "usage": run.usage})
        await exchange.event("[DONE]")
        await exchange.close_stream()

    def _feed(self, step: Step) -> str:
        reader = self._readers[step.index]
        num_known = len(reader.content)
        reader.feed(step.data, is_last=step.finish_reason is not None)
        return reader.content[num_known:]

    def _of(self, logprobs: list[Any], index: int) -> dict[str, Any] | None:
        return self._logprobs[index].of(logprobs) if self._asked.logprobs is not None and logprobs else None

    @staticmethod
    def _choice(index: int, text: str, logprobs: Any = None, finish_reason: Any = None, **extra: Any) -> dict[str, Any]:
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish_reason, **extra}

    async def _send(self, exchange: Exchange, run: Run, choice: dict[str, Any]) -> None:
        usage = usage_of_chunk(self._asked.stream_options, run)
        await exchange.event({**self._head, "choices": [choice], **usage})
