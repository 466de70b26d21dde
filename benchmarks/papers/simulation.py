"""A simulation: what is left of the masks' time when a model's step takes 2, 6 or 20 ms elsewhere, at batch 1 to 512?

    python benchmarks/papers/simulation.py --step-ms 2 6 20 --batches 1 16 64 256 512

No model calculates here: a step is a thread that sleeps, as one does that waits for a GPU, so the whole processor is
there for masks. Applying them is left out, as the GPU does it. The rest is the loop of decoding.py: every sequence
writes valid instances of its schema (mixed), masks of all rows are filled at every step, beside the step (overlapped)
or after it (serial), and tokens are accepted: by the engines' batch calls, with as many threads as processors.
Runs take turns step by step. Unconstrained, the table has the wall-clock median of TPOT in ms; beside it, how much more
the others take, as the median of the differences of neighbouring steps.
"""

from __future__ import annotations

import argparse
import os

import decoding
from common import peers, report, table, vocabulary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-ms", nargs="+", type=float, default=[2, 6, 20])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16, 64, 256, 512])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--schemas", type=int, default=16, help="how many to mix")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    name, info, longest = vocabulary()
    engines = peers("batches")
    schemas, texts = decoding.choose(longest.encode, engines, arguments.schemas)
    note = f"vocabulary {name}, {info.vocab_size:,} tokens; {len(schemas)} schemas mixed; {arguments.threads} threads"
    report("Simulation: a model's step elsewhere, masks beside it or after it", "no model: a thread sleeps", note)
    compiled = {engine_name: engine.compile(schemas) for engine_name, engine in engines.items()}
    rows = []
    for step_ms in arguments.step_ms:
        for batch in arguments.batches:
            model = decoding.Sleeper(info, step_ms, batch)
            mixed = [i % len(schemas) for i in range(batch)]
            chosen = [texts[i] for i in mixed]
            grammars = {each: [compiled[each][i] for i in mixed] for each in engines}
            options = {"applies": False, "threads": arguments.threads}
            times = decoding.tpots(model, engines, grammars, chosen, [0], arguments.steps, **options)
            rows.append([f"{step_ms:g} ms, batch {batch}", *decoding.differences(times).values()])
    table(["", *decoding.modes_of(engines)], rows)


if __name__ == "__main__":
    main()
