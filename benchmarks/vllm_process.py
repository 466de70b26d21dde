"""A vLLM within a process of its own: its state is global, and it takes its settings from the environment.

    lines = in_own_process(measure, model, backend, multiprocessing=False)

Tested by the benchmarks that use it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def in_own_process(function: Callable[..., T], *arguments: object, multiprocessing: bool, threads: int = 1) -> T:
    """Call a function, which imports vLLM, in a new process.

    Args:
        function: A function of a module.
        *arguments: Its arguments, and its outcome, are pickled.
        multiprocessing: Whether vLLM's engine runs in one more process, as it does in its server.
        threads: How many the model has.
    """
    with ProcessPoolExecutor(1, get_context("spawn"), _set_up, (multiprocessing, threads)) as process:
        return process.submit(function, *arguments).result()


def _set_up(multiprocessing: bool, threads: int) -> None:
    os.environ.update(
        HF_HUB_OFFLINE="1",
        VLLM_CPU_KVCACHE_SPACE="1",
        VLLM_ENABLE_V1_MULTIPROCESSING=str(int(multiprocessing)),
        VLLM_LOGGING_LEVEL="ERROR",
        VLLM_NO_USAGE_STATS="1",
        OMP_NUM_THREADS=str(threads),
    )
