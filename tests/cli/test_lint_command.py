"""`maskwright lint FILE`."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., tuple[int, str, str]]


def test_a_clean_grammar(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.ebnf"
    path.write_text('root ::= "a" root?')
    assert cli("lint", str(path)) == (0, "1 rule (1 recursive), 4 expressions, 0 token sets, 0 problems\n", "")


def test_problems_have_places(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.lark"
    path.write_text('start: "a" | b\n  \n  ?b: b "x"\nc: "y"\n')
    code, out, err = cli("lint", str(path))
    assert (code, err) == (1, "")
    assert f"{path}:3:4: unproductive: rule 'b' matches nothing\n  hint: " in out
    assert f"{path}:4:1: unused: rule 'c' is never used" in out


def test_warnings_have_their_own_places_and_hints_are_counted(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.gbnf"
    path.write_text('root ::= e "\\n"\ne ::= e ["+" "-"] e | [0-9]\n')
    code, out, _ = cli("lint", str(path))
    assert code == 1
    assert f"{path}:2:9: warning: the class matches one character" in out
    assert f"{path}:2:1: ambiguous: rule 'e' begins and ends with itself" in out
    assert out.endswith(" 1 problem, 1 hint\n")


def test_errors_have_places(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.gbnf"
    path.write_text("root ::= (a\n")
    code, out, err = cli("lint", str(path))
    assert (code, out) == (2, "")
    assert err.startswith(f"maskwright: error: {path}:1:10: in 'root': unclosed group\n  hint: add )")


def test_stdin_and_unknown_endings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"type": "null"}')))
    assert cli("lint", "-", "--from", "schema")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    code, _, err = cli("lint", "-")
    assert code == 2
    assert "unknown language" in err
    assert cli("lint", "no-such-file.lark")[0] == 2


@pytest.mark.parametrize("command", ["lint", "convert", "compile", "explain", "show"])
def test_each_command_says_which_keyword_looks_misspelled(cli: Cli, tmp_path: Path, command: str) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"type": "null", "requird": ["a"]}')
    given = {
        "lint": (str(path),),
        "convert": (str(path), "--to", "ebnf"),
        "compile": (str(path), "-o", str(tmp_path / "a.mwg")),
        "explain": ("--schema", str(path), "--text", "null"),
        "show": (str(path), "-o", str(tmp_path / "a.html")),
    }
    code, out, err = cli(command, *given[command])
    assert code == 0
    assert "#/requird: unknown keyword 'requird'; did you mean 'required'?\n" in out + err
    assert "Finding(" not in out + err
