"""What do structured outputs cost in a real vLLM, and how many of them are right, with each of its backends?

    .venv-engines/bin/python benchmarks/bench_vllm.py --model build/models/smollm2

The server of vLLM's own front end runs in processes of its own, one start for each backend; 64 of the requests of
engine_requests.py are streamed at each concurrency, the same ones in the same order, after a few others that warm up
the model. `none` gets the same prompts without a structure, whose answers count as valid.
    valid     complete, and right by a judge that is not ours
    cut       ended by max_tokens, and for that not right
    wrong     ended by itself, and not right
    refused   code 400 · failed: any other error
    TTFT      from the request to the first token · TPOT: from there to the last, for each further token (milliseconds)
`as_xgrammar` is vLLM's `xgrammar` backend on `maskwright.compat.xgrammar`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
from engine_requests import Asked, all_requests

BACKENDS = ("none", "xgrammar", "guidance", "maskwright")
NUM_REQUESTS = 64
START_SECONDS = 300


@dataclass
class Outcome:
    """How one request ended."""

    asked: Asked
    verdict: str
    num_tokens: int = 0
    ttft_ms: float = 0.0
    tpot_ms: float | None = None
    detail: str = ""


@dataclass
class Server:
    """A running server: how to reach it, and whether it still runs."""

    process: subprocess.Popen[bytes]
    client: openai.AsyncOpenAI
    log: Path

    def alive(self) -> bool:
        return self.process.poll() is None


@contextlib.contextmanager
def serving(model: Path, backend: str, arguments: argparse.Namespace) -> Iterator[Server]:
    """Start vLLM's OpenAI server with a backend; stop it, all its processes, at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    named = {"none": "auto", "as_xgrammar": "xgrammar"}.get(backend, backend)
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", "model", "--dtype", "bfloat16", "--max-model-len", str(arguments.max_model_len)]
    command += ["--max-num-seqs", str(max(arguments.concurrency)), "--enforce-eager"]
    command += ["--port", str(port), "--structured-outputs-config.backend", named]
    command += ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]
    command += ["--disable-log-stats"]
    environment = {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", **os.environ}
    if backend == "as_xgrammar":
        environment["MASKWRIGHT_AS_XGRAMMAR"] = "1"
    log = Path(f"{arguments.log}.{model.name}.{backend}.log")
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        _wait(process, port, log)
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=300)
        yield Server(process, client, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1),
        ):
            return
        time.sleep(0.3)
    raise SystemExit(f"the server did not start: {log}")


async def ask(server: Server, asked: Asked, max_tokens: int, **sampling: Any) -> Outcome:
    """Stream one request's answer, and judge it."""
    body = dict(asked.body)
    extra = {**sampling.pop("extra_body", {}), **body.pop("extra_body", {})}
    extra["structured_outputs"] = body.pop("structured_outputs", None)
    begin = time.perf_counter()
    times: list[float] = []
    message: dict[str, Any] = {"content": "", "calls": {}, "finish": None, "tokens": 0}
    try:
        stream = await server.client.chat.completions.create(
            model="model",
            messages=[{"role": "user", "content": asked.prompt}],
            max_tokens=max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            extra_body={name: value for name, value in extra.items() if value is not None},
            **body,
            **sampling,
        )
        async for chunk in stream:
            _read_chunk(chunk, message, times)
    except openai.APIError as error:
        verdict = "refused" if str(_code(error)) == "400" else "failed"
        return Outcome(asked, verdict, detail=f"{type(error).__name__}: {error}"[:300])
    num_tokens = message["tokens"]
    tpot = (times[-1] - times[0]) / (num_tokens - 1) if num_tokens > 1 else None
    outcome = Outcome(asked, "valid", num_tokens, (times[0] - begin) * 1e3, tpot and tpot * 1e3)
    if not asked.judge(_judged(message)):
        outcome.verdict = "cut" if message["finish"] == "length" else "wrong"
        outcome.detail = json.dumps([message["finish"], message["content"], list(message["calls"].values())])[:600]
    return outcome


