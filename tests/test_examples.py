"""Each program in examples/ that needs no engine runs as it stands; examples/README.md lists all there are.

The others are run by tests/engines/test_engine_examples.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engines.programs import imported_packages

FOLDER = Path(__file__).resolve().parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
_AT_HAND = {*sys.stdlib_module_names, "maskwright", "numpy", "pydantic"}
IN_ENGINES = [path for path in EXAMPLES if not {*imported_packages(path.read_text(encoding="utf-8"))} <= _AT_HAND]


@pytest.mark.parametrize("example", [path for path in EXAMPLES if path not in IN_ENGINES], ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    if "pydantic" in imported_packages(example.read_text(encoding="utf-8")):
        pytest.importorskip("pydantic", reason="pydantic is not installed: an optional dependency")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", str(example)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_all_are_listed() -> None:
    listed = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.name for path in EXAMPLES]


def test_each_says_how_it_is_run() -> None:
    for path in EXAMPLES:
        header = path.read_text(encoding="utf-8").split('"""')[1]
        assert f"python examples/{path.name}" in header, path.name
