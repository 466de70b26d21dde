"""All figures and tables of the papers, one after the other, as Markdown.

    python benchmarks/papers > figures.md                   half an hour on a quiet machine
    MASKWRIGHT_MODELS=… python benchmarks/papers > …        with the models of tests/engines/models.py

Each module here is one figure or table, and runs alone as well. One that fails is named at the end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = (
    *("xgrammar_fig9", "xgrammar_fig10", "xgrammar_fig11", "xgrammar_table3", "xgrammar_table4"),
    *("xgrammar2_fig6_7", "xgrammar2_fig8", "xgrammar2_table1", "xgrammar2_fig9_10", "xgrammar2_fig11"),
    *("llguidance_masks", "simulation"),
)


def main() -> None:
    failed = [name for name in FIGURES if subprocess.run([sys.executable, str(HERE / f"{name}.py")]).returncode]
    if failed:
        sys.exit(f"these failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
