"""Wrong usage of the command line: the error names the argument that is wrong, and the hint works as it stands."""

from __future__ import annotations

import pytest

from maskwright.cli.arguments import parse

WRONG = [
    (["generate", "--schem", "person.json"], "did you mean --schema?"),
    (["generate", "--schema", "{}", "--max-token", "3"], "did you mean --max-tokens?"),
    (["generate", "--schema", "{}", "--min-tokens", "3"], "there is no --min-tokens; see maskwright generate --help"),
    (["generate", "--schema", "{}", "--xyzzy"], "there is no --xyzzy; see maskwright generate --help"),
    (["generate", "--choice", "yes", "no"], "repeat the option: --choice no"),
    (["explain", "--text", "a", "--choice", "yes", "no", "maybe"], "repeat the option: --choice no"),
    (["serve", "--api-key", "a", "b"], "repeat the option: --api-key b"),
    (["generate", "--schema", "{}", "person.json"], "give one of them"),
    (["generate", "--choice", "a", "--seed", "1", "person.json"], "give one of them"),
    (["check", "--relaxed", "person.json"], "did you mean --relax?"),
    (["lint", "--regex", "a"], "give the structure as FILE; see maskwright lint --help"),
    (["compile", "--model", "qwen_3", "tools.json"], "did you mean --model-family?"),
    (["serve", "--prot=80"], "did you mean --port?"),
    (["genrate"], "did you mean generate?"),
    (["genrate", "--regex", "a"], "did you mean generate?"),
    (["help"], "maskwright --help lists the commands"),
    ([], "maskwright --help lists the commands"),
    (["show", "my.lark"], "say which file to write: -o FILE"),
    (["generate", "--regex", "-?[0-9]+"], "a value that begins with - is written --regex='-…'"),
    (["explain", "--regex", "a", "--text", "-a"], "a value that begins with - is written --text='-…'"),
    (["generate", "--choice", "-a", "--choice", "b"], "a value that begins with - is written --choice='-…'"),
    (["generate", "--prompt", "--regex", "a"], "see maskwright generate --help"),
    (["generate", "--regex", "a", "--schema", "{}"], "give one of them"),
    (["generate", "--schema", "{}", "--tokenizer", "x"], "there is no --tokenizer; see maskwright generate --help"),
    (["convert", "my.lark"], "see maskwright convert --help"),
    (["generate", "--schema", "{}", "--max-tokens", "x"], "see maskwright generate --help"),
]


@pytest.mark.parametrize(("arguments", "hint"), WRONG)
def test_a_hint_says_what_was_meant(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert f"  hint: {hint}\n" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [pair[0] for pair in WRONG])
def test_an_error_is_two_lines_without_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(arguments)
    first, *_ = lines = capsys.readouterr().err.splitlines()
    assert first.startswith("maskwright")
    assert ": error: " in first
    assert len(lines) == 2
