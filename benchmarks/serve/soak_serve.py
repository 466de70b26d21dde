"""Does the server lose, mix up or leak anything under load, and does it finish what it accepted when it is stopped?

    python benchmarks/serve/soak_serve.py --minutes 10 --clients 64

Clients ask without a pause: a third of the requests is streamed, a tenth of the clients goes away in the middle, a
tenth of the requests is wrong. Each reply is checked against what was asked: a JSON Schema with a constant of the
request, a regex with its number in it, or a call of its own tool, so a reply that belongs to another request is found.
It prints the replies by kind, those lost or wrong, the slots in use afterwards, the memory of the server each minute,
and percentiles of the time to the first token of streams (the first event with text) and to whole replies. Each request
has a structure of its own, which fills all caches of structures; with --structures N there are so many of each kind, as
where clients ask for the same things again and again. At the end, clients start once more and the server gets SIGTERM:
all that it accepted must be answered.

The server runs in a process of its own, `maskwright serve`, with the model named by --model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

TIMEOUT = httpx.Timeout(120.0, connect=30.0)
LEAVES, IS_WRONG, STREAMS = 0.1, 0.1, 1 / 3
SLOTS = ("maskwright_requests_running", "maskwright_requests_waiting")


@dataclass
class Tally:
    """What came of the requests."""

    kinds: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    first_token_s: list[float] = field(default_factory=list)
    reply_s: list[float] = field(default_factory=list)


@dataclass
class Ask:
    """A request, and how its answer is judged."""

    body: dict[str, Any]
    is_right: Any
    param: str | None = None  # of the error, if it is wrong


def asks(rng: random.Random, number: int) -> Ask:
    """A request whose answer shows that it belongs to it."""
    messages = [{"role": "user", "content": f"Request {number}: write an order as JSON."}]
    body: dict[str, Any] = {"messages": messages, "max_completion_tokens": 160, "seed": rng.getrandbits(31)}
    if rng.random() < IS_WRONG:
        wrong = [
            ({"regex": "(" * rng.randint(1, 50)}, "/regex"),
            ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "x"}}}},
             "/response_format/json_schema/schema/type"),
            ({"temperature": -1}, "/temperature"),
            ({"tools": [{"type": "function", "function": {"name": ""}}]}, "/tools/0/function/name"),
        ]  # fmt: skip
        fields, param = rng.choice(wrong)
        return Ask({**body, **fields}, None, param)
    kind = rng.choice(("schema", "regex", "tool"))
    if kind == "regex":
        return Ask(
            {**body, "regex": f"{number}:[a-z]{{20,40}}"}, lambda c: re.fullmatch(f"{number}:[a-z]{{20,40}}", text(c))
        )
    properties = {
        "request": {"const": number},
        "customer": {"type": "string", "maxLength": 12 + number % 8},
        "items": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 3},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    if kind == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "order", "schema": schema}}
        return Ask(body, lambda c: follows(json.loads(text(c)), number))
    name = f"order_{number % 50}"
    body["tools"] = [{"type": "function", "function": {"name": name, "parameters": schema}}]
    body.update(tool_choice="required", parallel_tool_calls=False)
    return Ask(body, lambda c: is_call(c, name, number))


def text(choice: dict[str, Any]) -> str:
    found: str = choice["message"]["content"]
    return found


def follows(value: Any, number: int) -> bool:
    return (
        set(value) == {"request", "customer", "items"}
        and value["request"] == number
        and len(value["customer"]) <= 12 + number % 8
        and len(value["items"]) <= 3
    )


def is_call(choice: dict[str, Any], name: str, number: int) -> bool:
    (call,) = choice["message"]["tool_calls"]
    return call["function"]["name"] == name and follows(json.loads(call["function"]["arguments"]), number)


async def client(
    http: httpx.AsyncClient, index: int, until: float, tally: Tally, structures: int | None, *, may_refuse: bool
) -> None:
    """Ask until the time is over."""
    rng = random.Random(index)
    own = itertools.count(index, 1000)
    while time.monotonic() < until:
        number = next(own) if structures is None else rng.randrange(structures)
        leaves, streams = rng.random() < LEAVES, rng.random() < STREAMS
        ask = asks(rng, number)
        try:
            await one(http, ask, tally, streams=streams, leaves_after=rng.uniform(0.0, 0.3) if leaves else None)
        except httpx.ConnectError:
            if not may_refuse:
                tally.lost.append(f"request {number}: refused")
            return
        except Exception as error:  # whatever it is, the request has no answer
            if may_refuse and isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
                tally.kinds["not accepted"] += 1
                return
            tally.lost.append(f"request {number}: {type(error).__name__} {error}")


async def one(http: httpx.AsyncClient, ask: Ask, tally: Tally, *, streams: bool, leaves_after: float | None) -> None:
    if leaves_after is not None:
        try:
            await asyncio.wait_for(answer(http, ask, streams, []), leaves_after)
        except asyncio.TimeoutError:
            tally.kinds["left"] += 1
            return
        tally.kinds["answered before it left"] += 1
        return
    times: list[float] = []
    status, choice = await answer(http, ask, streams, times)
    if status in (429, 503):
        tally.kinds[f"refused with {status}, to be sent again later"] += 1
        return
    if ask.param is not None:
        is_right = status == 400 and choice["param"] == ask.param
        tally.kinds["refused, as it should be"] += 1
    else:
        is_right = status == 200 and bool(ask.is_right(choice))
        tally.kinds["streamed" if streams else "whole"] += 1
        (tally.first_token_s if streams else tally.reply_s).extend(times)
    if not is_right:
        tally.wrong.append(f"{status} {json.dumps(choice)[:300]} for {json.dumps(ask.body)[:200]}")


async def answer(http: httpx.AsyncClient, ask: Ask, streams: bool, times: list[float]) -> tuple[int, dict[str, Any]]:
    """The status, and the choice or the error."""
    began = time.perf_counter()
    if not streams:
        reply = await http.post("/v1/chat/completions", json=ask.body)
        times.append(time.perf_counter() - began)
        return reply.status_code, reply.json()["choices"][0] if reply.status_code == 200 else reply.json()["error"]
    content, calls, is_over = "", [], False
    async with http.stream("POST", "/v1/chat/completions", json={**ask.body, "stream": True}) as reply:
        if reply.status_code != 200:
            return reply.status_code, json.loads(await reply.aread())["error"]
        async for line in reply.aiter_lines():
            if not line.startswith("data: "):
                continue
            if line == "data: [DONE]":
                is_over = True
                continue
            chunk = json.loads(line[6:])
            if "error" in chunk:
                return 500, chunk["error"]
            delta = chunk["choices"][0]["delta"]
            if not times and (delta.get("content") or delta.get("tool_calls")):
                times.append(time.perf_counter() - began)
            content += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                if call["index"] == len(calls):
                    calls.append({"function": {"name": call["function"]["name"], "arguments": ""}})
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    if not is_over:
        raise httpx.ReadError("the stream ended early")
    return 200, {"message": {"content": content, "tool_calls": calls}}


class Server:
    """`maskwright serve` in a process of its own."""

    def __init__(self, model: str, log: Path, *options: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
        usual = ("--model", model, "--port", "0", "--max-waiting-per-key", "256", "--log-format", "json")
        self._log = log.open("w+")
        command = [sys.executable, "-m", "maskwright", "serve", *usual, *options]
        self.process = subprocess.Popen(command, stderr=self._log, env=environment)
        self.url = self._wait_until_ready(log)

    def _wait_until_ready(self, log: Path) -> str:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            found = re.search(r"http://\S+?:\d+", log.read_text())
            try:
                if found and httpx.get(f"{found[0]}/ready").status_code == 200:
                    return found[0]
            except httpx.HTTPError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"the server did not start: {log.read_text()}")

    def rss_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


async def load(
    server: Server, clients: int, minutes: float, tally: Tally, structures: int | None
) -> dict[float, tuple[float, float]]:
    """Run the clients; return the memory, and what the cache holds of it, at each minute."""
    memory: dict[float, tuple[float, float]] = {}
    until = time.monotonic() + minutes * 60

    async def watch() -> None:
        began = time.monotonic()
        while time.monotonic() < until:
            await asyncio.sleep(min(60.0, minutes * 60 / 5))
            cached = (await figures(http, "maskwright_structure_cache_bytes"))["maskwright_structure_cache_bytes"]
            memory[round((time.monotonic() - began) / 60, 1)] = server.rss_mb(), cached / 2**20

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=server.url, timeout=TIMEOUT, limits=limits) as http:
        running = [client(http, i, until, tally, structures, may_refuse=False) for i in range(clients)]
        await asyncio.gather(watch(), *running)
    return memory


async def stop_under_load(server: Server, clients: int, tally: Tally, structures: int | None) -> float:
    """Start the clients, stop the server when it has accepted half of their requests; return how long it took."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=server.url, timeout=TIMEOUT, limits=limits) as http:
        until = time.monotonic() + 60
        tasks = [
            asyncio.create_task(client(http, i, until, tally, structures, may_refuse=True)) for i in range(clients)
        ]
        while sum((await figures(http, *SLOTS)).values()) < clients / 2:
            await asyncio.sleep(0.02)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*tasks)
    server.process.wait(60)
    return time.monotonic() - began


