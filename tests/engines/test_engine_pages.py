"""The Python blocks of each page in docs/engines, one after another, are one program, and it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines.programs import run_program

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "engines").glob("*.md"))
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    if not blocks:
        pytest.skip("has no Python blocks")
    run_program("\n".join(blocks), tmp_path, name=page.stem)
