"""Requests over a real connection: clients that go away, limits of time and of the queue, keys, other origins."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from maskwright.engine import Output
from maskwright.engine.vllm_errors import refusal
from maskwright.errors import EngineError
from serve.requests_of_tests import CITY, chat, schema_format

HANDLE = SimpleNamespace(budget_caveat=None)
ENDLESS = chat(regex="[a-z]{16000}", max_completion_tokens=16_000)


@contextmanager
def endless(url: str, **headers: str) -> Iterator[None]:
    """A stream that is not read any further once it has begun."""
    with httpx.stream(
        "POST", f"{url}/v1/chat/completions", json={**ENDLESS, "stream": True}, headers=headers
    ) as stream:
        lines = stream.iter_lines()  # kept: a generator that is let go of closes the connection
        next(lines)
        yield


def test_a_stream_whose_client_goes_away(running: Any) -> None:
    for _ in range(3):
        with endless(running.url):
            assert running.server.gate.running == 1
        running.wait_until_idle()


def test_a_whole_reply_whose_client_goes_away(running: Any) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{running.url}/v1/chat/completions", json=ENDLESS, timeout=0.3)
    running.wait_until_idle()
    until = time.monotonic() + 20
    while running.server.engine.stats().num_running:  # the engine ends it at its next step
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_client_that_goes_away_within_its_body(running: Any, caplog: pytest.LogCaptureFixture) -> None:
    lines = (
        "POST /v1/chat/completions HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Content-Length: 9",
    )
    before = running.server.metrics.cancelled.labels("chat")._value.get()
    with socket.create_connection(running.url.removeprefix("http://").split(":")) as connection:
        connection.sendall("\r\n".join([*lines, "", "{"]).encode())
        time.sleep(0.1)
    until = time.monotonic() + 20
    while running.server.metrics.cancelled.labels("chat")._value.get() == before:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert "Traceback" not in caplog.text


def test_a_client_that_goes_away_while_it_waits(serving: Any) -> None:
    with serving(max_running=1) as it:
        with endless(it.url):
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(f"{it.url}/v1/chat/completions", json=chat(regex="a"), timeout=0.3)
            until = time.monotonic() + 20
            while it.server.gate.waiting:
                assert time.monotonic() < until
                time.sleep(0.01)
        it.wait_until_idle()
        assert httpx.post(f"{it.url}/v1/chat/completions", json=chat(regex="a")).status_code == 200


def test_a_full_queue(serving: Any) -> None:
    with serving(max_running=1, max_waiting=0) as it, endless(it.url):
        response = httpx.post(f"{it.url}/v1/chat/completions", json=chat(regex="a"))
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        assert response.json()["error"]["code"] == "queue_full"
    with serving(max_running=1, max_waiting_per_key=0) as it, endless(it.url):
        response = httpx.post(f"{it.url}/v1/completions", json={"prompt": "a"})
        assert response.status_code == 429
        assert response.json()["error"]["type"] == "rate_limit_error"


def test_waiting_takes_too_long(serving: Any) -> None:
    with serving(max_running=1, max_queue_seconds=0.1) as it, endless(it.url):
        response = httpx.post(f"{it.url}/v1/chat/completions", json=chat(regex="a"))
        assert (response.status_code, response.json()["error"]["code"]) == (503, "queue_timeout")


def test_a_request_takes_too_long(serving: Any) -> None:
    with serving(max_request_seconds=1) as it:
        response = httpx.post(f"{it.url}/v1/chat/completions", json=ENDLESS)
        assert (response.status_code, response.json()["error"]["code"]) == (504, "request_timeout")
        response = httpx.post(f"{it.url}/v1/chat/completions", json={**ENDLESS, "stream": True})
        assert response.status_code == 200
        assert response.text.rstrip().rpartition("data: ")[2].startswith('{"error":')


def test_waiting_clients_take_turns(serving: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="maskwright.serve")

    def ask(url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}", "X-Request-Id": key}
        httpx.post(f"{url}/v1/chat/completions", json=chat(regex="[a-z]{40}"), headers=headers, timeout=30)

    with serving(max_running=1, api_keys=("busy", "late")) as it:
        with endless(it.url, Authorization="Bearer busy"):
            threads = []
            for key in ("busy", "busy", "busy", "busy", "late"):
                threads.append(threading.Thread(target=ask, args=(it.url, key)))
                threads[-1].start()
                while it.server.gate.waiting < len(threads):
                    time.sleep(0.01)
        for thread in threads:
            thread.join(30)
    entries = [vars(record)["fields"] for record in caplog.records if record.getMessage() == "request"]
    done = [entry["request_id"] for entry in entries if entry["request_id"] in ("busy", "late")]
    assert len(done) == 5
    assert done.index("late") <= 1


def test_keys_guard_everything_but_health(serving: Any) -> None:
    with serving(api_keys=("secret",)) as it, httpx.Client(base_url=it.url) as http:
        for path in ("/v1/models", "/v1/models/embedded"):
            assert http.get(path).status_code == 401
        for path in ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/tokenize", "/detokenize"):
            response = http.post(path, json={})
            assert (response.status_code, response.json()["error"]["code"]) == (401, "missing_api_key")
        for path in ("/health", "/ready", "/metrics", "/", "/static/page.js"):
            assert http.get(path).status_code == 200
        assert http.get("/v1/models", headers={"Authorization": "Bearer secret"}).status_code == 200


def test_other_origins(serving: Any, http: httpx.Client) -> None:
    asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in http.options("/v1/chat/completions", headers=asked).headers
    with serving(allowed_origins=("https://a.example",)) as it:
        response = httpx.options(f"{it.url}/v1/chat/completions", headers=asked)
        assert response.headers["access-control-allow-origin"] == "https://a.example"
        asked["Origin"] = "https://b.example"
        response = httpx.options(f"{it.url}/v1/chat/completions", headers=asked)
        assert "access-control-allow-origin" not in response.headers


def test_bodies_over_the_limit(serving: Any) -> None:
    with serving(max_body_bytes=1000, max_structure_bytes=300) as it:
        url = f"{it.url}/v1/chat/completions"
        response = httpx.post(url, json=chat(messages=[{"role": "user", "content": "x" * 2000}]))
        assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")
        response = httpx.post(url, json=chat(response_format=schema_format({"enum": ["x" * 400]})))
        assert (response.status_code, response.json()["error"]["code"]) == (413, "structure_too_large")
        assert response.json()["error"]["param"] == "/response_format"


def test_what_is_not_there(http: httpx.Client) -> None:
    response = http.get("/v1/embeddings")
    assert response.status_code == 404
    assert "/v1/chat/completions" in response.json()["error"]["message"]
    response = http.get("/v1/chat/completions")
    assert response.status_code == 405
    assert response.json()["error"]["message"].endswith("Hint: use POST")
    assert http.post("/v1/chat/completions", content=b"{}").status_code == 415


def test_a_relaxed_server(serving: Any) -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": ["object", "string"], "maxProperties": 0, "maxLength": 2},
        "maxItems": 2,
    }
    with serving(relax=True) as it:
        asked = chat(response_format=schema_format(schema))
        assert httpx.post(f"{it.url}/v1/chat/completions", json=asked, timeout=30).status_code == 200


def test_a_mistake_of_the_server(serving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as it:
        monkeypatch.setattr(it.server.structures, "compiled", lambda *_: 1 / 0)
        asked = chat(response_format=schema_format(CITY))
        response = httpx.post(f"{it.url}/v1/chat/completions", json=asked, headers={"x-request-id": "r-1"})
        assert response.status_code == 500
        assert response.json()["error"]["type"] == "server_error"
        assert "r-1" in response.json()["error"]["message"]
        it.wait_until_idle()


def test_what_an_engine_elsewhere_refuses(serving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = refusal(400, '{"error": {"message": "seed must be >= 0", "param": "seed", "code": 400}}')
    output = Output("r", finish_reason="error", error=refused)

    def submit(_: Any, on_output: Any) -> SimpleNamespace:
        on_output(output)
        return HANDLE

    with serving() as it:
        monkeypatch.setattr(it.server.engine, "submit", submit)
        monkeypatch.setattr(it.server.engine, "cancel", lambda _: None)
        response = httpx.post(f"{it.url}/v1/chat/completions", json=chat())
        it.wait_until_idle()
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", "/seed", "invalid_field")
    assert "seed must be >= 0" in error["message"]


@pytest.mark.parametrize("where", ["submit", "output"])
def test_an_engine_that_fails(
    serving: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    failure = EngineError("llama.cpp could not read 3 tokens (code 1)")

    def submit(_: Any, on_output: Any) -> SimpleNamespace:
        if where == "submit":
            raise failure
        on_output(Output("r", finish_reason="error", error=failure))
        return HANDLE

    with serving() as it:
        monkeypatch.setattr(it.server.engine, "submit", submit)
        monkeypatch.setattr(it.server.engine, "cancel", lambda _: None)
        response = httpx.post(f"{it.url}/v1/chat/completions", json=chat(), headers={"x-request-id": "r-1"})
        it.wait_until_idle()
    assert (response.status_code, response.json()["error"]["code"]) == (503, "engine_unavailable")
    assert response.headers["retry-after"] == "1"
    assert "could not read 3 tokens" in response.json()["error"]["message"]
    (record,) = [each for each in caplog.records if each.getMessage() == "request failed"]
    assert record.exc_info is not None
    assert record.exc_info[1] is failure
