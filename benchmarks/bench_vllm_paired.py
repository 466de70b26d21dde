"""What does a structure add to a step of a real vLLM, with each of its backends? Measured in pairs within one engine.

    .venv-engines/bin/python benchmarks/bench_vllm_paired.py --models build/models/toy build/models/smollm2

A server, its client and the model share the cores of a small machine, and starts of a server scatter by more than a
structure costs. So each backend's engine runs once for each model in a process of its own, without a server (all of
vLLM's scheduler, sampler and output processing run), and rounds alternate in it: as many requests as given start at
once, without a structure, and the same prompts with one (an array of records, another schema for each request, known
since the warm-up). All rounds are equally long: answers could go on when they are aborted. Each pair gives
    TPOT    with a structure / without: the mean time between two tokens of a request
    TTFT    with a structure - without, in milliseconds: the mean over the requests, from the first one's arrival
and the table has the median over the pairs with an interval that holds it with 95 % confidence.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vllm_process import in_own_process

BACKENDS = ("maskwright", "xgrammar", "guidance")
HEADER = (
    "| model | backend | in flight | pairs | TPOT without (ms) | TPOT ratio | 95 % | TTFT without (ms) "
    "| TTFT difference (ms) | 95 % |"
)
MAX_TOKENS = 300


@dataclass
class Round:
    """What one round took."""

    tpot_ms: float
    ttft_ms: float


def records(number: int) -> dict[str, Any]:
    """A schema that no other number has, and that all backends take. Its shortest array has about 120 tokens."""
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
    return {"type": "array", "items": record, "minItems": 3}


def measure(model: Path, backend: str, arguments: argparse.Namespace) -> list[str]:
    """The table's lines of one model and backend."""
    from vllm import LLM

    llm = LLM(
        model=str(model),
        dtype="bfloat16",
        enforce_eager=True,
        max_model_len=arguments.max_model_len,
        max_num_seqs=max(arguments.concurrency),
        enable_prefix_caching=False,
        structured_outputs_config={"backend": backend},
        seed=0,
    )
    lines = []
    for in_flight in arguments.concurrency:
        pairs = []
        for seed in range(arguments.pairs + 1):
            order = (False, True) if seed % 2 else (True, False)
            rounds = {kind: run_round(llm.llm_engine, in_flight, kind, seed, arguments) for kind in order}
            pairs.append((rounds[False], rounds[True]))
        lines.append(row(model.name, backend, in_flight, pairs[1:]))  # the first pair warms up
    llm.llm_engine.engine_core.shutdown()
    return lines


def run_round(engine: Any, in_flight: int, structured: bool, seed: int, arguments: argparse.Namespace) -> Round:
    """Start all requests at once, step until each has so many tokens, and abort them.

    Raises:
        SystemExit: An answer ended by itself.
    """
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    num_tokens = arguments.tokens
    begin = time.perf_counter()
    for number in range(in_flight):
        outputs = StructuredOutputsParams(json=json.dumps(records(number))) if structured else None
        params = SamplingParams(
            max_tokens=MAX_TOKENS, temperature=arguments.temperature, ignore_eos=True, structured_outputs=outputs
        )
        engine.add_request(f"{seed}-{structured}-{number}", f"Write records number {number} as JSON.", params)
    times: dict[str, list[float]] = {}
    while len(times) < in_flight or min(map(len, times.values())) < num_tokens:
        for output in engine.step():
            if output.finished:
                raise SystemExit(f"an answer ended: {output.outputs[0].text}")
            times.setdefault(output.request_id, []).append(time.perf_counter() - begin)
    engine.abort_request(list(times))
    while engine.has_unfinished_requests():
        engine.step()
    return Round(
        statistics.mean((each[num_tokens - 1] - each[0]) / (num_tokens - 1) for each in times.values()) * 1e3,
        statistics.mean(each[0] for each in times.values()) * 1e3,
    )


def row(model: str, backend: str, in_flight: int, pairs: list[tuple[Round, Round]]) -> str:
    """The line of the table."""
    tpot, ttft = (statistics.median(getattr(free, name) for free, _ in pairs) for name in ("tpot_ms", "ttft_ms"))
    ratio = median_within([structured.tpot_ms / free.tpot_ms for free, structured in pairs], "{:.3f}")
    difference = median_within([structured.ttft_ms - free.ttft_ms for free, structured in pairs], "{:+.1f}")
    cells = [model, backend, str(in_flight), str(len(pairs)), f"{tpot:.2f}", *ratio, f"{ttft:.1f}", *difference]
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
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=BACKENDS)
    parser.add_argument("--concurrency", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--pairs", type=int, default=20, help="for each concurrency")
    parser.add_argument("--tokens", type=int, default=96, help="of each answer")
    parser.add_argument("--temperature", type=float, default=0.0, help="sampling costs less where most is masked")
    parser.add_argument("--max-model-len", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1, help="of the model")
    arguments = parser.parse_args()
    print(HEADER, "|" + " --- |" * (HEADER.count("|") - 1), sep="\n", flush=True)
    for model in arguments.models:
        for backend in arguments.backends:
            lines = in_own_process(measure, model, backend, arguments, multiprocessing=False, threads=arguments.threads)
            print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
