"""Where there is nothing, what is not allowed there, what is redirected nowhere, and what the log says of it."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from maskwright import __version__
from maskwright.serve.http.paths import hint_for
from maskwright.serve.observability.logs import LOGGER

PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/models", "/metrics")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/v1/models/", "did you mean /v1/models?"),
        ("//v1/models", "did you mean /v1/models?"),
        ("/models", "did you mean /v1/models? A base URL ends in /v1"),
        ("/chat/completions", "did you mean /v1/chat/completions? A base URL ends in /v1"),
        ("/v1/v1/chat/completions", "did you mean /v1/chat/completions? The base URL ends in /v1, once"),
        ("/v1/metrics", "did you mean /metrics? It is not below /v1"),
        ("/v1/chat/completions/chatcmpl-1", "what /v1/chat/completions has answered is not kept"),
        ("/llm/v1/models", "did you mean /v1/models? A proxy in front of the server must remove '/llm'"),
        ("/v1/chat/completion", "did you mean /v1/chat/completions?"),
        ("/v1/embeddings", f"the endpoints are {', '.join(PATHS)}"),
        ("/", f"the endpoints are {', '.join(PATHS)}"),
    ],
)
def test_hints(path: str, hint: str) -> None:
    assert hint_for(path, PATHS) == hint


@pytest.mark.parametrize("path", ["/v1/models/", "/v1/chat/completions/", "/static", "/v2"])
def test_nothing_is_redirected(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_such_endpoint")


@pytest.mark.parametrize(
    ("method", "path", "way_out"),
    [
        ("DELETE", "/v1/chat/completions", "POST"),
        ("GET", "/v1/responses", "POST"),
        ("POST", "/v1/models", "GET"),
        ("PUT", "/health", "GET"),
        ("POST", "/static/page.js", "GET"),
    ],
)
def test_methods(http: httpx.Client, method: str, path: str, way_out: str) -> None:
    answer = http.request(method, path)
    assert answer.status_code == 405
    error = answer.json()["error"]
    assert error["message"] == f"{method} is not allowed here. Hint: use {way_out}"
    assert error["code"] == "method_not_allowed"


def test_the_version(http: httpx.Client) -> None:
    assert http.get("/version").json() == {"version": __version__}


def test_the_log_says_what_was_refused(serving: Any, caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    monkeypatch.setattr(LOGGER, "propagate", True)
    caplog.set_level(logging.INFO, LOGGER.name)
    preflight = {"Origin": "http://app.example", "Access-Control-Request-Method": "POST"}
    with serving(api_keys=("k",)) as it, httpx.Client(base_url=it.url) as http:
        http.get("/v1/models")
        http.get("/chat/completions?key=secret")
        http.get("/", headers={"Host": "box.example:8000"})
        http.options("/v1/models", headers=preflight)
    found = [(record.getMessage(), getattr(record, "fields", {})) for record in caplog.records]
    assert [name for name, _ in found] == ["refused", "refused", "host refused", "origin refused"]
    assert found[0][1] == {"status": 401, "method": "GET", "path": "/v1/models", "error": "missing_api_key"}
    assert found[1][1]["path"] == "/chat/completions"
    assert found[2][1]["host"] == "box.example:8000"
    assert found[3][1] == {"origin": "http://app.example", "reason": "Disallowed CORS origin"}
