"""What does a structure add to a step of a real vLLM, with each of its backends? Measured in pairs within one server.

    .venv-engines/bin/python benchmarks/bench_vllm_paired.py --models build/models/toy build/models/smollm2

Starts of a server scatter by more than a structure costs. So each backend's server runs once for each model, and rounds
alternate in it: as many requests as given start at once, without a structure, and the same prompts with one (an array
of records, another schema for each request, known since the warm-up). Both are about as long. Each pair gives
    ITL     with a structure / without: the mean time between two tokens of a request, by the engine's own clock (vLLM's
            metrics), as clients on a busy machine get tokens in bursts
    round   the same of the whole round, over the tokens of its longest answer
    TTFT    with a structure - without, in milliseconds: the mean over the requests, by vLLM's metrics
and the table has the median over the pairs with an interval that holds it with 95 % confidence. `maskwright` completes
its answers within max_tokens, the others are cut there.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from bench_vllm import BACKENDS, Outcome, Server, ask, serving
from engine_requests import Asked

HEADER = (
    "| model | backend | in flight | pairs | tokens without | with | ITL without (ms) "
    "| ITL ratio | 95 % | round ratio | 95 % | TTFT difference (ms) | 95 % |"
)

_LATENCIES = ("vllm:inter_token_latency_seconds", "vllm:time_to_first_token_seconds")


@dataclass
class Round:
    """What one round took."""

    itl_ms: float
    ttft_ms: float
    ms_per_token: float
    num_tokens: float


def records(number: int) -> Asked:
    """A request for an array of records whose schema no other number has, and all backends take."""
    properties = {
        f"title_{number}": {"type": "string"},
        f"amount_{number}": {"type": "integer", "minimum": 0},
        "state": {"enum": ["open", "closed", "unknown"]},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "distance": {"type": "number"}},
            "required": ["city", "distance"],
            "additionalProperties": False,
        },
    }
    record = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    schema = {"type": "array", "items": record, "minItems": 2}
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    prompt = f"Write records number {number} as JSON."
    return Asked(f"records {number}", "json_schema", prompt, {"response_format": response_format}, lambda _: True)


async def run_round(server: Server, requests: list[Asked], seed: int, max_tokens: int) -> Round:
    """Start all requests at once, and wait for the last.

    Raises:
        SystemExit: One was not answered.
    """
    free = not requests[0].body
    sampling = {"temperature": 0.7, "seed": seed, **({"extra_body": {"ignore_eos": True}} if free else {})}
    before = read_metrics(server)
    begin = time.perf_counter()
    outcomes = await asyncio.gather(*(ask(server, asked, max_tokens, **dict(sampling)) for asked in requests))
    seconds = time.perf_counter() - begin
    _check(outcomes)
    return Round(
        *_means(before, read_metrics(server)),
        seconds * 1e3 / max(outcome.num_tokens for outcome in outcomes),
        statistics.mean(outcome.num_tokens for outcome in outcomes),
    )


def read_metrics(server: Server) -> dict[str, float]:
    """The sums (seconds) and counts of the two histograms of latencies."""
    url = str(server.client.base_url).replace("/v1/", "/metrics")
    with urllib.request.urlopen(url, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    found = dict.fromkeys((f"{name}_{part}" for name in _LATENCIES for part in ("sum", "count")), 0.0)
    for line in lines:
        name = line.partition("{")[0]
        if name in found:
            found[name] += float(line.rsplit(" ", 1)[1])
    return found


def _means(before: dict[str, float], after: dict[str, float]) -> list[float]:
    """The mean of each histogram between two readings, in milliseconds."""
    grown = {name: after[name] - before[name] for name in after}
    return [1e3 * grown[f"{name}_sum"] / grown[f"{name}_count"] for name in _LATENCIES]


def _check(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if not outcome.num_tokens:
            raise SystemExit(f"{outcome.asked.name}: {outcome.verdict}: {outcome.detail}")


async def run_pairs(server: Server, in_flight: int, arguments: argparse.Namespace) -> list[tuple[Round, Round]]:
    """Rounds without and with a structure, whose order changes from pair to pair, after a pair to warm up."""
    structured = [records(number) for number in range(in_flight)]
    free = [asked.unconstrained() for asked in structured]
    pairs = []
    for seed in range(arguments.pairs + 1):
        rounds = {}
        for kind in (free, structured) if seed % 2 else (structured, free):
            rounds[kind is structured] = await run_round(server, kind, seed, arguments.max_tokens)
        pairs.append((rounds[False], rounds[True]))
    return pairs[1:]


def row(model: str, backend: str, in_flight: int, pairs: list[tuple[Round, Round]]) -> str:
    """The line of the table."""
    counts = (f"{statistics.mean(pair[i].num_tokens for pair in pairs):.0f}" for i in (0, 1))
    without = statistics.median(free.itl_ms for free, _ in pairs)
    itl = median_within([structured.itl_ms / free.itl_ms for free, structured in pairs], "{:.3f}")
    whole = median_within([structured.ms_per_token / free.ms_per_token for free, structured in pairs], "{:.3f}")
    ttft = median_within([structured.ttft_ms - free.ttft_ms for free, structured in pairs], "{:+.1f}")
    cells = [model, backend, str(in_flight), str(len(pairs)), *counts, f"{without:.2f}", *itl, *whole, *ttft]
    return f"| {' | '.join(cells)} |"


def median_within(values: list[float], form: str) -> tuple[str, str]:
    """The median, and the order statistics between which it lies with 95 % confidence."""
    ordered = sorted(values)
    n = len(ordered)
    below = max(0, math.floor((n - 1.96 * math.sqrt(n)) / 2))
    low, high = ordered[below], ordered[n - 1 - below]
    return form.format(statistics.median(ordered)), f"{form.format(low)} to {form.format(high)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, nargs="+", required=True, help="folders of tests/engines/models.py")
    parser.add_argument("--backends", nargs="+", default=BACKENDS[1:], choices=[*BACKENDS[1:], "as_xgrammar"])
    parser.add_argument("--concurrency", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--pairs", type=int, default=30, help="for each concurrency")
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--max-model-len", type=int, default=2048)
    parser.add_argument("--log", default="/tmp/bench_vllm_paired", help="where the servers' logs begin")
    arguments = parser.parse_args()
    print(HEADER, "|" + " --- |" * (HEADER.count("|") - 1), sep="\n", flush=True)
    for model in arguments.models:
        for backend in arguments.backends:
            with serving(model, backend, arguments, stats=True) as server:
                for in_flight in arguments.concurrency:
                    pairs = asyncio.run(run_pairs(server, in_flight, arguments))
                    print(row(model.name, backend, in_flight, pairs), flush=True)


if __name__ == "__main__":
    main()
