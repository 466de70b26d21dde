"""vLLM's server, started once for all modules of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.vllm.server import serving


@pytest.fixture(scope="package")
def client(thinking_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of vLLM's server: one for all modules, as it takes a while to start."""
    with serving(thinking_toy, tmp_path_factory.mktemp("vllm")) as made:
        yield made
