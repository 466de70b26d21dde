"""Slots: how many, whose turn it is, and what becomes of those who cannot wait."""

from __future__ import annotations

import asyncio

import pytest

from maskwright.serve.errors import ApiError
from maskwright.serve.limits.admission import Gate


def gate(running: int = 1, waiting: int = 10, per_key: int = 10, seconds: float = 5.0) -> Gate:
    return Gate(running, waiting, per_key, seconds)


class Visitor:
    """A request that stays in its slot until it is let go."""

    def __init__(self, gate: Gate, key: str, log: list[str], name: str, weight: int = 1) -> None:
        self.leave = asyncio.Event()
        self.task = asyncio.create_task(self._visit(gate, key, log, name, weight))

    async def _visit(self, gate: Gate, key: str, log: list[str], name: str, weight: int) -> None:
        async with gate.slot(key, weight):
            log.append(name)
            await self.leave.wait()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_free_slots_are_entered_at_once() -> None:
    async def run() -> None:
        it = gate(running=2)
        async with it.slot("a") as waited, it.slot("b"):
            assert waited < 0.1
            assert it.running == 2
        assert (it.running, it.waiting) == (0, 0)

    asyncio.run(run())


def test_turns_go_round_between_clients() -> None:
    async def run() -> None:
        it, log = gate(), []
        first = Visitor(it, "busy", log, "busy 0")
        await settled()
        others = [Visitor(it, "busy", log, f"busy {i}") for i in range(1, 4)]
        await settled()
        others += [Visitor(it, "late", log, "late 0"), Visitor(it, "later", log, "later 0")]
        for visitor in others:
            visitor.leave.set()
        await settled()
        assert it.waiting == 5
        first.leave.set()
        await asyncio.gather(*(v.task for v in [first, *others]))
        assert log == ["busy 0", "busy 1", "late 0", "later 0", "busy 2", "busy 3"]
        assert (it.running, it.waiting) == (0, 0)

    asyncio.run(run())


def test_nothing_overtakes_a_large_request() -> None:
    async def run() -> None:
        it, log = gate(running=3), []
        small = [Visitor(it, "a", log, f"small {i}") for i in range(2)]
        await settled()
        large = Visitor(it, "b", log, "large", weight=3)
        await settled()
        last = Visitor(it, "c", log, "last")
        await settled()
        assert log == ["small 0", "small 1"]  # a slot is free, but not three
        for visitor in (*small, large, last):
            visitor.leave.set()
        await asyncio.gather(*(v.task for v in (*small, large, last)))
        assert log == ["small 0", "small 1", "large", "last"]

    asyncio.run(run())


def test_a_cancelled_waiter_lets_those_behind_it_in() -> None:
    async def run() -> None:
        it, log = gate(running=2), []
        inside = Visitor(it, "a", log, "inside")
        await settled()
        large = Visitor(it, "b", log, "large", weight=2)
        await settled()
        small = Visitor(it, "c", log, "small")
        await settled()
        large.task.cancel()
        await settled()
        assert log == ["inside", "small"]
        inside.leave.set()
        small.leave.set()
        await asyncio.gather(inside.task, small.task)
        assert (it.running, it.waiting) == (0, 0)

    asyncio.run(run())


def test_cancelled_at_the_moment_of_the_grant() -> None:
    async def run() -> None:
        it, log = gate(), []
        inside = Visitor(it, "a", log, "inside")
        await settled()
        waiter = Visitor(it, "b", log, "waiter")
        await settled()
        inside.leave.set()
        await asyncio.sleep(0)  # `inside` runs now, and grants
        waiter.task.cancel()
        await asyncio.gather(inside.task, waiter.task, return_exceptions=True)
        assert (it.running, it.waiting) == (0, 0)

    asyncio.run(run())


def test_an_exception_inside_frees_the_slot() -> None:
    async def run() -> None:
        it = gate()
        with pytest.raises(ZeroDivisionError):
            async with it.slot("a"):
                1 / 0  # noqa: B018
        assert it.running == 0

    asyncio.run(run())


async def refused(it: Gate, key: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        async with it.slot(key):
            pass
    return caught.value


def test_refusals_say_when_to_come_again() -> None:
    async def run() -> None:
        it = gate(waiting=2, per_key=1, seconds=0.05)
        async with it.slot("a"):
            waiters = [asyncio.create_task(refused(it, key)) for key in "ab"]
            await settled()
            error = await refused(it, "a")
            assert (error.status, error.code) == (429, "too_many_requests")
            assert "send fewer at a time" in error.message
            error = await refused(it, "c")
            assert (error.status, error.code) == (503, "queue_full")
            assert int(error.headers["Retry-After"]) >= 1
            for waiter in waiters:
                error = await waiter
                assert (error.status, error.code) == (503, "queue_timeout")
        assert (it.running, it.waiting) == (0, 0)

    asyncio.run(run())


def test_a_draining_gate_lets_nobody_in() -> None:
    async def run() -> None:
        it = gate()
        it.is_draining = True
        error = await refused(it, "a")
        assert (error.status, error.code) == (503, "shutting_down")

    asyncio.run(run())
