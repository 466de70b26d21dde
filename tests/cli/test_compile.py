"""`maskwright compile FILE -o OUT`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from maskwright import Grammar, TokenizerInfo
from maskwright.ir.portable import to_bytes
from maskwright.structural_tag import get_model_structural_tag

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
    assert err.startswith(f"maskwright: error: {path}:1:1: in 'root': no text matches this rule")
    assert not out.exists()


def test_a_place_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.ebnf"
    path.write_text('root ::= "a"')
    code, _, err = cli("compile", str(path), "-o", str(tmp_path))
    assert code == 2
    assert "cannot write" in err


TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    names = {3: "<tool_call>", 5: "</tool_call>"}
    added = [{"id": i, "content": name, "special": True} for i, name in names.items()]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": added, "model": {}}))
    return str(tmp_path / "tokenizer.json")


def specials() -> TokenizerInfo:
    tokens = ["", "", "", "<tool_call>", "", "</tool_call>"]
    return TokenizerInfo.from_vocab(tokens, special_token_ids=[3, 5], stop_token_ids=[])


def test_tools_with_special_tokens(cli: Cli, tmp_path: Path, tokenizer: str) -> None:
    path, out = tmp_path / "tools.json", tmp_path / "a.mwg"
    path.write_text(json.dumps(TOOLS))
    options = ("--from", "tools", "--model-family", "hermes", "--tool-choice", "required")
    code, _, err = cli("compile", str(path), *options, "--tokenizer", tokenizer, "-o", str(out))
    assert code == 0, err
    tag = get_model_structural_tag("hermes", TOOLS, "required")
    bound = to_bytes(Grammar.from_structural_tag(tag, tokenizer_info=specials()).compact_ir)
    assert out.read_bytes() == bound
    code, _, err = cli("compile", str(path), *options, "-o", str(out))
    assert code == 0, err
    assert out.read_bytes() == to_bytes(Grammar.from_structural_tag(tag).compact_ir) != bound


def test_a_tag(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "tag.json", tmp_path / "a.mwg"
    tag = {"format": {"type": "const_string", "value": "hi"}}
    path.write_text(json.dumps(tag))
    code, _, err = cli("compile", str(path), "--from", "tag", "-o", str(out))
    assert code == 0, err
    assert out.read_bytes() == to_bytes(Grammar.from_structural_tag(tag).compact_ir)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("[]", ["--from", "tools"], "--from tools needs --model-family"),
        ("{", ["--from", "tag"], "not valid JSON"),
        ('{"format": {"type": "x"}}', ["--from", "tag"], "/format/type"),
        ('{"type": "integer"}', ["--tool-choice", "auto"], "--tool-choice needs --from tools"),
        ('{"type": "integer"}', ["--tokenizer", "t.json"], "--tokenizer needs --from tag or --from tools"),
        ('{"format": {"type": "any_text"}}', ["--from", "tag", "--tokenizer", "FILE"], "not a valid tokenizer.json"),
    ],
)
def test_refused_tags_and_tools(cli: Cli, tmp_path: Path, content: str, options: list[str], message: str) -> None:
    path, out, odd = tmp_path / "a.json", tmp_path / "a.mwg", tmp_path / "odd.json"
    path.write_text(content)
    odd.write_text('{"added_tokens": [{}]}')
    given = [str(odd) if each == "FILE" else each for each in options]
    code, _, err = cli("compile", str(path), *given, "-o", str(out))
    assert code == 2
    assert message in err
    assert not out.exists()
