"""Every input to every entrance ends in a result or a MaskwrightError, in time: seeded mutations of valid inputs.

Schemas, grammars, regular expressions, structural tags, requests, names of models and options are changed at random
(`mutate.py`) and given to all that reads them (`entrances.py`); what compiles is used for some tokens. Each kind runs
in a process of its own (`batch.py`), so that a crash or a hang is a failure of the case that it belongs to.
MASKWRIGHT_MUTATIONS=100 tries a hundred times as many, MASKWRIGHT_SEED, any text, draws others. Real schemas
(`shared/corpora` beside the checkout) join if they are there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mutations.batch import KINDS

TIMES = int(os.environ.get("MASKWRIGHT_MUTATIONS", "1"))
TESTS = Path(__file__).parents[1]


def run_batch(kind: str, first: int, end: int) -> tuple[dict[str, str], int | None]:
    """Run a batch: faults with the cases that they belong to; the case that ended it, if one did."""
    command = [sys.executable, "-m", "mutations.batch", kind, str(first), str(end)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    faults: dict[str, str] = {}
    case: list[object] = [first - 1, "start", ""]
    for line in map(json.loads, done.stdout.splitlines()):
        case = line.get("case", case)
        if "fault" in line:
            faults.setdefault(f"{case[1]}: {line['fault']}", str(case))
    if done.returncode == 0:
        return faults, None
    number, entrance, _ = case
    faults[f"{entrance}: ended with {done.returncode}: {done.stderr[-1_000:]}"] = str(case)
    return faults, int(str(number))


@pytest.mark.parametrize("kind", KINDS)
def test_mutations(kind: str) -> None:
    faults: dict[str, str] = {}
    first, end = 0, KINDS[kind].count * TIMES
    while first < end:
        found, ended = run_batch(kind, first, end)
        faults |= found
        first = end if ended is None else max(ended, first) + 1
    assert not faults, "\n".join(f"{what}\n    {where}" for what, where in faults.items())
