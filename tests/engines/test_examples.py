"""Each file in examples/ runs as it stands and prints something."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.programs import run_program

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run_program(example.read_text(encoding="utf-8"), tmp_path, name=example.stem).strip()
