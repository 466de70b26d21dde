"""`maskwright convert --to LANGUAGE FILE`, and Lark as a structure to generate."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., tuple[int, str, str]]

LARK = 'start: "[" [N ("," N)*] "]"\nN: /[0-9]+/\n'


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("ebnf", 'root ::= "[" (N ("," N)*)? "]"\nN ::= [0-9]+\n'),
        ("lark", 'start: "[" (r_n ("," r_n)*)? "]"\nr_n: /[0-9]/+\n'),
        ("regex", "\\[(?:[0-9]+(?:,[0-9]+)*)?\\]\n"),
        ("ir", 'start ::= "[" (N ("," N)*)? "]"\nN ::= [0-9]+\n'),
    ],
)
def test_languages(cli: Cli, tmp_path: Path, language: str, written: str) -> None:
    path = tmp_path / "a.lark"
    path.write_text(LARK)
    assert cli("convert", "--to", language, str(path)) == (0, written, "")


def test_what_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.ebnf"
    path.write_text('root ::= "(" root? ")"')
    code, out, err = cli("convert", "--to", "regex", str(path))
    assert (code, out) == (2, "")
    assert "recursive" in err


def test_a_schema(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"const": "x"}')
    assert cli("convert", "--to", "ebnf", str(path)) == (0, 'root ::= "\\"x\\""\n', "")


def test_lark_as_a_structure(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.lark"
    path.write_text('start: "yes"\n')
    assert cli("generate", "--lark", str(path), "--no-stats") == (0, "yes\n", "")
    assert cli("generate", "--lark", 'start: "no"', "--no-stats") == (0, "no\n", "")
    code, _, err = cli("generate", "--lark", "start: nothing")
    assert code == 2
    assert "--lark:1:8: in 'start': rule 'nothing' is not defined" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    pattern = tmp_path / "a.regex"
    pattern.write_text("a+")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "maskwright", "convert", "--from", "regex", "--to", "ebnf", str(pattern)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 74
    assert done.stderr == "maskwright: error: the output cannot be written: No space left on device\n"
