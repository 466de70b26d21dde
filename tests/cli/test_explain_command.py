"""`maskwright explain`: the place, the reason and the way on, as text and as JSON; and what is wrong usage."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from maskwright.cli.texts import marked

Cli = Callable[..., tuple[int, str, str]]
PERSON = json.dumps(
    {
        "type": "object",
        "properties": {"age": {"type": "integer", "minimum": 3}},
        "required": ["age"],
        "additionalProperties": False,
    }
)
CONTENT = {"type": "json_schema", "json_schema": json.loads(PERSON)}
TAG = json.dumps({"format": {"type": "tag", "begin": "<a>", "content": CONTENT, "end": "</a>"}})
TOOLS = json.dumps([{"type": "function", "function": {"name": "add", "parameters": json.loads(PERSON)}}])
MARKUP = 'root ::= "<" tag=[a-z]+ ">" "</" $tag ">"'


def test_a_caret_the_keyword_and_the_way_on(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "person.json"
    path.write_text(PERSON)
    code, out, err = cli("explain", "--schema", str(path), "--text", '{"age": 1}')
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "line 1, column 10 (byte 9): found `}`",
        '    {"age": 1}',
        "             ^",
        "  expected: a digit",
        f"  {path}: by /properties/age/minimum, which asks for `3`",
        "  valid here: 0}",
    ]
    assert cli("explain", "--schema", str(path), "--text", '{"age": 10}') == (0, "valid\n", "")


@pytest.mark.parametrize(
    ("structure", "rejected", "column", "origin", "valid"),
    [
        (("--grammar", 'root ::= "a" digits\ndigits ::= [0-9]+'), "ax", 2, {"rule": "root", "line": 1}, "a0"),
        (("--grammar", MARKUP), "<ab></ac>", 8, {"rule": "root", "line": 1}, "<ab></ab>"),
        (("--lark", "start: pair\npair: NUM NUM\nNUM: /[0-9]/"), "1x", 2, {"rule": "pair", "line": 2}, "12"),
        (("--regex", r"\d{2}-(foo|bar)"), "12-bax", 6, {"part": "r)", "column": 14}, "12-bar"),
        (("--regex", "ab*"), "abc", 3, {"pointer": None, "part": "", "column": 4}, "ab"),
        (("--choice", "yes", "--choice", "no"), "nah", 2, {"rule": None}, "no"),
        (
            ("--tag", TAG),
            '<a>{"age": 1}</a>',
            13,
            {"pointer": "/format/content/json_schema/properties/age/minimum"},
            '<a>{"age": 3}</a>',
        ),
        (
            ("--tools", TOOLS, "--model-family", "hermes", "--tool-choice", "required"),
            '<tool_call>\n{"name": "add", "arguments": {"age": 1}}',
            39,
            {"keyword": "minimum"},
            None,
        ),
    ],
)
def test_every_front_end(
    cli: Cli, structure: tuple[str, ...], rejected: str, column: int, origin: dict[str, object], valid: str | None
) -> None:
    code, out, err = cli("explain", *structure, "--text", rejected, "--json")
    assert (code, err) == (1, "")
    said = json.loads(out)
    assert (said["valid"], said["reason"], said["column"]) == (False, "structure", column)
    assert {key: said["origin"][key] for key in origin} == origin
    assert "continuation_token_ids" not in said
    whole = rejected.encode()[: said["offset"]].decode() + said["continuation"]
    assert cli("explain", *structure, "--text", whole) == (0, "valid\n", "")
    if valid is not None:
        assert cli("explain", *structure, "--text", valid, "--json") == (0, '{\n  "valid": true\n}\n', "")


def test_a_file_and_its_last_line_break(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"12\n")
    assert cli("explain", "--regex", "[0-9]+", "--text-file", str(path))[0] == 0
    assert cli("explain", "--regex", r"[0-9]+\n", "--text-file", str(path))[0] == 0
    marked = tmp_path / "marked.txt"
    marked.write_text("12", encoding="utf-8-sig")
    assert cli("explain", "--regex", "[0-9]+", "--text-file", str(marked))[0] == 0
    marked.write_text("12", encoding="utf-16")
    assert "this is UTF-16" in cli("explain", "--regex", "[0-9]+", "--text-file", str(marked))[2]
    code, out, _ = cli("explain", "--regex", "[0-9]+x", "--text-file", str(path))
    assert code == 1
    assert out.startswith("line 1, column 3 (byte 2): the text ends too early")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\xff")))
    code, out, _ = cli("explain", "--regex", "x+", "--text-file", "-")
    assert code == 1
    assert "found `\\xff`" in out


def test_a_budget_and_a_tokenizer(cli: Cli) -> None:
    arguments = ("explain", "--schema", PERSON, "--tokenizer", "embedded", "--max-tokens", "8")
    assert cli(*arguments, "--text", '{"age": 12}')[0] == 0
    code, out, _ = cli(*arguments, "--text", '{"age": 12345678901234}')
    assert code == 1
    assert "no output that goes on with it fits into --max-tokens" in out
    said = json.loads(cli(*arguments, "--text", '{"age": 12345678901234}', "--json")[1])
    assert said["reason"] == "budget"
    assert said["continuation"].endswith("}")
    assert said["continuation_token_ids"]
    code, out, _ = cli(*arguments, "--text", '{"age": 12')
    assert code == 1
    assert "the text ends too early" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--regex", "a"), "one of the arguments --text --text-file is required"),
        (("--text", "a"), "one of the arguments FILE --schema"),
        (("--regex", "(", "--text", "a"), "--regex:1:1: the group is not closed"),
        (("--schema", '{"type": 1}', "--text", "a"), "at #/type"),
        (("--regex", "a", "--text", "a", "--max-tokens", "3"), "--max-tokens needs --tokenizer"),
        (("--regex", "aaaa", "--text", "a", "--max-tokens", "1", "--tokenizer", "embedded"), "needs 4 tokens"),
        (("--regex", "a", "--text", "a", "--tokenizer", "nowhere.json"), "no such file: 'nowhere.json'"),
        (("--regex", "a", "--text", "a", "--tokenizer", __file__), "give a tokenizer.json"),
        (("--regex", "a", "--text-file", "nowhere.txt"), "--text-file: cannot read 'nowhere.txt': No such file"),
        (("--schema", "-", "--text-file", "-"), "--schema and --text-file cannot both be stdin"),
        (("--regex", "a", "--text", "a", "--compact"), "layout and schema options need"),
    ],
)
def test_wrong_usage(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = cli("explain", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_hostile_text_cannot_write_to_the_terminal(cli: Cli) -> None:
    code, out, _ = cli("explain", "--regex", "\x1b\\[31mx", "--text", "\x1b[31my\x07")
    assert code == 1
    assert "\x1b" not in out
    assert "\x07" not in out


def test_the_caret_stands_under_the_character() -> None:
    assert marked("日本x".encode(), 6) == ("日本x", "    ^")
    assert marked("e\u0301x".encode(), 3) == ("e\u0301x", " ^")
    assert marked(b"a\tb\nc", 2) == ("a b", "  ^")
    line, caret = marked(b"a" * 500 + b"!" + b"b" * 500, 500)
    assert line[len(caret) - 1] == "!"
    assert len(line) < 110
    assert marked(b"", 0) == ("", "^")
