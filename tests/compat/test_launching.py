"""`maskwright as-xgrammar COMMAND`: in the command, and in the Python processes that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from maskwright.compat.launching import environment_as_xgrammar

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("pydantic", reason="an optional dependency")
WHOSE = "import xgrammar; print(xgrammar.GrammarMatcher.__module__)"
OURS = "maskwright.compat.xgrammar.matcher"


def launch(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "maskwright", "as-xgrammar", *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def lines(*command: str, **environment: str) -> list[str]:
    done = launch(*command, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("before", [[], ["--"]])
def test_the_command_and_its_exit_code(before: list[str]) -> None:
    done = launch(*before, sys.executable, "-c", f"{WHOSE}; raise SystemExit(7)")
    assert (done.stdout.split(), done.returncode) == ([OURS], 7), done.stderr


def test_processes_that_it_starts(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import multiprocessing, subprocess, sys

            def whose(_):
                import xgrammar.matcher
                return xgrammar.matcher.GrammarMatcher.__module__

            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(whose, [0])[0])
                command = "from xgrammar import GrammarMatcher as m; print(m.__module__)"
                print(subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout.strip())
            """
        )
    )
    assert lines(sys.executable, str(program)) == [OURS, OURS]


def test_python_starts_as_it_did() -> None:
    shown = "import sys; print('maskwright' in sys.modules, 'torch' in sys.modules, *sys.path[:1], sep='|')"
    assert lines(sys.executable, "-c", shown) == ["False|False|"]


def test_looking_for_it_without_importing() -> None:
    found = "import importlib.util as u; print(u.find_spec('xgrammar').origin); print(u.find_spec('no_such_module'))"
    origin, other = lines(sys.executable, "-c", found)
    assert origin.endswith(str(Path("maskwright/compat/xgrammar/__init__.py")))
    assert other == "None"


def test_another_sitecustomize_runs_as_well(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('theirs')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = f"{WHOSE}; import sitecustomize; print(sitecustomize.__file__)"
    assert lines(sys.executable, "-c", command, PYTHONPATH=path) == [
        "theirs",
        "theirs",
        OURS,
        str(tmp_path / "sitecustomize.py"),
    ]


def test_a_python_without_maskwright_says_so(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = tmp_path / "bin" / "python"
    environment = environment_as_xgrammar({**os.environ, "PYTHONPATH": ""})
    done = subprocess.run([python, "-c", "print(1)\nimport xgrammar"], env=environment, capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert f"ImportError: Maskwright stands in for xgrammar, but is not installed for {python}" in done.stderr


def test_the_folder_stands_first_and_once() -> None:
    once = environment_as_xgrammar({"PYTHONPATH": "a", "HOME": "h"})
    folder, rest = once["PYTHONPATH"].split(os.pathsep)
    assert (Path(folder).name, rest, once["HOME"]) == ("at_start", "a", "h")
    assert environment_as_xgrammar(once) == once
    assert environment_as_xgrammar({}) == {"PYTHONPATH": folder}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "error: say which command to run, such as: maskwright as-xgrammar python program.py"),
        (["no-such-command"], "error: there is no command 'no-such-command'"),
        (["program.py"], "error: there is no command 'program.py': to run a file, write python program.py"),
    ],
)
def test_what_cannot_be_run(command: list[str], message: str) -> None:
    done = launch(*command)
    assert (done.returncode, done.stderr) == (2, f"maskwright: {message}\n")
