"""Each program in examples/ that needs an engine runs as it stands and prints something."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.programs import run_program
from test_examples import IN_ENGINES


@pytest.mark.parametrize("example", IN_ENGINES, ids=lambda example: example.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run_program(example.read_text(encoding="utf-8"), tmp_path, name=example.stem).strip()
