"""What the papers' figures share: the engines behind one interface, what takes turns, headings and tables in Markdown.

    report("XGrammar, Fig. 9: mask latency", "us a token, median")
    engines = peers("grammars")                     {"maskwright": …, "xgrammar": …, "llguidance": …}
    times = in_turns({name: partial(step, engine) for name, engine in engines.items()}, rounds=20)
    table(["engine", "us"], [[name, f"{statistics.median(found):.1f}"] for name, found in times.items()])

Adapters are those of the other benchmarks, each with `compile`, `reset`, `fill`, `accept` and `is_complete`, or, for
batches, `start` and `restart`. Whatever is compared takes turns within one process, in a changing order, so that a slow
spell of the machine hits all; where figures are given as ratios, they are medians of the ratios of neighbours.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import platform
import shlex
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAPERS = Path(__file__).resolve().parent
BENCHMARKS = PAPERS.parent
sys.path.insert(0, str(BENCHMARKS))

import ablation as ablation  # noqa: E402
import bench_batch as bench_batch  # noqa: E402
import bench_cfg as bench_cfg  # noqa: E402
import bench_peers as bench_peers  # noqa: E402
import bench_tags as bench_tags  # noqa: E402
from vocabulary import Longest, load  # noqa: E402

import maskwright as mw  # noqa: E402

NAMES = ("maskwright", "xgrammar", "llguidance")
_ADAPTERS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "schemas": bench_peers.ENGINES,
    "grammars": bench_cfg.ADAPTERS,
    "tags": bench_tags.ENGINES,
    "batches": bench_batch.ENGINES,
}


@cache
def vocabulary() -> tuple[str, mw.TokenizerInfo, Longest]:
    """Return the name of the vocabulary, the vocabulary, and what splits texts into its tokens."""
    name, info = load()
    return name, info, Longest(info)


def peers(kind: str, info: mw.TokenizerInfo | None = None, longest: Any = None) -> dict[str, Any]:
    """Return the adapters of the engines that are installed, for one kind of structures.

    Args:
        kind: "schemas", "grammars" (their `compile` takes a `maskwright.grammars.Source`), "tags" or "batches".
        info: A vocabulary instead of the usual one, with what splits texts into its tokens.
    """
    if info is None:
        _, info, longest = vocabulary()
    return {name: _ADAPTERS[kind][name](info, longest) for name in NAMES if importlib.util.find_spec(name)}


def in_turns(work: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return what each function returned, called in turns, each round in another order."""
    out: dict[str, list[float]] = {name: [] for name in work}
    names = list(work)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            out[name].append(work[name]())
    return out


def ratio(times: Sequence[float], reference: Sequence[float]) -> float:
    """Return the median of the ratios of what was measured one after the other."""
    return statistics.median(a / b for a, b in zip(times, reference, strict=True))


def report(title: str, *notes: str) -> None:
    """Print a heading: what it is, the command, the machine, the versions, the date."""
    script = Path(sys.argv[0]).resolve()
    command = ["python", str(script.relative_to(BENCHMARKS.parent)), *sys.argv[1:]]
    others = [name for name in (*NAMES[1:], "torch", "transformers") if importlib.util.find_spec(name)]
    versions = [f"maskwright {mw.__version__}", *(f"{name} {version(name)}" for name in others)]
    now = datetime.datetime.now(datetime.timezone.utc)
    print(f"## {title}\n\n    {shlex.join(command)}\n")
    print(f"* {now:%Y-%m-%d %H:%M} UTC; {machine()}")
    print(f"* Python {platform.python_version()}, " + ", ".join(versions))
    print("".join(f"* {note}\n" for note in notes), flush=True)


def machine() -> str:
    """The machine in words. The load says whether other work disturbed what was measured."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{platform.system()} {platform.machine()}, {cores} cores, {load} at the start"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; all columns but the first are numbers."""
    print(f"| {' | '.join(columns)} |")
    print(f"| --- |{' ---: |' * (len(columns) - 1)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print()
