"""POST /v1/responses.

The reply's `output` has items (reasoning, messages, calls) in the order in which the model writes them; a
stream brings each as it grows (items.py). `text.format` and `tools` are those of OpenAI's API.
Source: OpenAI's API reference, responses/create.
Tested by tests/serve/test_responses.py.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from anyio.to_thread import run_sync

from maskwright.serve.generation.prompts import chat_prompt, messages_of, reasoning_of, template_options
from maskwright.serve.generation.runs import Prepared, Run, admitted
from maskwright.serve.generation.sampling import engine_requests
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.protocol.responses import ResponsesRequest, read_response
from maskwright.serve.protocol.tools import as_of_chat, custom_names
from maskwright.serve.replies.items import Items
from maskwright.serve.replies.parts import PartsReader
from maskwright.serve.server import Server
from maskwright.serve.structure.structures import Structure

_REPEATED = ("instructions", "max_output_tokens", "temperature", "top_p")


async def respond(server: Server, exchange: Exchange, body: Mapping[str, Any]) -> None:
    """Answer with a response."""
    asked = read_response(body)
    name = server.check_model(asked.model)
    async with admitted(server, exchange, 1):
        prepared = await prepare_response(server, exchange, asked, body)
        reply = _Reply(asked, prepared.structure, name)
        async with Run(server, exchange, prepared) as run:
            await (reply.stream if asked.stream else reply.whole)(exchange, run)


async def prepare_response(
    server: Server, exchange: Exchange, asked: ResponsesRequest, body: Mapping[str, Any]
) -> Prepared:
    """Compile the structure and read the input.

    Raises:
        ApiError: A field is malformed, or the request wants more than there is.
    """
    effort = None if asked.reasoning is None else asked.reasoning.effort
    options = template_options(effort, asked.chat_template_kwargs)
    structure = await server.compiled(exchange, "response", body, reasoning_of(options))
    tools = [] if asked.tool_choice == "none" else [as_of_chat(tool) for tool in asked.tools or []]
    messages = messages_of(asked.input)
    if asked.instructions is not None:
        messages.insert(0, {"role": "system", "content": asked.instructions})
    family = server.settings.tool_format
    prompt = await run_sync(partial(chat_prompt, server.engine, family, messages, tools, options))
    budget = server.budget(len(prompt), asked.max_output_tokens, "/max_output_tokens", "/input")
    requests = engine_requests(asked, [prompt], [budget], structure, None)
    return Prepared(structure, requests, len(prompt), "/max_output_tokens")


class _Reply:
    """The reply to one request."""

    def __init__(self, asked: ResponsesRequest, structure: Structure, name: str) -> None:
        self._reader = PartsReader(structure.has_parts, custom_names(asked.tools))
        self._items = Items()
        self._reason: str | None = None
        text = asked.text or {}
        self._head = {
            "id": f"resp_{secrets.token_hex(12)}",
            "object": "response",
            "created_at": int(time.time()),
            "model": name,
            **{field: getattr(asked, field) for field in _REPEATED},
            "text": {"format": text.get("format") or {"type": "text"}},
            "tools": asked.tools or [],
            "tool_choice": asked.tool_choice or "auto",
            "parallel_tool_calls": asked.parallel_tool_calls is not False,
            "reasoning": {"effort": asked.reasoning.effort if asked.reasoning else None, "summary": None},
            "previous_response_id": None,
            "truncation": "disabled",
            "store": False,
            "metadata": {},
            "error": None,
        }

    async def whole(self, exchange: Exchange, run: Run) -> None:
        """Reply when the output is complete."""
        async for step in run:
            self._reason = step.finish_reason
            self._items.add(self._reader.feed(step.data, step.events, is_last=self._reason is not None))
        self._items.finish(is_complete=self._reason != "length")
        await exchange.reply(self._response(run))

    async def stream(self, exchange: Exchange, run: Run) -> None:
        """Reply piece by piece."""
        await exchange.open_stream()
        number = 0

        async def send(kind: str, **fields: Any) -> None:
            nonlocal number
            await exchange.event({"type": kind, "sequence_number": number, **fields}, kind)
            number += 1

        for kind in ("response.created", "response.in_progress"):
            await send(kind, response=self._response(None))
        async for step in run:
            self._reason = step.finish_reason
            parts = self._reader.feed(step.data, step.events, is_last=self._reason is not None)
            for kind, fields in self._items.add(parts):
                await send(kind, **fields)
        for kind, fields in self._items.finish(is_complete=self._reason != "length"):
            await send(kind, **fields)
        response = self._response(run)
        await send(f"response.{response['status']}", response=response)
        await exchange.close_stream()

    def _response(self, run: Run | None) -> dict[str, Any]:
        """The response at this moment; without a run, before there is anything of it."""
        status = "in_progress" if run is None else "incomplete" if self._reason == "length" else "completed"
        details = {"reason": "max_output_tokens"} if status == "incomplete" else None
        usage = None if run is None else _usage(run.usage)
        output = [] if run is None else self._items.output
        return {**self._head, "status": status, "incomplete_details": details, "output": output, "usage": usage}


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }
