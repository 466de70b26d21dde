"""XGrammar 2, Table 1: what is each optimisation worth for tool calls?

    python benchmarks/papers/xgrammar2_table1.py --tools 32

As xgrammar_table3.py, with structural tags in place of schemas: bench_tags.py measures, in the Llama format. Each row
adds one optimisation to those above it and has a process of its own; the last one computes masks ahead, for 20 ms, as
an engine does while the model reads the prompt.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from common import ablation, bench_tags, peers, report, table, vocabulary

from maskwright import _kernel


def work(row: str, num_tools: int, repeats: int) -> None:
    bench_tags.REPEATS = repeats
    _kernel.set_optimisations(**ablation.switches(row))
    longest = vocabulary()[2]
    engine = peers("tags")["maskwright"]
    chosen = bench_tags.usable({"maskwright": engine}, longest, num_tools)
    print(json.dumps(bench_tags.measure(engine, bench_tags.FORMATS["llama"], chosen, longest)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=2, help="the least of so many runs")
    parser.add_argument("--row", choices=list(ablation.STEPS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        return work(arguments.row, arguments.tools, arguments.repeats)
    report("XGrammar 2, Table 1: ablation with tool calls", f"{arguments.tools} tools in the Llama format")
    rows = []
    found: dict[str, float] = {}
    for row in ablation.STEPS:
        command = [sys.executable, str(Path(__file__)), "--row", row]
        command += ["--tools", str(arguments.tools), "--repeats", str(arguments.repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        rows.append([row, *_shown(found, "token")])
    rows.append([ablation.AHEAD, *_shown(found, "token ahead")])
    table(["", "first mask ms", "one more tool ms", "token us", "again us"], rows)


def _shown(found: dict[str, float], token: str) -> list[str]:
    ms = [f"{found[key] / 1e3:,.2f}" for key in ("ttfm", "more")]
    return [*ms, f"{found[token]:,.1f}", f"{found['token again']:,.1f}"]


if __name__ == "__main__":
    main()
