"""`maskwright serve`: options, and `--dry-run`."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli import main
from maskwright.cli.serve import _served_name, _settings
from maskwright.cli.serve_arguments import add_serve

for name in ("starlette", "uvicorn", "prometheus_client", "pydantic"):
    pytest.importorskip(name, reason="needs the extra `serve`")

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def dry_run(folder: Path, data: Any, *options: str) -> int:
    path = folder / "given.json"
    path.write_text(json.dumps(data))
    return main(["serve", *options, "--dry-run", str(path)])


def test_dry_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dry_run(tmp_path, SCHEMA) == 0
    assert "given.json: accepted, compiled in" in capsys.readouterr().out
    assert dry_run(tmp_path, {"type": "strng"}) == 1
    out = capsys.readouterr().out
    assert "refused with HTTP 400 at /response_format/json_schema/schema/type: " in out


def test_a_request_as_a_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    for request, place in (
        ({"messages": messages, "regex": "[0-9"}, "/regex"),
        ({"messages": [], "regex": "[0-9]"}, "/messages"),
        ({"messages": messages, "temprature": 0}, "/temprature"),
        ({"response_format": {"type": "json_object"}, "max_tokens": 1, "max_completion_tokens": 2}, "/max_tokens"),
        ({"input": "Hi", "max_tokens": 5}, "/max_tokens"),
        ({"prompt": "Hi", "n": 0}, "/n"),
        ({"messages": messages, "n": 100}, "/n"),
        ({"response_format": {"type": "json_object"}, "max_tokens": 1}, "/max_tokens"),
    ):
        assert dry_run(tmp_path, request) == 1
        assert f"refused with HTTP 400 at {place}: " in capsys.readouterr().out
    assert dry_run(tmp_path, {"input": "Hi", "text": {"format": {"type": "json_object"}}}) == 0
    assert dry_run(tmp_path, {"prompt": "Hi", "regex": "[0-9]"}) == 0
    assert dry_run(tmp_path, {"tools": [{"type": "function", "function": {"name": "f"}}]}) == 0


def test_a_dry_run_says_what_may_be_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "array", "uniqueItems": True, "minItems": 3}
    response_format = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    asked = {"response_format": response_format, "max_tokens": 9}
    assert dry_run(tmp_path, asked) == 0
    assert "  warning: a list of distinct items has no token budget here" in capsys.readouterr().out


@pytest.mark.parametrize("value", [{}, {"json": None}, {"json_object": False}])
def test_a_dry_run_of_structured_outputs_with_nothing_set(tmp_path: Path, value: Any) -> None:
    assert dry_run(tmp_path, {"structured_outputs": value}) == 0


def test_a_relaxed_dry_run(tmp_path: Path) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "object", "maxProperties": 3}}
    assert dry_run(tmp_path, schema) == 1
    assert dry_run(tmp_path, schema, "--relax") == 0


NO_SETTINGS = {"--help", "--model", "--max-model-len", "--host", "--port", "--log-format", "--dry-run"}
SETTINGS = {
    "--served-model-name": ("served_names", "mine", ("mine",)),
    "--tool-format": ("tool_format", "qwen_3", "qwen_3"),
    "--model-family": ("tool_format", "qwen_3", "qwen_3"),
    "--strict": ("strict", None, True),
    "--relax": ("relax", None, True),
    "--api-key": ("api_keys", "secret", ("secret",)),
    "--allow-host": ("allowed_hosts", "box", ("box",)),
    "--allow-origin": ("allowed_origins", "https://a.example", ("https://a.example",)),
    "--max-queue-seconds": ("max_queue_seconds", "7", 7.0),
    "--max-request-seconds": ("max_request_seconds", "7", 7.0),
    "--drain-seconds": ("drain_seconds", "7", 7.0),
}


def parser() -> argparse.ArgumentParser:
    commands = argparse.ArgumentParser().add_subparsers()
    add_serve(commands)
    return commands.choices["serve"]


def options_of_settings() -> list[str]:
    found = [name for action in parser()._actions for name in action.option_strings]
    return sorted(name for name in found if name.startswith("--") and name not in NO_SETTINGS)


@pytest.mark.parametrize("option", options_of_settings())
def test_each_option_is_a_setting(option: str) -> None:
    name, text, value = SETTINGS.get(option, (option[2:].replace("-", "_"), "7", 7))
    arguments = parser().parse_args([option] if text is None else [option, text])
    assert getattr(_settings(arguments, "embedded"), name) == value


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--tool-format", "nonsense"], "--tool-format: unknown model or model family 'nonsense'"),
        (["--api-key", "a b"], "--api-key: "),
        (["--api-key", ""], "is the variable that it comes from set?"),
        (["--allow-host", "http://box"], "--allow-host: "),
        (["--allow-origin", "https://app.example/"], "--allow-origin: 'https://app.example/' is not an origin"),
        (["--served-model-name", ""], "--served-model-name: "),
        (["--max-queue-seconds", "0"], "--max-queue-seconds"),
    ],
)
def test_mistakes(options: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "0", *options]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "keys"), [("a", ("a",)), ("a,b", ("a", "b")), (" a, b\n", ("a", "b")), ("a,,b,", ("a", "b"))]
)
def test_keys_from_the_environment(text: str, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKWRIGHT_API_KEY", text)
    assert _settings(parser().parse_args([]), "embedded").api_keys == keys
    assert _settings(parser().parse_args(["--api-key", "c"]), "embedded").api_keys == ("c", *keys)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "MASKWRIGHT_API_KEY holds no key\n  hint: unset it to serve without keys"),
        (" , ", "MASKWRIGHT_API_KEY holds no key"),
        ("a b", "MASKWRIGHT_API_KEY: an API key contains a space"),
    ],
)
def test_mistakes_in_the_environment(
    text: str, part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MASKWRIGHT_API_KEY", text)
    assert main(["serve", "--port", "0"]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--port", "{taken}"], ["cannot listen on 127.0.0.1:{taken}: Address already in use", "another --port"]),
        (["--port", "65536"], ["cannot listen on 127.0.0.1:65536", "another --port"]),
        (["--host", "192.0.2.1"], ["cannot listen on 192.0.2.1:8000", "an address of this machine as --host"]),
        (["--host", "a" * 70], ["cannot listen on aaa", "an address of this machine as --host"]),
    ],
)
def test_addresses_that_cannot_be_had(
    options: list[str], parts: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found before the model is loaded."""
    monkeypatch.setattr("maskwright.cli.serve._engine", lambda *_: pytest.fail("the model was loaded"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", *(each.format(taken=port) for each in options)]) == 2
    shown = capsys.readouterr().err
    for part in parts:
        assert part.format(taken=port) in shown


@pytest.mark.parametrize("options", [["--max-running", "0"], ["--port", "-1"], ["--max-waiting", "x"]])
def test_wrong_usage(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", *options])
    assert "must be a whole number >=" in capsys.readouterr().err


def test_the_name_of_a_folder_is_that_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "my-model").mkdir()
    assert _served_name(str(tmp_path / "my-model")) == "my-model"
    assert _served_name("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "maskwright serve --dry-run person.json" in capsys.readouterr().out


def test_dry_runs_go_on_after_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('{"type": ')
    assert main(["serve", "--dry-run", "/nowhere.json", str(cut), json.dumps(SCHEMA), '{"type": "strng"}']) == 2
    out = capsys.readouterr().out
    assert "unreadable: --dry-run: cannot read '/nowhere.json'" in out
    assert "cut.json:1:10: not valid JSON" in out
    assert "--dry-run: accepted" in out
    assert "--dry-run: refused with HTTP 400" in out


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "prometheus_client" else name)
    assert main(["serve"]) == 2
    assert "hint: pip install prometheus-client\n" in capsys.readouterr().err
    assert main(["serve", "--dry-run", "{}"]) == 2
    assert "hint: pip install prometheus-client; maskwright check FILE needs none of them" in capsys.readouterr().err
