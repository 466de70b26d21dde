"""One request and its reply: JSON or a stream of events, errors in OpenAI's shape, what is logged, measured and traced.

    await exchange.reply({"id": …})          or open_stream, event, close_stream
    await exchange.fail(error)               whatever was sent before

When the client goes away, the handler is cancelled wherever it waits, and its `finally` clauses free what it holds. An
error before the first byte of a reply has its HTTP status; a later one is an event of the stream, which OpenAI's
clients raise as an exception.
Tested by tests/serve/http/test_exchange.py.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.types import Send

from maskwright.serve.errors import ApiError
from maskwright.serve.observability import tracing

if TYPE_CHECKING:
    pass

_REQUEST_ID = re.compile(r"[\w.:-]{1,128}")


class Exchange:
    """A request, and the means to answer it.

    Attributes:
        client_key: Tells clients apart.
        began: When it came, in seconds of `time.perf_counter`.
        span: The span of the request.
        notes: What is logged about it.
        headers: What its reply has beside the usual headers.
    """

    def __init__(self, request: Request, send: Send) -> None:
        given = request.headers.get("x-request-id", "")
        self.request = request
        self.request_id = given if _REQUEST_ID.fullmatch(given) else f"req_{secrets.token_hex(12)}"
        self.client_key = ""
        self.began = time.perf_counter()
        self.span = tracing.Span()
        self.notes: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        self.status: int | None = None  # of the reply, once it has begun
        self.is_stream = False
        self.is_complete = False  # whether all of the reply was sent
        self._send = send

    async def reply(self, data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send a whole reply as JSON."""
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
        await self._begin(
            status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        )
        await self._send({"type": "http.response.body", "body": body})
        self.is_complete = True

    async def open_stream(self) -> None:
        """Begin a stream of events."""
        self.is_stream = True
        # The last tells nginx to hand events on at once.
        names = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}
        await self._begin(200, {**names, "x-accel-buffering": "no"})

    async def event(self, data: Any, name: str | None = None) -> None:
        """Send an event."""
        lead = f"event: {name}\n" if name else ""
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        body = f"{lead}data: {text}\n\n".encode()
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def close_stream(self) -> None:
        """End the stream."""
        await self._send({"type": "http.response.body", "body": b""})
        self.is_complete = True

    async def fail(self, error: ApiError) -> None:
        """Reply with an error, or end the stream with one."""
        self.notes.update(error=error.code, param=error.param)
        if self.status is None:
            await self.reply(error.body, error.status, error.headers)
        elif self.is_stream:
            await self.event(error.body)
            await self.close_stream()

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        every = {**headers, **self.headers, "x-request-id": self.request_id}
        pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in every.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})
