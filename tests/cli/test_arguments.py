"""Usage: what is refused before anything is loaded, and the help."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

import maskwright


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "COMMAND"),
        (
            ("generate",),
            "one of the arguments FILE --schema --regex --grammar --lark --tag --tools --choice is required",
        ),
        (("generate", "--regex", "a", "--choice", "b"), "not allowed with"),
        (("generate", "--schema", "{}", "--grammar", "root ::= ''"), "not allowed with"),
        (("generate", "--regex", "a", "--max-tokens", "0"), "'0' must be a whole number >= 1"),
        (("generate", "--regex", "a", "--max-tokens", "many"), "'many' must be a whole number"),
        (("generate", "--regex", "a", "--seed", "-1"), "'-1' must be a whole number >= 0"),
        (("generate", "--regex", "a", "--seed", str(1 << 64)), "must be < 2**63"),
        (("generate", "--regex", "a", "--temperature", "-0.1"), "'-0.1' must be a number >= 0"),
        (("generate", "--regex", "a", "--temperature", "inf"), "'inf' must be a number >= 0"),
        (("generate", "--regex", "a", "--top-p", "0"), "'0' must be a number > 0"),
        (("generate", "--regex", "a", "--top-p", "nan"), "'nan' must be a number > 0"),
        (("generate", "--regex", "a", "--reg", "b"), "did you mean --regex?"),
        (("demo", "--pace", "x"), "'x' must be a number >= 0"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_why(
    cli: Callable[..., object], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = cli(*arguments)  # type: ignore[misc]
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_help_shows_every_option_with_examples(cli: Callable[..., object]) -> None:
    code, out, _ = cli("generate", "--help")  # type: ignore[misc]
    assert code == 0
    for option in (
        "--schema",
        "--regex",
        "--grammar",
        "--choice",
        "--model",
        "--prompt",
        "--max-tokens",
        "--temperature",
    ):
        assert option in out
    for option in ("--top-p", "--seed", "--no-stats", "examples:", "exit codes:"):
        assert option in out


def test_version(cli: Callable[..., object]) -> None:
    code, out, _ = cli("--version")  # type: ignore[misc]
    assert (code, out) == (0, f"maskwright {maskwright.__version__}\n")


def test_importing_the_command_line_is_light() -> None:
    script = "import sys, maskwright.cli; print([m for m in ('torch', 'transformers', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
