"""`maskwright demo`: it holds what it shows, and looks right in a terminal and outside."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from maskwright.cli.demo.cases import CASES, judge_json, judge_log_line, judge_query

Cli = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_structure_always_holds(cli: Cli, seed: int | None) -> None:
    started = time.process_time()
    code, out, err = cli("demo", *(() if seed is None else ("--seed", str(seed))))
    assert (code, err) == (0, "")
    assert time.process_time() - started < 15
    held = re.findall(r"-- with Maskwright\n.*?\n   ([✓✗]) ", out, re.DOTALL)
    assert held == ["✓"] * len(CASES)
    for case in CASES:
        assert f"== {case.title} · {case.structure.label}" in out
    for column in ("tokens/s", "forced", "µs/mask", "1st mask"):
        assert column in out


def test_left_free_the_same_model_mostly_fails_to_parse(cli: Cli) -> None:
    _, out, _ = cli("demo")
    free = re.findall(r"-- same model, same seed, unconstrained\n.*?\n   ([✓✗]) ", out, re.DOTALL)
    assert len(free) == len(CASES)
    assert free.count("✗") >= len(CASES) - 1
    assert "✗ json.loads: " in out


def test_outside_a_terminal_there_are_no_escapes(cli: Cli) -> None:
    assert "\x1b" not in cli("demo")[1]


def run_in_terminal(**environment: str) -> str:
    """Run the demo on a pseudo-terminal and return what it wrote."""
    terminal, side = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    if not environment:
        variables.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "maskwright", "demo", "--pace", "0"]
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=variables) as process:
        os.close(side)
        shown = b""
        while select.select([terminal], [], [], 30)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # Linux says so when the other side has been closed
                break
            if not data:
                break
            shown += data
        assert process.wait(timeout=30) == 0
    os.close(terminal)
    return shown.decode()


def test_in_a_terminal_the_columns_are_side_by_side() -> None:
    pytest.importorskip("rich")
    shown = run_in_terminal()
    assert "\x1b[" in shown
    assert re.search("with Maskwright.*same model, same seed, unconstrained", shown)
    assert "Figures" in shown


def test_no_color_is_heeded() -> None:
    assert "\x1b" not in run_in_terminal(NO_COLOR="1")


@pytest.mark.parametrize(
    ("judge", "right", "wrong"),
    [
        (judge_json, '{"a": [1]}', '{"a": [1}'),
        (judge_json, "[]", "[" * 100_000),
        (judge_log_line, "2024-02-03 04:05:06 INFO [auth] job done after 7 ms", "2024-02-33 done"),
        (judge_query, "SELECT name FROM users WHERE (age < 40);", "SELECT name FROM users WHERE (age < 40;"),
        (judge_query, "SELECT city FROM users WHERE name <> '';", "SELECT 1; SELECT 2"),
        (judge_query, "SELECT age FROM users WHERE age < 10;", "SELECT \0"),
    ],
)
def test_the_judges(judge: Callable[[str], tuple[bool, str]], right: str, wrong: str) -> None:
    assert judge(right)[0]
    ok, message = judge(wrong)
    assert not ok
    assert message
