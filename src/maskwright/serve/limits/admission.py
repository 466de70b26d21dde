"""Which requests run, which wait, and which are refused: a bounded number of slots, clients taking turns.

    async with gate.slot("client", weight=2):       waits for two slots; 429 or 503 if too many wait already
        …

A slot that becomes free goes to the client whose turn it is, so a client with one request does not wait for the hundred
of another. The requests of one client run in the order in which they came. Nothing overtakes a request that needs more
slots than are free, or it would never run.
Invariants: `running` is what is inside `slot`, whatever ends it; refusals say how long to wait (`Retry-After`).
Used by one event loop. Tested by tests/serve/test_admission.py.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from maskwright.serve.errors import ApiError

_FIRST_GUESS_SECONDS = 2.0
_LONGEST_ADVICE_SECONDS = 60
_SHARE_OF_LAST = 0.2  # in the running average


@dataclass
class _Ticket:
    """A request that waits."""

    weight: int
    granted: asyncio.Future[None] = field(repr=False)


class Gate:
    """Hands out slots.

    Args:
        max_running: How many slots there are.
        max_waiting: How many requests may wait.
        max_waiting_per_key: How many requests of one client may wait.
        max_seconds: How long a request waits.
    """

    def __init__(self, max_running: int, max_waiting: int, max_waiting_per_key: int, max_seconds: float) -> None:
        self._max_running = max_running
        self._max_waiting = max_waiting
        self._max_waiting_per_key = max_waiting_per_key
        self._max_seconds = max_seconds
        self._waiting: OrderedDict[str, deque[_Ticket]] = OrderedDict()  # whose turn it is comes first
        self._mean_seconds = _FIRST_GUESS_SECONDS
        self.running = 0
        self.waiting = 0
        self.is_draining = False

    @asynccontextmanager
    async def slot(self, key: str, weight: int = 1) -> AsyncIterator[float]:
        """Wait for `weight` slots, and give them back at the end. Yields how many seconds that took.

        Raises:
            ApiError: 429 if this client has too many requests in the queue; 503 if the queue is full, if it takes too
                long, or if the server is shutting down.
        """
        began = time.monotonic()
        await self._enter(key, weight)
        started = time.monotonic()
        try:
            yield started - began
        finally:
            self._mean_seconds += _SHARE_OF_LAST * (time.monotonic() - started - self._mean_seconds)
            self._leave(weight)

    async def _enter(self, key: str, weight: int) -> None:
        if self.is_draining:
            raise self._refusal(
                503, "the server is shutting down", "send the request to another server", "shutting_down"
            )
        if not self.waiting and self.running + weight <= self._max_running:
            self.running += weight
            return
        queue = self._waiting.get(key, ())
        if len(queue) >= self._max_waiting_per_key:
            message = f"{len(queue)} requests of this client are waiting already"
            raise self._refusal(429, message, "send fewer at a time", "too_many_requests")
        if self.waiting >= self._max_waiting:
            raise self._refusal(503, f"{self.waiting} requests are waiting already", "try again later", "queue_full")
        await self._wait(key, _Ticket(weight, asyncio.get_running_loop().create_future()))

    async def _wait(self, key: str, ticket: _Ticket) -> None:
        self._waiting.setdefault(key, deque()).append(ticket)
        self.waiting += 1
        try:
            # Not wait_for, which in Python before 3.12 loses a cancellation at the moment of the grant.
            await asyncio.wait([ticket.granted], timeout=self._max_seconds)
        except asyncio.CancelledError:
            if ticket.granted.done():
                self._leave(ticket.weight)
            else:
                self._forget(key, ticket)
            raise
        if not ticket.granted.done():
            self._forget(key, ticket)
            message = f"the request waited {self._max_seconds:g} s for others to finish"
            raise self._refusal(503, message, "try again later", "queue_timeout")

    def _forget(self, key: str, ticket: _Ticket) -> None:
        ticket.granted.cancel()
        queue = self._waiting[key]
        queue.remove(ticket)
        self.waiting -= 1
        if not queue:
            del self._waiting[key]
        self._grant()  # it may have been what others waited behind

    def _leave(self, weight: int) -> None:
        self.running -= weight
        self._grant()

    def _grant(self) -> None:
        """Give free slots to those whose turn it is."""
        while self._waiting:
            key, queue = next(iter(self._waiting.items()))
            if self.running + queue[0].weight > self._max_running:
                return
            ticket = queue.popleft()
            self.waiting -= 1
            self.running += ticket.weight
            ticket.granted.set_result(None)
            del self._waiting[key]
            if queue:
                self._waiting[key] = queue  # behind all others

    def _refusal(self, status: int, message: str, hint: str, code: str) -> ApiError:
        seconds = self._mean_seconds * (self.waiting + 1) / self._max_running
        advice = max(1, min(_LONGEST_ADVICE_SECONDS, math.ceil(seconds)))
        return ApiError(status, message, code=code, hint=f"{hint}, in {advice} s", headers={"Retry-After": str(advice)})
