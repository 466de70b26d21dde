"""The headers of modules name the tests that cover them: those tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path for folder, kinds in (("src", "*.py"), ("cpp", "*.[hc]*")) for path in (ROOT / folder).rglob(kinds)
)
TEST_MODULES = {path.name for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_named_tests_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"tests/[\w/]+(?:\.\w+)?", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert [name for name in re.findall(r"(?<![\w/])test_\w+\.py", text) if name not in TEST_MODULES] == []
