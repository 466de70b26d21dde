"""`maskwright compile FILE -o OUT`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from maskwright import Grammar
from maskwright.ir.portable import to_bytes

Cli = Callable[..., tuple[int, str, str]]


def test_a_schema(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "a.json", tmp_path / "a.mwg"
    path.write_text('{"type": "integer"}')
    code, stdout, err = cli("compile", str(path), "-o", str(out))
    assert (code, stdout) == (0, "")
    assert out.read_bytes() == to_bytes(Grammar.from_json_schema({"type": "integer"}).compact_ir)
    assert f"{len(out.read_bytes()):,} bytes" in err


def test_refused(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "a.ebnf", tmp_path / "a.mwg"
    path.write_text('root ::= "(" root ")"')
    code, _, err = cli("compile", str(path), "-o", str(out))
    assert code == 2
    assert "no output satisfies it" in err
    assert not out.exists()


def test_a_place_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.ebnf"
    path.write_text('root ::= "a"')
    code, _, err = cli("compile", str(path), "-o", str(tmp_path))
    assert code == 2
    assert "cannot write" in err