async def figures(http: httpx.AsyncClient, *names: str) -> dict[str, float]:
    """Metrics without labels, by their names."""
    lines = (await http.get("/metrics")).text.splitlines()
    return {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if line.split(" ")[0] in names}


async def idle_figures(server: Server) -> dict[str, float]:
    """The slots in use when nobody asks any more."""
    until = time.monotonic() + 20
    async with httpx.AsyncClient(base_url=server.url, timeout=TIMEOUT) as http:
        while any((found := await figures(http, *SLOTS)).values()) and time.monotonic() < until:
            await asyncio.sleep(0.1)
    return found


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def report(title: str, tally: Tally, seconds: float) -> None:
    total = sum(tally.kinds.values())
    print(f"\n{title}: {total} requests, {total / seconds:.0f} a second")
    for kind, count in tally.kinds.most_common():
        print(f"  {count:>7}  {kind}")
    print(f"  {len(tally.lost):>7}  lost   {tally.lost[:3]}")
    print(f"  {len(tally.wrong):>7}  wrong  {tally.wrong[:3]}")
    for name, times in (("first token of streams", tally.first_token_s), ("reply to the others", tally.reply_s)):
        if times:
            shown = ", ".join(f"p{100 * s:g} {percentile(times, s) * 1e3:.0f} ms" for s in (0.5, 0.9, 0.99))
            print(f"  time to the {name}: {shown}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument(
        "--structures", type=int, help="so many different ones of each kind (default: as many as requests)"
    )
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--log", type=Path, default=Path("build/soak_serve.log"))
    arguments = parser.parse_args()
    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    server = Server(arguments.model, arguments.log)
    try:
        tally, last = Tally(), Tally()
        memory = asyncio.run(load(server, arguments.clients, arguments.minutes, tally, arguments.structures))
        report(f"{arguments.clients} clients for {arguments.minutes:g} minutes", tally, arguments.minutes * 60)
        slots = asyncio.run(idle_figures(server))
        print(f"  slots afterwards: {slots}")
        print("  minute, RSS in MiB, of it compiled structures in MiB:")
        for minute, (rss, cached) in memory.items():
            print(f"  {minute:>7g} {rss:>7.0f} {cached:>7.0f}")
        seconds = asyncio.run(stop_under_load(server, arguments.clients, last, arguments.structures))
        report(f"SIGTERM under load; the server ended after {seconds:.1f} s", last, seconds)
        print(f"  exit code {server.process.returncode}")
    finally:
        if server.process.poll() is None:
            server.process.kill()
    failed = tally.lost or tally.wrong or last.lost or last.wrong or any(slots.values()) or server.process.returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
