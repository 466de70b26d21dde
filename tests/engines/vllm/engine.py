"""A real vLLM within the test process.

    with offline_engine(folder, max_model_len=320) as llm: ...

vLLM's process groups are global. An engine that is merely dropped is torn down when it happens to be collected, and
takes the groups of its successor along; so each is shut down where its `with` ends, before another can begin.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch


@contextmanager
def offline_engine(model: Path, *, asynchronous: bool = False, **options: Any) -> Iterator[Any]:
    """A `vllm.LLM` with the backend `maskwright` in float32, without processes of its own.

    Args:
        model: Its folder.
        asynchronous: Whether the next step is scheduled while one runs. vLLM never does so on a CPU, though it can.
        **options: Others of `LLM`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        patch.setenv("OMP_NUM_THREADS", "1")  # several would wait for each other where other processes want the cores
        patch.setattr("torch.set_num_threads", torch.set_num_threads)  # vLLM replaces it
        num_threads = torch.get_num_threads()
        torch.set_num_threads(1)
        if asynchronous:
            patch.setattr("vllm.platforms.cpu.CpuPlatform.check_and_update_config", staticmethod(_asynchronous()))
        from vllm import LLM  # imported in tests: it warns

        # vLLM 0.32 looks into every module, and fails at what one has that its n-gram proposer loads.
        patch.delitem(sys.modules, "llvmlite.binding.ffi", raising=False)

        structured = {"backend": "maskwright", **options.pop("structured_outputs_config", {})}
        llm = LLM(
            model=str(model), dtype="float32", enforce_eager=True, structured_outputs_config=structured, **options
        )
        try:
            assert llm.llm_engine.vllm_config.scheduler_config.async_scheduling == asynchronous
            yield llm
        finally:
            llm.llm_engine.engine_core.shutdown()
            torch.set_num_threads(num_threads)


def _asynchronous() -> Any:
    """The platform's last word on a configuration, and after it asynchronous scheduling."""
    from vllm.platforms.cpu import CpuPlatform

    original = CpuPlatform.check_and_update_config

    def check_and_update_config(vllm_config: Any) -> None:
        original(vllm_config)
        vllm_config.scheduler_config.async_scheduling = True

    return check_and_update_config
