"""An endpoint that takes JSON: a handler replies to each request's body; exchanges are logged, measured and traced.

    Endpoint(server, "chat", handler)        an ASGI application; handler(server, exchange, body) replies

When the client goes away, the handler is cancelled wherever it waits, and its `finally` clauses free what it holds.
Tested by tests/serve/http/test_exchange.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from maskwright.errors import MaskwrightError
from maskwright.serve.errors import ApiError, api_error
from maskwright.serve.http.body import read_json
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.observability import tracing
from maskwright.serve.observability.logs import LOGGER, log
from maskwright.serve.server import Server

_LAST_SECONDS: Final = 1
CLIENT_CLOSED: Final = 499  # as nginx logs it; nobody is there to read it

Handler: TypeAlias = Callable[[Server, Exchange, Any], Awaitable[None]]


class Endpoint:
    """An ASGI application that hands the body of each request to a handler."""

    def __init__(self, server: Server, name: str, handler: Handler) -> None:
        self._server = server
        self._name = name
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(Request(scope, receive), send)
        with tracing.span(self._name, exchange.request.headers, request_id=exchange.request_id) as span:
            exchange.span = span
            try:
                await self._until_the_end(exchange, receive)
            finally:
                self._record(exchange)

    async def _until_the_end(self, exchange: Exchange, receive: Receive) -> None:
        """Answer, unless the server has to stop before."""
        requests = self._server.open_requests
        with anyio.CancelScope() as scope:
            requests.add(scope)
            try:
                await self._exchange(exchange, receive)
            finally:
                requests.remove(scope)
        if scope.cancelled_caught and not exchange.is_complete:
            with anyio.move_on_after(_LAST_SECONDS):  # the client may read nothing
                await exchange.fail(_stopped())

    async def _exchange(self, exchange: Exchange, receive: Receive) -> None:
        try:
            client = self._server.keys.client(exchange.request)
            exchange.client_key = client.key
            exchange.notes["client"] = client.label
            settings = self._server.settings
            body = await read_json(exchange.request, settings.max_body_bytes, settings.max_stall_seconds)
        except ApiError as error:
            await exchange.fail(error)
            return
        except ClientDisconnect:  # in the middle of its body
            return
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_when_gone, receive, group.cancel_scope)
            await self._answer(exchange, body)
            group.cancel_scope.cancel()

    async def _answer(self, exchange: Exchange, body: Any) -> None:
        try:
            await self._handler(self._server, exchange, body)
        except ApiError as error:
            if error.status >= 500 and error.__cause__ is not None:
                _log_failure(exchange, error.__cause__)
            await exchange.fail(error)
        except MaskwrightError as error:
            answer = api_error(error)
            if answer.status >= 500:
                _log_failure(exchange, error)
            await exchange.fail(answer)
        except Exception as error:
            _log_failure(exchange, error)
            message = f"internal error; the server's log has details under the request id {exchange.request_id}"
            await exchange.fail(ApiError(500, message, code="internal_error"))

    def _record(self, exchange: Exchange) -> None:
        seconds = time.perf_counter() - exchange.began
        status = exchange.status if exchange.status is not None and exchange.is_complete else CLIENT_CLOSED
        metrics = self._server.metrics
        metrics.requests.labels(self._name, str(status)).inc()
        metrics.request_seconds.observe(seconds)
        if status == CLIENT_CLOSED:
            metrics.cancelled.labels(self._name).inc()
        exchange.span.set(status=status)
        level = logging.WARNING if status >= 500 else logging.INFO
        log(
            "request",
            level=level,
            request_id=exchange.request_id,
            endpoint=self._name,
            status=status,
            seconds=round(seconds, 4),
            **exchange.notes,
        )


def _stopped() -> ApiError:
    message = "the server has stopped before this request was finished"
    hint = "send the request to another server, or again later"
    return ApiError(503, message, code="shutting_down", hint=hint, headers={"Retry-After": "1"})


def _log_failure(exchange: Exchange, error: BaseException) -> None:
    """Log what the server could not do, with its traceback."""
    LOGGER.error("request failed", exc_info=error, extra={"fields": {"request_id": exchange.request_id}})


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel a request whose client has gone away; its body has been read already."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
