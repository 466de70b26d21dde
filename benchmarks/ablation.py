"""What is each optimisation worth? A table in the form of the XGrammar papers': each row adds one to those above it.

    python benchmarks/ablation.py --limit 40

Over some JSON Schemas of MaskBench's development part (our own sample, where that is not beside the checkout), with
their instances, in processor time:
    first mask      ms from schema text to first mask, mean; the front-end is part of it
    mask            us a token, mean and p99, over the instances: states are met for the first time, as in production
    accept          us a token, mean
The last row computes all masks that a precomputation within a second reaches before the first token, instead of just in
time. A row has its own process, so that nothing is left over from the one before. Steps past `--seconds` a schema are
not taken; schemas that a row refuses (repetitions spelled out grow too large) are counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from bench_peers import HERE
from vocabulary import SHARED, Longest, load

import maskwright as mw
from maskwright import _kernel

STEPS = {  # what the row adds, by the kernel's name for it
    "each mask by a walk of the vocabulary": None,
    "+ inlining, merged states": "inlining",
    "+ registers for repetitions": "registers",
    "+ subtrees skipped": "subtree_skipping",
    "+ state masks, exits only followed": "state_masks",
    "+ configurations remembered": "config_memo",
    "+ rules shared between grammars": "sharing",
}
AHEAD = "all, masks ahead of time"


def switches(row: str) -> dict[str, bool]:
    names = [name for name in STEPS.values() if name]
    if row == AHEAD:
        return dict.fromkeys(names, True)
    reached = list(STEPS).index(row)
    return {name: i < reached for i, name in enumerate(names)}


def records(limit: int) -> list[dict[str, object]]:
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    own = HERE / "data" / "schemas.jsonl"
    lines = gzip.decompress(beside.read_bytes()).decode() if beside.exists() else own.read_text()
    every = [json.loads(line) for line in lines.splitlines()]
    return [every[i * len(every) // limit] for i in range(min(limit, len(every)))]


def measure(row: str, limit: int, seconds: float) -> str:
    _kernel.set_optimisations(**switches(row))
    _, info = load()
    longest = Longest(info)
    compiler = mw.GrammarCompiler(info)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    first_ms, fill_us, accept_us, refused = [], [], [], 0
    for record in records(limit):
        begin = time.thread_time()
        try:
            grammar = compiler.compile_json_schema(record["schema"])
            if row == AHEAD:
                grammar.precompute(1e6)
            mw.GrammarMatcher(grammar).fill_next_token_bitmask(bitmask)
        except mw.MaskwrightError:
            refused += 1
            continue
        first_ms.append((time.thread_time() - begin) * 1e3)
        for test in record["tests"]:  # type: ignore[attr-defined]
            matcher = mw.GrammarMatcher(grammar)
            for token in longest.encode(json.dumps(test["data"], ensure_ascii=False).encode()):
                start = time.thread_time()
                matcher.fill_next_token_bitmask(bitmask)
                middle = time.thread_time()
                accepted = matcher.accept_token(token)
                end = time.thread_time()
                fill_us.append((middle - start) * 1e6)
                accept_us.append((end - middle) * 1e6)
                if not accepted or end - begin > seconds:
                    break
    fill = np.array(fill_us)
    return (
        f"{np.mean(first_ms):13,.2f} {fill.mean():10,.1f} {np.percentile(fill, 99):10,.1f} {np.mean(accept_us):8,.2f}"
        f" {len(fill):9,} {refused:8}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=40, help="how many schemas")
    parser.add_argument("--seconds", type=float, default=5.0, help="limit per schema")
    parser.add_argument("--row", choices=[*STEPS, AHEAD], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        print(measure(arguments.row, arguments.limit, arguments.seconds))
        return
    print(
        f"{'':38s} {'first mask ms':>13s} {'mask us':>10s} {'p99':>10s} {'accept':>8s} {'tokens':>9s} {'refused':>8s}"
    )
    for row in [*STEPS, AHEAD]:
        options = ["--limit", str(arguments.limit), "--seconds", str(arguments.seconds), "--row", row]
        done = subprocess.run([sys.executable, Path(__file__), *options], capture_output=True, text=True, check=True)
        print(f"{row:38s} {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
