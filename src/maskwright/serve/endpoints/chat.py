"""POST /v1/chat/completions.

A reply's message has `content`, `reasoning_content` and `tool_calls`; a stream brings the same piece by piece: joined,
its parts are those of the whole reply. Extensions: `stream_options.include_pieces` adds to each choice the new text as
it came, and whether the structure forced it; `usage` says how many tokens were forced.
Source: OpenAI's API reference, chat/create and chat-streaming.
Tested by tests/serve/test_chat.py and test_chat_stream.py.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from anyio.to_thread import run_sync

from maskwright.events import ReasoningDelta, TextDelta
from maskwright.serve.generation.prompts import chat_prompt, messages_of, reasoning_of, template_options
from maskwright.serve.generation.runs import Prepared, Run, Step, admitted, usage_of_chunk
from maskwright.serve.generation.sampling import engine_requests
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.limits.budgets import check_outputs
from maskwright.serve.protocol.chat import ChatRequest, read_chat
from maskwright.serve.protocol.tools import as_of_chat, custom_names
from maskwright.serve.replies.logprobs import chat_logprobs
from maskwright.serve.replies.parts import Call, CallDelta, Part, PartsReader
from maskwright.serve.server import Server
from maskwright.serve.structure.structures import Structure

_BUDGET_FIELDS: Final = ("max_completion_tokens", "max_tokens")


async def chat(server: Server, exchange: Exchange, body: Mapping[str, Any]) -> None:
    """Answer a chat."""
    asked = read_chat(body)
    name = server.check_model(asked.model)
    check_outputs(server.settings, asked.n)
    async with admitted(server, exchange, asked.n):
        prepared = await prepare_chat(server, exchange, asked, body)
        reply = _Reply(server, asked, prepared.structure, name)
        with_pieces = asked.stream and asked.stream_options.include_pieces
        async with Run(server, exchange, prepared, with_pieces=with_pieces) as run:
            await (reply.stream if asked.stream else reply.whole)(exchange, run)


async def prepare_chat(server: Server, exchange: Exchange, asked: ChatRequest, body: Mapping[str, Any]) -> Prepared:
    """Compile the structure and read the messages.

    Raises:
        ApiError: A field is malformed, or the request wants more than there is.
    """
    options = template_options(asked.reasoning_effort, asked.chat_template_kwargs)
    structure = await server.compiled(exchange, "chat", body, reasoning_of(options))
    tools = [] if asked.tool_choice == "none" else [as_of_chat(tool) for tool in asked.tools or []]
    family, messages = server.settings.tool_format, messages_of(asked.messages)
    prompt = await run_sync(partial(chat_prompt, server.engine, family, messages, tools, options))
    field = next((name for name in _BUDGET_FIELDS if getattr(asked, name) is not None), _BUDGET_FIELDS[0])
    budget = server.budget(len(prompt), getattr(asked, field), f"/{field}", "/messages")
    logprobs = asked.top_logprobs if asked.logprobs else None
    requests = engine_requests(asked, [prompt], [budget], structure, logprobs)
    return Prepared(structure, requests, len(prompt), f"/{field}")


class _Reply:
    """The reply to one request."""

    def __init__(self, server: Server, asked: ChatRequest, structure: Structure, name: str) -> None:
        self._info = server.engine.tokenizer_info
        self._asked = asked
        custom = custom_names(asked.tools)
        self._readers = [PartsReader(structure.has_parts, custom) for _ in range(asked.n)]
        self._head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": name}

    async def whole(self, exchange: Exchange, run: Run) -> None:
        """Reply when all outputs are complete."""
        logprobs: list[list[Any]] = [[] for _ in self._readers]
        reasons = [""] * len(self._readers)
        async for step in run:
            self._feed(step)
            logprobs[step.index] += chat_logprobs(self._info, step.logprobs)
            reasons[step.index] = step.finish_reason or ""
        choices = [
            {
                "index": i,
                "message": _message(reader),
                "logprobs": {"content": logprobs[i], "refusal": None} if self._asked.logprobs else None,
                "finish_reason": _reason(reasons[i], reader),
            }
            for i, reader in enumerate(self._readers)
        ]
        await exchange.reply({**self._head, "object": "chat.completion", "choices": choices, "usage": run.usage})

    async def stream(self, exchange: Exchange, run: Run) -> None:
        """Reply piece by piece."""
        await exchange.open_stream()
        for i in range(len(self._readers)):
            await self._send(exchange, run, i, {"role": "assistant", "content": ""})
        async for step in run:
            await self._send_step(exchange, run, step)
        if self._asked.stream_options.include_usage:
            await exchange.event({**self._head, "object": _CHUNK, "choices": [], "usage": run.usage})
        await exchange.event("[DONE]")
        await exchange.close_stream()

    async def _send_step(self, exchange: Exchange, run: Run, step: Step) -> None:
        new = self._feed(step)
        extra: dict[str, Any] = {}
        if step.logprobs:
            extra["logprobs"] = {"content": chat_logprobs(self._info, step.logprobs), "refusal": None}
        if step.pieces:
            extra["pieces"] = [piece._asdict() for piece in step.pieces]
        if new or extra:
            await self._send(exchange, run, step.index, _delta(new), **extra)
        if step.finish_reason is not None:
            reason = _reason(step.finish_reason, self._readers[step.index])
            await self._send(exchange, run, step.index, {}, finish_reason=reason)

    async def _send(self, exchange: Exchange, run: Run, index: int, delta: dict[str, Any], **extra: Any) -> None:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None, **extra}
        usage = usage_of_chunk(self._asked.stream_options, run)
        await exchange.event({**self._head, "object": _CHUNK, "choices": [choice], **usage})

    def _feed(self, step: Step) -> list[Part]:
        return self._readers[step.index].feed(step.data, step.events, is_last=step.finish_reason is not None)


_CHUNK: Final = "chat.completion.chunk"


def _message(reader: PartsReader) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reader.content, "refusal": None}
    if reader.reasoning:
        message["reasoning_content"] = reader.reasoning
    if reader.calls:
        message["content"] = reader.content or None
        message["tool_calls"] = [_call(call) for call in reader.calls]
    return message


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, **_called(call.is_custom, call.arguments, name=call.name)}


def _called(is_custom: bool, arguments: str, **more: Any) -> dict[str, Any]:
    """What is called with which arguments, in the object of its type."""
    if is_custom:
        return {"type": "custom", "custom": {**more, "input": arguments}}
    return {"type": "function", "function": {**more, "arguments": arguments}}


def _delta(parts: list[Part]) -> dict[str, Any]:
    """Parts as the delta of a chunk."""
    delta: dict[str, Any] = {}
    for part in parts:
        match part:
            case TextDelta(text):
                delta["content"] = delta.get("content", "") + text
            case ReasoningDelta(text):
                delta["reasoning_content"] = delta.get("reasoning_content", "") + text
            case CallDelta():
                delta.setdefault("tool_calls", []).append(_call_delta(part))
    return delta


def _call_delta(call: CallDelta) -> dict[str, Any]:
    if call.id is not None:
        called = _called(call.is_custom, call.arguments, name=call.name)
        return {"index": call.number, "id": call.id, **called}
    called = _called(call.is_custom, call.arguments)
    del called["type"]  # which the first one has
    return {"index": call.number, **called}


def _reason(reason: str, reader: PartsReader) -> str:
    """Why an output ended, as this API says it."""
    return "tool_calls" if reason == "stop" and reader.calls else reason
