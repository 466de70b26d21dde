"""Processor time of what tests call, for limits that a busy machine does not break.

Time of the thread, without the garbage collector, whose work grows with what all tests before have left.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import Final

SLOWER: Final = 20 if "LD_PRELOAD" in os.environ else 1  # at most so many times, under the sanitizers


def processor_seconds(call: Callable[[], object], *, runs: int = 1) -> float:
    """Return the least processor time of this thread over `runs` calls; one shows what a first call takes."""
    taken = []
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(runs):
            start = time.thread_time()
            call()
            taken.append(time.thread_time() - start)
    finally:
        if was_on:
            gc.enable()
    return min(taken)
