"""`maskwright generate` as a user meets it: outputs that follow, exit codes, signals and pipes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Cli = Callable[..., tuple[int, str, str]]
Shell = Callable[..., "subprocess.Popen[bytes]"]

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "role": {"enum": ["admin", "editor"]},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("seed", range(5))
def test_a_schema_is_followed(cli: Cli, seed: int) -> None:
    code, out, err = cli("generate", "--schema", json.dumps(PERSON), "--seed", str(seed))
    assert code == 0, err
    person = json.loads(out)
    assert list(person) == ["name", "age", "role"]
    assert 0 <= person["age"] <= 120
    assert person["role"] in ("admin", "editor")
    assert len(person["name"]) <= 40


@pytest.mark.parametrize(
    ("options", "layout"),
    [
        (["--indent", "2"], {"indent": 2}),
        (["--compact"], {"separators": (",", ":")}),
        (["--whitespace", ""], {"separators": (",", ":")}),
    ],
    ids=["indent", "compact", "whitespace"],
)
def test_the_layout_of_json_is_followed(cli: Cli, options: list[str], layout: dict[str, Any]) -> None:
    code, out, err = cli("generate", "--schema", json.dumps(PERSON), "--seed", "1", "--no-stats", *options)
    assert code == 0, err
    assert out.removesuffix("\n") == json.dumps(json.loads(out), ensure_ascii=False, **layout)


def test_characters_beyond_ascii_are_escaped_if_wanted(cli: Cli) -> None:
    schema = json.dumps({"enum": ["né", "ß\U0001f600"]})
    code, out, err = cli("generate", "--schema", schema, "--no-stats", "--ensure-ascii")
    assert code == 0, err
    assert out.removesuffix("\n") in (r'"n\u00e9"', r'"\u00df\ud83d\ude00"')


def test_white_space_that_json_does_not_have_is_an_error(cli: Cli) -> None:
    code, out, err = cli("generate", "--schema", "true", "--whitespace", r"\s*")
    assert (code, out) == (2, "")
    assert "--whitespace: " in err
    assert "U+000B" in err


def test_a_layout_without_a_schema_is_an_error(cli: Cli) -> None:
    code, _, err = cli("generate", "--regex", "a", "--compact")
    assert code != 0
    assert "--schema" in err


@pytest.mark.parametrize("seed", range(5))
def test_a_regex_is_followed(cli: Cli, seed: int) -> None:
    pattern = "[A-Z][a-zäöü]{2,9} ([0-9]{1,3}[.]){3}[0-9]{1,3}"
    code, out, _ = cli("generate", "--regex", pattern, "--seed", str(seed), "--no-stats", "--temperature", "1.5")
    assert code == 0
    assert re.fullmatch(pattern, out.removesuffix("\n"))


def test_a_grammar_is_followed(cli: Cli) -> None:
    grammar = 'root ::= "(" root ")" | "x"'
    code, out, _ = cli("generate", "--grammar", grammar, "--seed", "1", "--temperature", "9", "--no-stats")
    assert code == 0
    assert re.fullmatch(r"(\(*)x(\)*)\n", out)
    assert out.count("(") == out.count(")")


def test_choices_are_followed_and_all_are_reachable(cli: Cli) -> None:
    choices = ("yes", "no", "peut-être", "多分")
    arguments = [part for choice in choices for part in ("--choice", choice)]
    outs = {cli("generate", *arguments, "--seed", str(seed), "--temperature", "9")[1] for seed in range(20)}
    assert outs <= {f"{choice}\n" for choice in choices}
    assert len(outs) > 1


def test_a_seed_makes_it_repeatable(cli: Cli) -> None:
    runs = [cli("generate", "--regex", "[a-z ]{30}", "--seed", str(seed), "--no-stats") for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_temperature_0_needs_no_seed(cli: Cli) -> None:
    arguments = ("generate", "--regex", "[a-z ]{30}", "--temperature", "0", "--no-stats")
    assert cli(*arguments) == cli(*arguments)


def test_the_prompt_is_not_repeated_but_heeded(cli: Cli) -> None:
    arguments = ("generate", "--regex", "[A-Za-z ]{20}", "--temperature", "0", "--no-stats")
    assert cli(*arguments)[1] != cli(*arguments, "--prompt", "SELECT name FROM")[1]


def test_statistics_go_to_stderr(cli: Cli) -> None:
    code, out, err = cli("generate", "--regex", "(ab){3}", "--seed", "1")
    assert (code, out) == (0, "ababab\n")
    for part in ("tokens", "tokens/s", "forced", "µs per mask", "first mask"):
        assert part in err


def test_an_output_is_complete_within_max_tokens(cli: Cli) -> None:
    for seed in map(str, range(5)):
        arguments = ("--regex", "[a-z ]*done", "--max-tokens", "9", "--seed", seed, "--no-stats")
        code, out, _ = cli("generate", *arguments)
        assert code == 0
        assert re.fullmatch("[a-z ]*done\n", out)


def test_a_budget_below_the_shortest_output_is_refused_before_anything_is_written(cli: Cli) -> None:
    code, out, err = cli("generate", "--regex", "q{50}", "--max-tokens", "5", "--no-stats")
    assert (code, out) == (2, "")
    assert "the shortest output needs 50 tokens, but --max-tokens is 5" in err
    assert "hint: pass a larger --max-tokens" in err


def test_an_output_that_is_complete_at_the_last_token_is_not_cut(cli: Cli) -> None:
    assert cli("generate", "--regex", "q", "--max-tokens", "1", "--no-stats") == (0, "q\n", "")


def test_the_empty_output_may_be_all_there_is(cli: Cli) -> None:
    assert cli("generate", "--choice", "", "--no-stats") == (0, "\n", "")


def test_an_unknown_model_is_a_clean_error(cli: Cli) -> None:
    pytest.importorskip("transformers")
    code, out, err = cli("generate", "--regex", "a", "--model", "./no-such-model")
    assert (code, out) == (2, "")
    assert "no such directory" in err
    assert "hint: " in err


def test_without_transformers_a_model_is_a_clean_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    code, _, err = cli("generate", "--regex", "a", "--model", "some/model")
    assert code == 2
    assert "pip install torch transformers" in err


def test_ctrl_c_ends_with_130_and_no_traceback(shell: Shell) -> None:
    with shell("generate", "--regex", "[a-z ]*z{9}[0-9]{9}!{900000}", "--max-tokens", "9000000") as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.decode() == "\nmaskwright: interrupted\n"


def test_a_closed_pipe_ends_in_silence(shell: Shell) -> None:
    with shell("generate", "--regex", "[a-z ]*z{9}[0-9]{9}!{900000}", "--max-tokens", "9000000") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=30)
    assert process.returncode == 141
    assert err == b""


def test_text_is_streamed(shell: Shell) -> None:
    """The first bytes arrive long before the output could be complete."""
    with shell("generate", "--regex", "(ab){1000000}", "--max-tokens", "90000000") as process:
        assert process.stdout is not None
        assert process.stdout.read(4) == b"abab"
        process.kill()


def test_what_of_a_schema_does_nothing_is_a_warning(cli: Cli) -> None:
    code, out, err = cli("generate", "--schema", '{"type": "null", "propertys": {}}')
    assert (code, out.strip()) == (0, "null")
    assert err.startswith("warning: #/propertys: unknown keyword 'propertys'; did you mean 'properties'?\n")
