"""The headers of modules name the tests that cover them: those tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path for folder, kinds in (("src", "*.py"), ("cpp", "*.[hc]*")) for path in (ROOT / folder).rglob(kinds)
)


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_named_tests_exist(path: Path) -> None:
    named = re.findall(r"tests/[\w/]+(?:\.\w+)?", path.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []
