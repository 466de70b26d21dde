"""XGrammar, Table 3: what is each optimisation worth? The rows of ablation.py, which measures, as Markdown.

python benchmarks/papers/xgrammar_table3.py --limit 10
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from common import BENCHMARKS, ablation, report, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=10, help="how many schemas")
    parser.add_argument("--seconds", type=float, default=2.0, help="limit per schema")
    arguments = parser.parse_args()
    report("XGrammar, Table 3: ablation", f"{arguments.limit} schemas; each row adds one to those above it")
    rows = []
    for row in [*ablation.STEPS, ablation.AHEAD]:
        command = [sys.executable, str(BENCHMARKS / "ablation.py"), "--row", row]
        command += ["--limit", str(arguments.limit), "--seconds", str(arguments.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append([row, *done.stdout.split()])
    table(["", "first mask ms", "mask us", "p99", "accept us", "tokens", "refused"], rows)


if __name__ == "__main__":
    main()
