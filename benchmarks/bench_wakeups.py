"""How late does a serving engine's loop wake up while grammars are compiled on other threads of its process?

    python benchmarks/bench_wakeups.py --rounds 3

The main thread asks to be woken after 0.5 ms, again and again, and notes by how much later it runs. Meanwhile:
    burst   600 schemas on two threads
    steady  50 schemas a second, as they come
    flood   3,000 schemas handed over at once: `compile_json_schema_async` here, peers in a pool of 8 threads
    largest the 100 longest schemas, one after another on one thread
No schema is compiled twice. Baselines in the same run: `nothing`, and `C` (two threads that calculate without the
interpreter), which show what the machine itself adds. Each measurement is a process of its own, without warnings, as
showing the first one takes 5 ms; engines take turns, so that a slow spell of the machine hits all; of several rounds,
medians are shown.
With `--real-time` (Linux, as root) all other work on the machine waits meanwhile; what saturates all processors is then
stopped for 50 ms a second by the system, which shows in the worst of `C` and of engines that compile for long.
Data are in MaskBench's form (bench_peers.py).
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from bench_schemas import records
from vocabulary import SHARED, Longest, load

import maskwright as mw

HERE = Path(__file__).resolve().parent
PERIOD = 0.0005
PER_SECOND = 50
Compile = Callable[[Any], object]
Submit = Callable[[Any], "Future[Any]"]


def maskwright(info: mw.TokenizerInfo) -> tuple[Compile, Submit | None]:
    compiler = mw.GrammarCompiler(info)
    return compiler.compile_json_schema, compiler.compile_json_schema_async


def llguidance(info: mw.TokenizerInfo) -> tuple[Compile, Submit | None]:
    from bench_peers import Llguidance

    engine = Llguidance(info, Longest(info))

    def compile_one(schema: Any) -> object:
        return engine.llguidance.LLMatcher(engine.tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}))

    return compile_one, None


def xgrammar(info: mw.TokenizerInfo) -> tuple[Compile, Submit | None]:
    from bench_peers import Xgrammar

    compiler = Xgrammar(info, Longest(info)).compiler
    options = {"any_whitespace": True, "strict_mode": False}
    return (lambda schema: compiler.compile_json_schema(json.dumps(schema), **options)), None


def calculate() -> None:
    """Work for about 10 ms without the interpreter."""
    hashlib.pbkdf2_hmac("sha256", b"schema", b"salt", 10_000)


ENGINES = {"maskwright": maskwright, "llguidance": llguidance, "xgrammar": xgrammar}
BASELINES = {"nothing": lambda: time.sleep(0.01), "C": calculate}


class Load:
    """Schemas that are compiled in other threads until all are, or time is up."""

    def __init__(self, engine: str, info: mw.TokenizerInfo, schemas: list[Any], seconds: float) -> None:
        self.compile, self.submit = ENGINES[engine](info)
        self.kept = schemas  # an iterator lets go of them at its end, which takes 5 ms
        self.schemas: Iterator[Any] = iter(schemas)
        self.num_compiled = 0
        self.lock = threading.Lock()
        self.end = time.perf_counter() + seconds

    def compile_counted(self, schema: Any) -> None:
        with suppress(Exception):  # an engine's own way to say no
            self.compile(schema)
        self.count()

    def count(self, _: object = None) -> None:
        with self.lock:
            self.num_compiled += 1

    def remaining(self) -> Iterator[Any]:
        """The schemas that no other thread took, while there is time."""
        while time.perf_counter() < self.end:
            with self.lock:
                schema = next(self.schemas, None)
            if schema is None:
                return
            yield schema

    def pool(self, num_threads: int) -> Submit:
        executor = ThreadPoolExecutor(num_threads)
        return lambda schema: executor.submit(self.compile, schema)

    def burst(self) -> None:
        run_twice(self.one_by_one)

    def one_by_one(self) -> None:
        for schema in self.remaining():
            self.compile_counted(schema)

    def steady(self) -> None:
        submit = self.submit or self.pool(2)
        begin = time.perf_counter()
        for number, schema in enumerate(self.remaining()):
            time.sleep(max(0.0, begin + number / PER_SECOND - time.perf_counter()))
            submit(schema).add_done_callback(self.count)

    def flood(self) -> None:
        submit = self.submit or self.pool(8)
        futures = [submit(schema) for schema in self.schemas]
        for future in futures:
            future.add_done_callback(self.count)
        wait(futures, max(0.0, self.end - time.perf_counter()))


def run_twice(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


LOADS = {
    "burst": (Load.burst, 600),
    "steady": (Load.steady, 0),
    "flood": (Load.flood, 3000),
    "largest": (Load.one_by_one, 100),
}


def distinct(lines: list[str], number: int) -> list[Any]:
    """So many schemas, those of the file again with a comment where there are too few."""
    schemas = [json.loads(line)["schema"] for line in lines]
    out: list[Any] = []
    for turn in range(-(-number // len(schemas))):
        out += [{**s, "$comment": f"turn {turn}"} if turn and isinstance(s, dict) else s for s in schemas]
    step = len(out) / number
    return [out[int(i * step)] for i in range(number)]


def prepared(engine: str, kind: str, data: Path, seconds: float) -> tuple[Callable[[], None], Load | None]:
    if engine in BASELINES:
        end = time.perf_counter() + seconds

        def repeat() -> None:
            while time.perf_counter() < end:
                BASELINES[engine]()

        return lambda: run_twice(repeat), None
    _, info = load()
    run, number = LOADS[kind]
    lines = records(data)
    if kind == "largest":
        lines = sorted(lines, key=lambda line: len(json.dumps(json.loads(line)["schema"])))[-number:]
    schemas = distinct(lines, number or int(PER_SECOND * seconds))
    under = Load(engine, info, schemas, seconds)
    under.compile({"type": "object", "properties": {"warm": {"type": "string"}}})
    return lambda: run(under), under


def set_priority(priority: int) -> None:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))


def work(engine: str, kind: str, data: Path, seconds: float, in_real_time: bool) -> None:
    """Print how late each wake-up was, in milliseconds, and how many schemas a second were compiled."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines that print must not disturb the reply
    run, under = prepared(engine, kind, data, seconds)
    gc.collect()
    gc.freeze()  # as vLLM does; the schemas here are no part of a server
    if in_real_time:
        inner = run

        def run() -> None:
            set_priority(1)
            inner()

        set_priority(2)
    begin = time.perf_counter()
    if under:
        under.end = begin + seconds
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    late: list[float] = []
    while thread.is_alive() and time.perf_counter() < begin + seconds:
        asked = time.perf_counter()
        time.sleep(PERIOD)
        late.append(time.perf_counter() - asked - PERIOD)
    rate = under.num_compiled / (time.perf_counter() - begin) if under else 0.0
    print(json.dumps({"late_ms": [round(t * 1e3, 3) for t in late], "rate": rate}), file=replies, flush=True)
    os._exit(0)  # what is still being compiled is of no interest


