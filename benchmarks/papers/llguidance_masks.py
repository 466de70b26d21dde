"""llguidance's figures: how many masks take more than a millisecond, and what is the slicer worth?

    python benchmarks/papers/llguidance_masks.py --schemas 60

Over schemas of MaskBench's development part (our own sample where that is not beside the checkout) with all their
instances, valid and not, up to the first token refused: masks as they are met in production, each document once. Rows
with something switched off tell what that is worth: llguidance's slices of the vocabulary, and our skipping of subtrees
of the trie and masks of single states. Engines take turns schema by schema, each in a process of its own; processor
time of the calling thread around the Python call, so that other work on the machine hardly counts. A schema takes at
most `--seconds` per engine. Below, how the masks of each engine are distributed by the time they take.
Source: the documentation of llguidance, "Optimizations: slicer", and of MaskBench.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import ablation, peers, report, table, vocabulary

from maskwright import _kernel

ROWS = (
    "maskwright",
    "maskwright, no subtrees skipped",
    "maskwright, no state masks",
    "llguidance",
    "llguidance, no slices",
    "xgrammar",
)
LIMITS_US = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)


def engine_of(row: str) -> Any:
    if row.endswith("subtrees skipped"):
        _kernel.set_optimisations(subtree_skipping=False)
    if row.endswith("state masks"):
        _kernel.set_optimisations(state_masks=False)
    engine = peers("schemas")[row.split(",")[0]]
    if row.endswith("slices"):
        engine.tokenizer = engine.tokenizer.with_slices([])
    return engine


def mask_times(engine: Any, record: Any, seconds: float) -> list[float] | None:
    """Microseconds of all masks; None if the schema is refused."""
    end = time.thread_time() + seconds
    try:
        engine.compile(record["schema"])
    except Exception:  # an engine's own way to say no
        return None
    times = []
    encode = vocabulary()[2].encode
    for test in record["tests"]:
        engine.reset()
        for token in encode(json.dumps(test["data"], ensure_ascii=False).encode()):
            begin = time.thread_time()
            engine.fill()
            times.append((time.thread_time() - begin) * 1e6)
            if begin > end or not engine.accept(token):
                break
    return times


def work(row: str, seconds: float) -> None:
    """One schema a line in, its times a line out."""
    engine = engine_of(row)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines that print must not disturb the replies
    for line in sys.stdin:
        print(json.dumps(mask_times(engine, json.loads(line), seconds)), file=replies, flush=True)


def collect(rows: list[str], limit: int, seconds: float) -> dict[str, tuple[list[float], int]]:
    """All times of each row, and how many schemas it refused."""
    pipe = subprocess.PIPE
    command = [sys.executable, str(Path(__file__)), "--seconds", str(seconds), "--worker"]
    workers = {row: subprocess.Popen([*command, row], stdin=pipe, stdout=pipe, text=True) for row in rows}
    times: dict[str, list[float]] = {row: [] for row in rows}
    refused = dict.fromkeys(rows, 0)
    for record in ablation.records(limit):
        for row, worker in workers.items():
            assert worker.stdin is not None
            assert worker.stdout is not None
            print(json.dumps(record), file=worker.stdin, flush=True)
            found = json.loads(worker.stdout.readline() or sys.exit(f"{row} ended"))
            refused[row] += found is None
            times[row] += found or []
    for worker in workers.values():
        worker.communicate()
    return {row: (times[row], refused[row]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--worker", choices=ROWS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker, arguments.seconds)
    rows = [row for row in ROWS if row.split(",")[0] in peers("schemas")]
    report("llguidance: slow masks, and the slicer", f"{arguments.schemas} schemas; processor us a mask")
    found = collect(rows, arguments.schemas, arguments.seconds)
    shown = []
    for row, (times, refused) in found.items():
        us = np.array(times)
        percentiles = [f"{np.percentile(us, q):,.1f}" for q in (50, 90, 99, 99.9, 99.99)]
        shown.append([row, f"{us.mean():,.1f}", *percentiles, f"{(us > 1000).mean():.3%}", f"{len(us):,}", refused])
    table(["", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "over 1 ms", "masks", "refused"], shown)
    limits = [0.0, *LIMITS_US, np.inf]
    names = [f"< {LIMITS_US[0]} us", *(f"to {limit:,}" for limit in LIMITS_US[1:]), "more"]
    table(["share of masks", *names], [[row, *_shares(times, limits)] for row, (times, _) in found.items()])


def _shares(times: list[float], limits: list[float]) -> list[str]:
    counts, _ = np.histogram(times, limits)
    return [f"{count / len(times):.2%}" for count in counts]


if __name__ == "__main__":
    main()