def _code(error: openai.APIError) -> Any:
    """The HTTP status, which an error within a stream has in its body."""
    body = error.body if isinstance(error.body, dict) else {}
    return getattr(error, "status_code", None) or body.get("code") or error.code


def _read_chunk(chunk: Any, message: dict[str, Any], times: list[float]) -> None:
    if chunk.usage:
        message["tokens"] = chunk.usage.completion_tokens
    for choice in chunk.choices:
        times.append(time.perf_counter())
        message["content"] += choice.delta.content or ""
        message["finish"] = choice.finish_reason or message["finish"]
        for call in choice.delta.tool_calls or []:
            parts = message["calls"].setdefault(call.index, {"name": "", "arguments": ""})
            parts["name"] += call.function.name or ""
            parts["arguments"] += call.function.arguments or ""


def _judged(message: dict[str, Any]) -> Any:
    calls = [SimpleNamespace(function=SimpleNamespace(**call)) for call in message["calls"].values()]
    return SimpleNamespace(content=message["content"], tool_calls=calls)


async def run_requests(server: Server, requests: list[Asked], concurrency: int, max_tokens: int) -> list[Outcome]:
    """Keep so many of the requests in flight until all have ended."""
    slots = asyncio.Semaphore(concurrency)

    async def one(asked: Asked) -> Outcome:
        async with slots:
            return await ask(server, asked, max_tokens, temperature=0.7, seed=1)

    return list(await asyncio.gather(*(one(asked) for asked in requests)))


async def measure(server: Server, backend: str, arguments: argparse.Namespace) -> list[str]:
    """The rows of one backend."""
    requests = all_requests()
    if backend == "none":
        requests = [asked.unconstrained() for asked in requests]
    await run_requests(server, [asked.unconstrained() for asked in requests[-4:]], 4, 16)
    rows = []
    for concurrency in arguments.concurrency:
        begin = time.perf_counter()
        outcomes = await run_requests(server, requests[:NUM_REQUESTS], concurrency, arguments.max_tokens)
        rows.append(_row(backend, concurrency, outcomes, time.perf_counter() - begin, server))
        for outcome in outcomes if arguments.details else ():
            if outcome.verdict != "valid":
                print(f"    {backend} {outcome.verdict}: {outcome.asked.name}: {outcome.detail}", file=sys.stderr)
    return rows


def _row(backend: str, concurrency: int, outcomes: list[Outcome], seconds: float, server: Server) -> str:
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    taken = [outcome for outcome in outcomes if outcome.num_tokens]
    ttft = [outcome.ttft_ms for outcome in taken]
    tpot = [outcome.tpot_ms for outcome in taken if outcome.tpot_ms is not None]
    counts = " | ".join(str(verdicts[each]) for each in ("valid", "cut", "wrong", "refused", "failed"))
    throughput = sum(outcome.num_tokens for outcome in taken) / seconds
    crashes = 0 if server.alive() else 1
    times = f"{_quantiles(ttft)} | {_quantiles(tpot)} | {throughput:.0f}"
    return f"| {backend} | {concurrency} | {counts} | {crashes} | {times} |"


def _quantiles(values: list[float]) -> str:
    if len(values) < 2:
        return "- | -"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"{cuts[49]:.2f} | {cuts[98]:.2f}"


HEADER = (
    "| backend | in flight | valid | cut | wrong | refused | failed | crashes "
    "| TTFT p50 | p99 | TPOT p50 | p99 | tokens/s |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a folder of tests/engines/models.py")
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=[*BACKENDS, "as_xgrammar"])
    parser.add_argument("--concurrency", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--max-model-len", type=int, default=8192)
    parser.add_argument("--log", default="/tmp/bench_vllm", help="where the servers' logs begin")
    parser.add_argument("--details", action="store_true", help="print what was not valid")
    arguments = parser.parse_args()
    print(f"{arguments.model.name}, max_tokens {arguments.max_tokens}\n")
    print(HEADER, "|" + " --- |" * (HEADER.count("|") - 1), sep="\n", flush=True)
    for backend in arguments.backends:
        with serving(arguments.model, backend, arguments) as server:
            for row in asyncio.run(measure(server, backend, arguments)):
                print(row, flush=True)


if __name__ == "__main__":
    main()