def measure(engine: str, kind: str, arguments: argparse.Namespace) -> list[float] | None:
    """Return the 50th, 90th and 99th percentile, the worst, and the rate."""
    command = [sys.executable, "-W", "ignore", __file__, "--worker", engine, kind, "--data", str(arguments.data)]
    command += ["--seconds", str(arguments.seconds), *(["--real-time"] if arguments.real_time else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return None
    reply = json.loads(done.stdout)
    late = np.array(reply["late_ms"])
    return [*(float(np.percentile(late, q)) for q in (50, 90, 99)), float(late.max()), reply["rate"]]


def main() -> None:
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    data = beside if beside.exists() else HERE / "data" / "schemas.jsonl"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--loads", nargs="+", default=list(LOADS), choices=list(LOADS))
    parser.add_argument("--data", type=Path, default=data, help="JSON lines, gzipped or not")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8.0, help="the most for one measurement")
    parser.add_argument("--real-time", action="store_true", help="above all other work on the machine")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(*arguments.worker, arguments.data, arguments.seconds, arguments.real_time)
    installed = [*BASELINES, *(e for e in arguments.engines if importlib.util.find_spec(e))]
    print("".join(f"{e} is not installed, and left out\n" for e in arguments.engines if e not in installed), end="")
    print(f"{arguments.data.name}; ms late, medians of {arguments.rounds} rounds")
    print(f"{'':8s}{'':12s}{'p50':>8s}{'p90':>8s}{'p99':>8s}{'worst':>8s}{'schemas/s':>11s}   worst of each round")
    for kind in arguments.loads:
        rounds = [[measure(engine, kind, arguments) for engine in installed] for _ in range(arguments.rounds)]
        for engine, *found in zip(installed, *rounds, strict=True):
            rows = [row for row in found if row]
            if not rows:
                print(f"{kind:8s}{engine:12s} failed")
                continue
            *late, rate = np.median(rows, axis=0)
            worst = "  ".join(f"{row[3]:.1f}" for row in rows)
            shown = "-" if engine in BASELINES else f"{rate:,.0f}"
            print(f"{kind:8s}{engine:12s}" + "".join(f"{t:8.2f}" for t in late) + f"{shown:>11s}   {worst}", flush=True)


if __name__ == "__main__":
    main()
