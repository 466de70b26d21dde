"""Processor time of what tests call, for limits that a busy or a slow machine does not break.

Time of the thread, without the garbage collector, whose work grows with what all tests before have left. It counts
as on a quiet machine: if some usual work, just before and just after, takes longer than there, so much less is counted.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import Final

_USUAL_SECONDS: Final = 0.0055  # the least of 1,800 runs on two virtual cores of an AMD EPYC, 2026-11-27
SLOWER: Final = 20 if "LD_PRELOAD" in os.environ else 1  # at most so many times, under the sanitizers


def processor_seconds(call: Callable[[], object], *, runs: int = 1) -> float:
    """Return the least processor time of this thread over `runs` calls; one shows what a first call takes."""
    taken, usual = [], []
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(runs):
            for work, seconds in ((_usual_work, usual), (call, taken), (_usual_work, usual)):
                start = time.thread_time()
                work()
                seconds.append(time.thread_time() - start)
    finally:
        if was_on:
            gc.enable()
    return min(taken) / max(1.0, min(usual) / _USUAL_SECONDS)


def _usual_work() -> None:
    """Makes and sorts objects."""
    made = {str(i): (i,) for i in range(20_000)}
    assert sorted(made, key=len)[0] == "0"
