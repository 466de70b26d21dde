"""Where does the time to a schema's first mask go: front-end, kernel or mask, and which schemas take most of it?

    python benchmarks/bench_schemas.py --runs 3 --top 20

Data are in MaskBench's form (bench_peers.py). Each run is a process of its own that compiles all schemas once, one
after the other, as a server would: what schemas share is warm for all but the first that has it. Times are processor
time in microseconds, and of several runs the least, schema by schema, as other work on the machine only adds.
    front-end   from the schema to the IR, and the cache around it
    kernel      from the IR to the compiled grammar
    mask        the first one
With --cold, more memory is written before each schema than caches hold, as by whatever a server does in between.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
from vocabulary import SHARED, load

import maskwright as mw
from maskwright.grammar import Grammar

HERE = Path(__file__).resolve().parent
STAGES = ("front-end", "kernel", "mask")
CACHES_BYTES = 96 << 20


def records(data: Path) -> list[str]:
    text = gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes()
    return text.decode().splitlines()


def work(data: Path, cold: bool) -> None:
    """Print one line a schema: its id, and the time of each stage; none for those that are refused."""
    _, info = load()
    compiler = mw.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    elsewhere = np.zeros(CACHES_BYTES if cold else 0, np.uint8)
    for line in records(data):
        record = json.loads(line)
        elsewhere += 1
        begin = process_time()
        try:
            grammar = Grammar.from_json_schema(record["schema"])
            read = process_time()
            compiled = compiler.compile_grammar(grammar)
            linked = process_time()
            mw.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)
        except mw.errors.MaskwrightError:
            print(json.dumps([record["id"]]))
            continue
        times = [read - begin, linked - read, process_time() - linked]
        print(json.dumps([record["id"], *[round(t * 1e6, 1) for t in times]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="JSON lines, gzipped or not")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--top", type=int, default=20, help="how many of the slowest to list")
    parser.add_argument("--cold", action="store_true", help="empty the processor's caches before each schema")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    data = arguments.data or (beside if beside.exists() else HERE / "data" / "schemas.jsonl")
    if arguments.worker:
        return work(data, arguments.cold)
    command = [sys.executable, __file__, "--worker", "--data", str(data), *(["--cold"] if arguments.cold else [])]
    outputs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(arguments.runs)
    ]
    runs = [[json.loads(line) for line in output.splitlines()] for output in outputs]
    names = [row[0] for row in runs[0] if len(row) > 1]
    times = np.min([[row[1:] for row in run if len(row) > 1] for run in runs], axis=0)
    print(
        f"{data.name}: {len(runs[0])} schemas, {len(runs[0]) - len(names)} refused; processor us, least of {len(runs)}"
    )
    totals = times.sum(axis=1)
    for stage, column in [*zip(STAGES, times.T, strict=True), ("together", totals)]:
        shown = "  ".join(f"p{q} {np.percentile(column, q):,.1f}" for q in (25, 50, 75, 90, 99))
        print(f"   {stage:10s} avg {column.mean():,.1f}  {shown}  max {column.max():,.1f}")
    slowest = np.argsort(-totals)
    share = totals[slowest[: len(totals) // 20]].sum() / totals.sum()
    print(f"   the slowest twentieth takes {share:.0%} of the time")
    for i in slowest[: arguments.top]:
        stages = "  ".join(f"{stage} {t:,.0f}" for stage, t in zip(STAGES, times[i], strict=True))
        print(f"   {totals[i] / totals.sum():6.1%}  {names[i]:50s}  {stages}")


if __name__ == "__main__":
    main()
