"""Run the command line in this process, or in one of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from maskwright.cli import main

COMMAND = (sys.executable, "-m", "maskwright")


class Outcome(NamedTuple):
    """What a run left."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Outcome]:
    """Call `main` with these arguments."""

    def run(*arguments: str) -> Outcome:
        try:
            code = main(arguments)
        except SystemExit as exit_:  # how argparse ends
            code = int(exit_.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return run


@pytest.fixture
def shell() -> Callable[..., subprocess.Popen[bytes]]:
    """Start `python -m maskwright` with these arguments."""

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell starts background jobs with SIGINT ignored, and what they start inherits it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return start
