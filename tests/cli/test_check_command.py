"""`maskwright check FILE…`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli import check as command

Cli = Callable[..., tuple[int, str, str]]
FINE = {"type": "object", "title": "t", "properties": {"a": {"type": "null"}}}
UNIQUE = {"type": "array", "uniqueItems": True, "items": {"maxItems": 2}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "fine.json").write_text(json.dumps(FINE))
    (tmp_path / "deeper" / "unique.json").write_text(json.dumps(UNIQUE))
    (tmp_path / "no-schema.txt").write_text("")
    return tmp_path


def test_one_file_shows_every_keyword(cli: Cli, folder: Path) -> None:
    path = folder / "fine.json"
    assert cli("check", str(path)) == (
        0,
        f"{path}: enforced\n  enforced    #/type\n  annotation  #/title: it is an annotation\n"
        "  enforced    #/properties\n"
        "  enforced    #/properties/a/type\n3 enforced, 1 annotation, 0 relaxed, 0 refused\n",
        "",
    )


def test_the_text_of_a_schema(cli: Cli) -> None:
    code, out, _ = cli("check", '{"type": "null"}')
    assert (code, out.splitlines()[0]) == (0, "FILE: enforced")
    lines = cli("check", '{"type" ' + " " * 5000 + "1}")[1].splitlines()
    assert lines[0] == "FILE: unreadable"
    assert lines[1].startswith("  FILE:1:5009: not valid JSON")
    assert "cannot read '': no name is given" in cli("check", "")[1]


def test_a_folder_shows_problems_and_a_table(cli: Cli, folder: Path) -> None:
    code, out, err = cli("check", str(folder))
    assert (code, err) == (1, "")
    assert f"{folder / 'deeper' / 'unique.json'}: refused\n  refused     #/uniqueItems: " in out
    assert "fine.json" not in out
    assert "\n      1  refused     uniqueItems           items that are arrays or objects" in out
    assert out.endswith("\n2 schemas: 1 enforced, 0 relaxed, 1 refused, 0 unreadable, 0 with warnings\n")
    relaxed = cli("check", str(folder), "--relax")[1]
    assert relaxed.endswith("1 enforced, 1 relaxed, 0 refused, 0 unreadable, 0 with warnings\n")


MISSPELLED = {"type": "object", "title": "t", "propertys": {"a": {}}, "requird": ["a"]}


def test_warnings_stand_in_the_verdict_and_fail_if_asked_to(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(MISSPELLED))
    code, out, err = cli("check", str(path))
    assert (code, err) == (0, "")
    assert out == (
        f"{path}: enforced, 2 warnings\n  enforced    #/type\n  annotation  #/title: it is an annotation\n"
        "  warning     #/propertys: unknown keyword 'propertys'\n              hint: did you mean 'properties'?\n"
        "  warning     #/requird: unknown keyword 'requird'\n              hint: did you mean 'required'?\n"
        "1 enforced, 3 annotation, 0 relaxed, 0 refused, 2 warnings\n"
    )
    assert cli("check", "--strict", str(path))[:2] == (1, out)
    [file] = json.loads(cli("check", "--json", str(path))[1])["files"]
    assert (file["verdict"], file["warnings"]) == ("enforced", ["/propertys", "/requird"])


def test_warnings_stand_in_the_summary_of_a_folder(cli: Cli, folder: Path) -> None:
    (folder / "deeper" / "unique.json").write_text(json.dumps({"type": "string", "format": "datetime"}))
    code, out, _ = cli("check", str(folder))
    assert code == 0
    assert f"{folder / 'deeper' / 'unique.json'}: enforced, 1 warning\n  warning     #/format: misspelled" in out
    assert "\n      1  warning     format                misspelled format 'datetime'; did you mean 'date-time'?" in out
    assert out.endswith("\n2 schemas: 2 enforced, 0 relaxed, 0 refused, 0 unreadable, 1 with warnings\n")
    assert cli("check", "--strict", str(folder))[0] == 1
    (folder / "deeper" / "unique.json").write_text(json.dumps(FINE))
    assert cli("check", "--strict", str(folder))[0] == 0


def test_json(cli: Cli, folder: Path) -> None:
    (folder / "broken.json").write_text('{"type": }')
    code, out, err = cli("check", "--json", str(folder))
    assert (code, err) == (2, "")
    written: dict[str, Any] = json.loads(out)
    assert written["summary"] == {"enforced": 1, "relaxed": 0, "refused": 1, "unreadable": 1, "with_warnings": 0}
    assert {frozenset(file) for file in written["files"]} == {
        frozenset(("file", "verdict", "error", "complete", "warnings", "keywords"))
    }
    broken, unique, fine = written["files"]
    assert broken["verdict"] == "unreadable"
    assert "broken.json:1:10: not valid JSON" in broken["error"]
    assert unique["keywords"][1]["pointer"] == "/uniqueItems"
    assert unique["keywords"][1]["suggestion"]
    assert fine["keywords"][0] == {
        "pointer": "/type", "keyword": "type", "outcome": "enforced", "reason": None, "suggestion": None
    }  # fmt: skip


def test_bad_input(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("check", str(tmp_path / "none.json"))
    assert code == 2
    assert "none.json: unreadable\n  FILE: cannot read" in out
    code, out, err = cli("check", str(tmp_path))
    assert (code, out) == (2, "")
    assert "no file in this folder ends in .json" in err
    (tmp_path / "a.json").write_text('{"type": "strin"}')
    code, out, _ = cli("check", str(tmp_path))
    assert code == 2
    assert "at #/type: type must be" in out


def test_a_grammar_is_sent_to_lint(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.lark"
    path.write_text('start: "a"')
    code, out, err = cli("check", str(path))
    assert code == 2
    assert "check reads JSON Schemas\n    hint: for this file, use maskwright lint" in out + err


def test_names_do_not_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"\x1b[31m": 1}))
    code, out, _ = cli("check", str(tmp_path / "a.json"))
    assert code == 0
    assert "\x1b" not in out


def test_a_bar_on_terminals(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich", reason="an optional dependency")
    for i in range(10):
        (folder / f"more{i}.json").write_text("true")
    monkeypatch.setattr(command.sys.stderr, "isatty", lambda: True)
    code, out, err = cli("check", "--json", str(folder))
    assert code == 1
    assert json.loads(out)["summary"]["enforced"] == 11
    assert "checking" in err
