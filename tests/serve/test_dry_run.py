"""A dry run says what the server would say, word by word."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from maskwright.errors import RequestError
from maskwright.serve import Settings
from maskwright.serve.dry_run import Answer, dry_run
from maskwright.serve.errors import ApiError
from maskwright.serve.server import Server
from serve.requests_of_tests import CITY, WEATHER, schema_format

MESSAGES = [{"role": "user", "content": "Hi"}]
FORMAT = {"response_format": schema_format(CITY)}
TEXT = {"text": {"format": {"type": "json_schema", "name": "x", "schema": CITY}}}
ANY = {"type": "array", "uniqueItems": True, "minItems": 3}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("chat/completions", {"messages": MESSAGES, **FORMAT, "max_tokens": 2}, "/max_tokens"),
    ("chat/completions", {"messages": MESSAGES, **FORMAT, "max_completion_tokens": 2}, "/max_completion_tokens"),
    ("chat/completions", {"messages": MESSAGES, **FORMAT, "max_tokens": 99_999_999}, "/max_tokens"),
    ("chat/completions", {"messages": MESSAGES, **FORMAT, "max_tokens": 20_000}, "/max_tokens"),
    ("chat/completions", {"messages": MESSAGES, "n": 17}, "/n"),
    ("chat/completions", {"messages": MESSAGES, "n": 100}, "/n"),
    ("chat/completions", {"messages": MESSAGES, "stop_token_ids": [99_999_999]}, "/stop_token_ids"),
    (
        "chat/completions",
        {"messages": MESSAGES, "tools": [WEATHER], "tool_choice": "required", "max_tokens": 3},
        "/max_tokens",
    ),
    ("completions", {"prompt": ["a", "b"], "n": 9}, "/n"),
    ("completions", {"prompt": [99_999_999]}, "/prompt/0"),
    ("completions", {"prompt": "a", "regex": "[0-9]{200}", "max_tokens": 1}, "/max_tokens"),
    ("responses", {"input": "Hi", **TEXT, "max_output_tokens": 2}, "/max_output_tokens"),
    ("responses", {"input": "Hi", **TEXT, "max_output_tokens": 99_999_999}, "/max_output_tokens"),
]


def run(engine: Any, body: dict[str, Any]) -> Answer:
    return asyncio.run(dry_run(Server(engine, Settings()), body))


@pytest.mark.parametrize(("path", "body", "param"), REFUSED)
def test_what_the_server_refuses(http: httpx.Client, engine: Any, path: str, body: dict[str, Any], param: str) -> None:
    reply = http.post(f"/v1/{path}", json=body)
    with pytest.raises(ApiError) as refused:
        run(engine, body)
    assert (reply.status_code, reply.json()) == (refused.value.status, refused.value.body)
    assert refused.value.param == param


def test_a_schema_alone_is_part_of_a_chat(engine: Any) -> None:
    assert run(engine, FORMAT).caveat is None
    with pytest.raises(ApiError, match="but max_tokens is 2"):
        run(engine, {**FORMAT, "max_tokens": 2})
    assert run(engine, {"response_format": schema_format(ANY)}).caveat is None
    caveat = run(engine, {"response_format": schema_format(ANY), "max_tokens": 9}).caveat
    assert str(caveat).endswith("may be cut off at max_tokens; 17 tokens are enough")


def test_a_model_without_a_chat_template_has_completions(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise RequestError("the model has no chat template")

    monkeypatch.setattr(engine, "apply_chat_template", refuse)
    assert run(engine, FORMAT).structure.compiled is not None
    with pytest.raises(ApiError, match="no chat template"):
        run(engine, {**FORMAT, "messages": MESSAGES})


@pytest.mark.parametrize("effort", ["none", "low", "high"])
def test_an_effort_is_accepted_and_a_budget_refused_where_there_is_no_reasoning(engine: Any, effort: str) -> None:
    assert run(engine, {"messages": MESSAGES, "reasoning_effort": effort}).structure.compiled is None
    assert run(engine, {"input": "Hi", "reasoning": {"effort": effort}}).structure.compiled is None
    with pytest.raises(ApiError, match="this output has no reasoning"):
        run(engine, {"messages": MESSAGES, "reasoning_effort": effort, "thinking_token_budget": 9})
