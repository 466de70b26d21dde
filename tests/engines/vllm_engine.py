"""A real vLLM within the test process.

    with offline_engine(folder, max_model_len=320) as llm: ...

vLLM's process groups are global. An engine that is merely dropped is torn down when it happens to be collected, and
takes the groups of its successor along; so each is shut down where its `with` ends, before another can begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def offline_engine(model: Path, **options: Any) -> Iterator[Any]:
    """A `vllm.LLM` with the backend `maskwright` in float32, without processes of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        from vllm import LLM  # imported in tests: it warns

        structured = {"backend": "maskwright", **options.pop("structured_outputs_config", {})}
        llm = LLM(
            model=str(model), dtype="float32", enforce_eager=True, structured_outputs_config=structured, **options
        )
        try:
            yield llm
        finally:
            llm.llm_engine.engine_core.shutdown()
