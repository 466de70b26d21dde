"""XGrammar 2, Fig. 11: a JSON Schema benchmark (MaskBench): who compiles what, how fast, and who judges rightly?

    python benchmarks/papers/xgrammar2_fig11.py --limit 60

`shared/bench/peers.py` measures, each engine in a process of its own, in turns: time to first mask, then
a mask and an accepted token for every token of every instance. XGrammar has the options that make it allow any white
space and additional properties, as JSON Schema does. Where that harness is not beside the checkout, bench_peers.py
prints its own lines instead of this table.
Source: Geng et al., "JSONSchemaBench" (2025), and MaskBench's documentation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BENCHMARKS, bench_peers, peers, report, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=40, help="how many schemas")
    parser.add_argument("--seconds", type=int, default=10, help="limit per schema")
    arguments = parser.parse_args()
    command = [sys.executable, str(BENCHMARKS / "bench_peers.py"), "--limit", str(arguments.limit)]
    command += ["--engines", *peers("schemas")]
    report("XGrammar 2, Fig. 11: MaskBench", f"{arguments.limit} schemas, spread over the data; us around the call")
    if not bench_peers.FULLER_HARNESS.exists():
        sys.exit(subprocess.run(command).returncode)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        more = ["--seconds", str(arguments.seconds), "--json", str(out)]
        subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads(out.read_text())["summary"]
    rows = []
    for name, found in summary.items():
        failed = sum(found[key] for key in ("refused", "timeout", "failed", "crashed"))
        wrong = [found[key] for key in ("accept_wrong_data", "reject_right_data")]
        times = [f"{found[kind][key]:,.1f}" for kind, key in _TIMES]
        rows.append([name, found["fully_right"], *wrong, failed, *times])
    judged = ["fully right", "accepts wrong data", "rejects right data", "refused or failed"]
    table(["", *judged, *(f"{kind} {key}" for kind, key in _TIMES)], rows)


_TIMES = [("ttfm", "p50"), ("ttfm", "p90"), ("fill", "avg"), ("fill", "p99"), ("fill", "p99.9"), ("accept", "avg")]

if __name__ == "__main__":
    main()
