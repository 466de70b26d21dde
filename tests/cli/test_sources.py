"""Schemas, grammars, regexes: where they may come from, and how their mistakes are told."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from maskwright import Grammar
from maskwright.cli.errors import CommandError
from maskwright.cli.sources import parse_json

Cli = Callable[..., tuple[int, str, str]]


def test_a_schema_from_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_bytes(b"\xef\xbb\xbf" + '{"enum": ["süß"]}'.encode())
    assert cli("generate", "--schema", str(path), "--no-stats") == (0, '"süß"\n', "")


def test_a_schema_in_place(cli: Cli) -> None:
    assert cli("generate", "--schema", ' {"const": "a"}', "--no-stats") == (0, '"a"\n', "")


def test_how_numbers_are_written(cli: Cli) -> None:
    schema = '{"const": 2.0, "type": "number"}'
    assert cli("generate", "--schema", schema, "--no-stats") == (0, "2.0\n", "")
    code, text, _ = cli("generate", "--schema", schema, "--no-stats", "--numbers", "any")
    assert (code, float(text)) == (0, 2)
    assert text != "2.0\n"


def test_a_schema_from_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"const": "b"}')))
    assert cli("generate", "--schema", "-", "--no-stats") == (0, '"b"\n', "")


def test_a_grammar_from_a_file_or_in_place(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "grammar.ebnf"
    path.write_text('root ::= "yes"\n')
    assert cli("generate", "--grammar", str(path), "--no-stats") == (0, "yes\n", "")
    assert cli("generate", "--grammar", 'root ::= "no"', "--no-stats") == (0, "no\n", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"const": "b"}'),
        ("a.ebnf", 'root ::= "\\"b\\""'),
        ("a: b.lark", 'start: /"b"/'),
        ("a.regex", '"b"\n'),
    ],
)
def test_a_file_given_alone_is_read_once(
    cli: Cli, name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text(text)
    opened: list[Path] = []
    read_bytes = Path.read_bytes

    def reading(file: Path) -> bytes:
        opened.append(file)
        return read_bytes(file)

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert cli("generate", str(path), "--no-stats") == (0, '"b"\n', "")
    assert opened.count(path) == 1


def test_a_regex_from_a_file_by_its_ending(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("two.regex", "two.re", "two"):
        (tmp_path / name).write_text("2{2}\n")
    for given in (("--regex", "two.regex"), ("--regex", "two.re"), ("two.regex",)):
        assert cli("generate", *given, "--no-stats") == (0, "22\n", "")
        assert cli("explain", *given, "--text", "22")[:2] == (0, "valid\n")
    assert cli("generate", "--regex", "two", "--no-stats") == (0, "two\n", "")
    assert cli("generate", "--regex", "no.re", "--no-stats")[1][:2] == "no"
    (tmp_path / "windows.regex").write_bytes(b"two\r\n")
    assert cli("generate", "windows.regex", "--no-stats") == (0, "two\n", "")
    assert cli("convert", "windows.regex", "--to", "regex") == (0, "two\n", "")
    (tmp_path / "wrong.regex").write_text("a\n(b")
    assert "error: wrong.regex:2:1" in cli("generate", "--regex", "wrong.regex")[2]


def test_a_file_alone_is_read_as_its_ending_says(cli: Cli, tmp_path: Path) -> None:
    for name, text in (("a.json", '{"const": 1}'), ("a.gbnf", 'root ::= "1"'), ("a.lark", 'start: "1"')):
        (tmp_path / name).write_text(text)
        assert cli("generate", str(tmp_path / name), "--no-stats") == (0, "1\n", "")
        assert cli("explain", str(tmp_path / name), "--text", "1")[:2] == (0, "valid\n")
    assert "a.txt: unknown language" in cli("generate", "a.txt")[2]
    assert "FILE: cannot read 'a.json'" in cli("explain", "a.json", "--text", "1")[2]


@pytest.mark.parametrize("option", ["--schema", "--grammar"])
@pytest.mark.parametrize("argument", ["no-such-file", "", ".", "nul\0byte", "long" * 2000])
def test_a_file_that_cannot_be_read(cli: Cli, option: str, argument: str) -> None:
    code, out, err = cli("generate", option, argument)
    assert (code, out) == (2, "")
    assert f"error: {option}: cannot read" in err
    assert "hint: give a file" in err
    assert len(err) < 400


def test_a_file_that_is_not_utf8(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_bytes(b'{"const": "\xff"}')
    code, _, err = cli("generate", "--schema", str(path))
    assert code == 2
    assert "schema.json: not UTF-8: invalid start byte at byte 11\n  hint: save it as UTF-8" in err
    path.write_text('{"const": 1}', "utf-16")
    assert "schema.json: this is UTF-16\n  hint: save it as UTF-8" in cli("generate", "--schema", str(path))[2]


def test_a_compiled_grammar(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "grammar.mwg"
    path.write_bytes(Grammar.from_regex("a").serialize())
    code, _, err = cli("generate", "--schema", str(path))
    assert code == 2
    assert "grammar.mwg: this is a compiled grammar\n  hint: give the file that it was compiled from" in err


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('{"a": [1,}', ":1:10:", "Expecting value"),
        ('{"a": 1,}', ":1:", "hint: remove the comma"),
        ('{\n  "type": "object",\n  "x" 1\n}', ":3:7:", "Expecting ':' delimiter"),
        ('{"a": 1} 2', ":1:10:", "Extra data"),
        ('{"a": "', ":1:7:", "Unterminated string"),
        ('{"minimum": NaN}', ":", "NaN is not a JSON value"),
        ('{"a": ' * 100_000, ":", "nested too deeply"),
        ('{"a": ' + "9" * 10_000 + "}", ":", "integer string conversion"),
        ('{"' + "a" * 10_000 + "\n", ":1:10003:", "Invalid control character"),
    ],
)
def test_a_schema_that_is_not_json(text: str, place: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_json("s.json", text)
    message = str(caught.value)
    assert message.startswith(f"s.json{place}")
    assert reason in message
    assert len(message) < 400
    if "\n" in message:
        shown, caret = [line for line in message.splitlines()[1:] if not line.startswith("  hint: ")]
        assert len(caret) <= len(shown) + 1


@pytest.mark.parametrize(
    ("option", "argument", "message"),
    [
        ("--regex", "a(b", "--regex:1:"),
        ("--grammar", 'root ::= "a', "--grammar:1:"),
        ("--grammar", 'top ::= "a"', "root"),
        ("--schema", '{"type": "strin"}', "--schema: at #"),
        ("--schema", "false", "--schema: "),
    ],
)
def test_mistakes_inside_are_the_typed_errors_in_one_paragraph(
    cli: Cli, option: str, argument: str, message: str
) -> None:
    code, out, err = cli("generate", option, argument)
    assert (code, out) == (2, "")
    assert err.startswith("maskwright: error: ")
    assert message in err
    assert "Traceback" not in err
    assert "\n\n" not in err


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"const": 1}}}}}


def test_tools(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([TOOL]))
    for choice in ("required", "f"):
        options = ("--model-family", "hermes", "--tool-choice", choice, "--strict", "--compact", "--no-stats")
        code, out, err = cli("generate", "--tools", str(path), *options, "--seed", "1", "--max-tokens", "200")
        assert (code, err) == (0, "")
        call = json.loads(out.split("<tool_call>")[1].split("</tool_call>")[0])
        assert call["name"] == "f"
        assert call["arguments"] in ({}, {"a": 1})


def test_a_structural_tag(cli: Cli) -> None:
    tag = {"format": {"type": "json_schema", "json_schema": {"type": "object"}}}
    assert cli("generate", "--tag", json.dumps(tag), "--strict", "--compact", "--no-stats") == (0, "{}\n", "")


def test_strict(cli: Cli) -> None:
    assert cli("generate", "--schema", '{"type": "object"}', "--strict", "--compact", "--no-stats") == (0, "{}\n", "")


def test_hints_name_options_of_the_command_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"type": "array", "items": {"type": "object", "maxProperties": 3}, "uniqueItems": true}')
    for command in (("generate", "--schema", str(path)), ("convert", str(path), "--to", "ebnf"), ("lint", str(path))):
        code, _, err = cli(*command)
        assert code == 2
        assert "--relax" in err
        assert "on_unsupported" not in err
    assert cli("convert", str(path), "--to", "ebnf", "--relax")[0] == 0
    wrong = tmp_path / "my.lark"
    wrong.write_text('start: "a"')
    for given in (("--grammar", str(wrong)), ("--grammar", 'start: "::="')):
        assert "use --lark;" in cli("generate", *given)[2]


def test_layout_where_a_file_is_read(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"const": [1, 2]}')
    assert cli("convert", str(path), "--to", "regex", "--compact")[1] == "\\[1,2\\]\n"
    assert cli("lint", str(path), "--indent", "2")[0] == 0
    assert cli("compile", str(path), "--compact", "-o", str(tmp_path / "out"))[0] == 0
    path = tmp_path / "my.lark"
    path.write_text('start: "a"')
    assert "layout and schema options need a JSON Schema" in cli("lint", str(path), "--compact")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--regex", "a", "--strict"), "need --schema, --tag or --tools"),
        (("--regex", "a", "--compact"), "need --schema, --tag or --tools"),
        (("--regex", "a", "--model-family", "hermes"), "--model-family needs --tools"),
        (("--schema", "{}", "--tool-choice", "none"), "--tool-choice needs --tools"),
        (("--tools", "[]"), "--tools needs --model-family"),
        (("--tools", "[", "--model-family", "hermes"), "not valid JSON"),
        (("--tools", "{}", "--model-family", "hermes"), "cannot read"),
        (("--tools", "[]", "--model-family", "hermez"), "hermes"),
        (("--tools", "[]", "--model-family", "hermes", "--tool-choice", "g"), "unknown tool 'g'"),
        (("--tag", '{"format": {"type": "tga"}}'), "did you mean"),
    ],
)
def test_wrong_tools_and_tags(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = cli("generate", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_what_is_no_schema(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    for text, message in (("[]", "not an array"), ('"a"', 'not "a"'), ('{"a', "not valid JSON")):
        path.write_text(text)
        for command in (
            ("generate", "--schema", str(path)),
            ("convert", str(path), "--to", "ebnf"),
            ("lint", str(path)),
            ("compile", str(path), "-o", str(tmp_path / "out")),
            ("check", str(path)),
        ):
            code, out, err = cli(*command)
            assert code == 2
            assert message in out + err
            assert "pass a dict" not in out + err
            if text == "[]":
                ways = {"generate": "given as --tools FILE", "compile": "given as --from tools"}
                assert [way for way in ways.values() if way in out + err] == [*filter(None, [ways.get(command[0])])]


def test_hints_of_commands_that_take_a_file_name_from(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "grammar"
    path.write_text('root ::= "a"')
    for command in (("lint",), ("convert", "--to", "ebnf"), ("compile", "-o", str(tmp_path / "out"))):
        code, _, err = cli(*command, "--from", "lark", str(path))
        assert code == 2
        assert "use --from ebnf" in err
        assert "--grammar" not in err
    for command in (("show", "nope.lark", "-o", "x.html"), ("lint", "nope.lark")):
        assert "error: FILE: cannot read 'nope.lark'" in cli(*command)[2]
