"""What a vLLM server refuses, as errors."""

from __future__ import annotations

import json

import pytest

from maskwright.engine.vllm_errors import refusal, refusal_in_stream
from maskwright.errors import EngineError, RequestError


def body(message: str, param: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": "t", "param": param, "code": 1}})


@pytest.mark.parametrize("status", [400, 413, 414, 422])
def test_a_wrong_request(status: int) -> None:
    error = refusal(status, body("max_tokens must be >= 1", "max_tokens"))
    assert isinstance(error, RequestError)
    assert error.pointer == "/max_tokens"
    assert "max_tokens must be >= 1" in error.message
    assert (error.hint is not None) == (status in (413, 414))


@pytest.mark.parametrize(
    ("status", "can_retry"), [(401, False), (403, False), (404, False), (429, True), (500, True), (503, True)]
)
def test_what_no_request_can_change(status: int, can_retry: bool) -> None:
    error = refusal(status, body("the reason"), "12")
    assert isinstance(error, EngineError)
    assert error.can_retry == can_retry
    assert error.retry_after_s == (12.0 if can_retry else None)
    assert "the reason" in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"error": "Unauthorized"}', "Unauthorized"),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>"),
        ("", "no reason given"),
        ('{"error": {"message": null}}', "no reason given"),
        ("[" * 100_000, "[["),
        ("null", "null"),
    ],
)
def test_replies_of_other_shapes(text: str, shown: str) -> None:
    error = refusal(502, text)
    assert shown in error.message
    assert len(error.message) < 600


@pytest.mark.parametrize("header", [None, "", "soon", "-1", "\u0663"])
def test_a_time_to_retry_that_is_not_a_number(header: str | None) -> None:
    error = refusal(503, "", header)
    assert isinstance(error, EngineError)
    assert error.retry_after_s is None


def test_a_time_to_retry_is_bounded() -> None:
    error = refusal(503, "", "9" * 400)
    assert isinstance(error, EngineError)
    assert error.retry_after_s == 3600.0


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"message": "m", "code": 400}}, RequestError),
        ({"error": {"message": "m", "code": "400"}}, EngineError),
        ({"error": {"message": "m", "code": True}}, EngineError),
        ({"error": "m"}, EngineError),
        ({"error": None}, EngineError),
    ],
)
def test_events(event: object, kind: type[Exception]) -> None:
    assert type(refusal_in_stream(event)) is kind
