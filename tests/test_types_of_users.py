"""What a user's type checker sees: the README's Python and `typed_program.py` pass mypy's strict mode.

Names that the README leaves to its reader (`next_logits`, `sample`, …) are declared here. The package must say that it
is typed (`py.typed`), or every name of it would be unknown.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import maskwright

pytest.importorskip("mypy", reason="needs mypy, of the extra `lint`")
sybil = pytest.importorskip("sybil", reason="needs sybil, of the extra `test`")
from sybil.parsers.markdown import CodeBlockParser  # noqa: E402

README = Path(__file__).resolve().parent.parent / "README.md"
PROGRAM = Path(__file__).resolve().parent / "typed_program.py"
PACKAGE = Path(maskwright.__file__).parent
_LEFT_TO_THE_READER = """\
from typing import Any
import numpy as np
draft_tokens: list[int] = []
def next_logits() -> np.ndarray[Any, Any]: ...
def batch_logits(bitmask: Any) -> np.ndarray[Any, Any]: ...
def sample(logits: Any) -> int: ...
"""
_CONFIGURATION = """\
[mypy]
strict = True
[mypy-torch.*,transformers.*,nanobind.*]
follow_imports = skip
ignore_missing_imports = True
"""


def test_the_readme_passes_a_strict_type_checker(tmp_path: Path) -> None:
    blocks = list(sybil.Sybil(parsers=[CodeBlockParser("python", lambda _: None)]).parse(README).examples())
    assert len(blocks) >= 3
    check(_LEFT_TO_THE_READER + "\n".join(str(block.parsed) for block in blocks), tmp_path)


def test_a_users_program_passes_a_strict_type_checker_and_runs(tmp_path: Path) -> None:
    check(PROGRAM.read_text(), tmp_path)
    ran = subprocess.run([sys.executable, PROGRAM], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.startswith("['hello']")


def test_what_is_not_typed_rightly_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="arg-type"):
        check("import maskwright as mw\nmw.GrammarMatcher('text')\n", tmp_path)


def check(program: str, folder: Path) -> None:
    """Run mypy's strict mode over a program as a user would, against the package that is installed or checked out."""
    (folder / "program.py").write_text(program)
    (folder / "mypy.ini").write_text(_CONFIGURATION)
    checkout = {} if PACKAGE.parent.name == "site-packages" else {"MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--disable-error-code=empty-body", "program.py"],
        cwd=folder,
        env={**{k: v for k, v in os.environ.items() if k != "MYPYPATH"}, **checkout},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
