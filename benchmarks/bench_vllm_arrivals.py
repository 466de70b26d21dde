"""Do sequences that decode notice that never-seen schemas arrive? In a real vLLM, with each of its backends.

    .venv-engines/bin/python benchmarks/bench_vllm_arrivals.py --model build/models/toy

Eight sequences decode without end while 20 requests a second come in, each for a single token: in turn with a schema
that is known by then (`known`), and with schemas that were never seen (`new`). vLLM's front end runs in this process,
its engine in one of its own, as in its server. TPOT is the time between two tokens of the eight, by the engine's own
clock; what a request waits for its one token is the TTFT. All in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from engine_requests import new_schema
from vllm_process import in_own_process

BACKENDS = ("maskwright", "xgrammar", "guidance")
NUM_DECODING = 8
HEADER = "| backend | arriving | served | TPOT p50 | p99 | worst | TTFT p50 | p99 |"


def measure(backend: str, arguments: argparse.Namespace) -> list[str]:
    """The table's lines of one backend."""
    return asyncio.run(_measure(backend, arguments))


async def _measure(backend: str, arguments: argparse.Namespace) -> list[str]:
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.v1.metrics.loggers import StatLoggerBase

    latencies: list[float] = []

    class Latencies(StatLoggerBase):
        def __init__(self, vllm_config: Any, engine_index: int = 0) -> None:
            pass

        def record(self, scheduler_stats: Any, iteration_stats: Any, *args: Any, **kwargs: Any) -> None:
            if iteration_stats is not None:
                latencies.extend(1e3 * each for each in iteration_stats.inter_token_latencies_iter)

        def log_engine_initialized(self) -> None:
            pass

    args = AsyncEngineArgs(
        model=str(arguments.model),
        dtype="bfloat16",
        enforce_eager=True,
        max_model_len=4096,
        max_num_seqs=NUM_DECODING + 64,
        structured_outputs_config={"backend": backend},
    )
    engine = AsyncLLM.from_engine_args(args, stat_loggers=[Latencies])
    await _one_token(engine, 0, "warm-up")
    decoding = [asyncio.create_task(_decode(engine, str(i), arguments)) for i in range(NUM_DECODING)]
    await asyncio.sleep(2)
    found: dict[str, tuple[list[float], list[float]]] = {"known": ([], []), "new": ([], [])}
    count = arguments.arrivals * arguments.seconds
    for pass_, label in enumerate(["known", "new"] * arguments.passes):
        latencies.clear()
        begin = time.perf_counter()
        tasks = []
        for i in range(count):
            await asyncio.sleep(max(0.0, begin + i / arguments.arrivals - time.perf_counter()))
            number = 1 + pass_ * count + i if label == "new" else 0
            tasks.append(asyncio.create_task(_one_token(engine, number, f"{pass_}-{i}")))
        waited = await asyncio.gather(*tasks)
        found[label][0].extend(latencies)
        found[label][1].extend(waited)
    for task in decoding:
        task.cancel()
    await asyncio.gather(*decoding, return_exceptions=True)
    engine.shutdown()
    return [_row(backend, label, *each) for label, each in found.items()]


async def _decode(engine: Any, name: str, arguments: argparse.Namespace) -> None:
    from vllm.sampling_params import SamplingParams

    for again in range(1000):
        params = SamplingParams(max_tokens=2000, temperature=0.0, ignore_eos=True)
        async for _ in engine.generate("Tell me a story without an end.", params, f"{name} {again}"):
            pass


async def _one_token(engine: Any, number: int, name: str) -> float:
    """Ask for the first token of a schema, and return the milliseconds until it came."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    params = SamplingParams(
        max_tokens=1,
        temperature=0.0,
        structured_outputs=StructuredOutputsParams(json=json.dumps(new_schema(number))),
        extra_args={"maskwright_token_budget": False},  # it would refuse what is not complete within one token
    )
    begin = time.perf_counter()
    async for output in engine.generate("Answer.", params, name):
        assert len(output.outputs[0].token_ids) == 1
    return (time.perf_counter() - begin) * 1e3


def _row(backend: str, label: str, latencies: list[float], waited: list[float]) -> str:
    tpot, ttft = (statistics.quantiles(each, n=100, method="inclusive") for each in (latencies, waited))
    times = (tpot[49], tpot[98], max(latencies), ttft[49], ttft[98])
    return f"| {backend} | {label} | {len(waited)} | {' | '.join(f'{each:.1f}' for each in times)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a folder of tests/engines/models.py")
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=BACKENDS)
    parser.add_argument("--arrivals", type=int, default=20, help="requests a second beside eight that decode")
    parser.add_argument("--seconds", type=int, default=4, help="of arrivals, each pass")
    parser.add_argument("--passes", type=int, default=2)
    arguments = parser.parse_args()
    print(HEADER, "|" + " --- |" * (HEADER.count("|") - 1), sep="\n", flush=True)
    for backend in arguments.backends:
        print(*in_own_process(measure, backend, arguments, multiprocessing=True), sep="\n", flush=True)


if __name__ == "__main__":
    main()
