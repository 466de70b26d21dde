"""`maskwright serve` as a process: how it starts, and how it stops under load."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx
import pytest

from maskwright import __version__
from maskwright.serve.run import KEEP_ALIVE_SECONDS
from serve.requests_of_tests import chat, sse


@contextmanager
def process(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that is ready, and its address."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "maskwright", "serve", "--port", "0", "--log-format", "json", *options]
    # Whoever runs the tests in the background may have Ctrl-C ignored, and children inherit that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    made = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=heed)
    try:
        assert made.stderr is not None
        first = json.loads(made.stderr.readline())
        assert (first["event"], first["model"], first["version"]) == ("serving", "embedded", __version__)
        url = first["url"].removesuffix("/v1")
        until = time.monotonic() + 20
        while True:
            try:
                if httpx.get(f"{url}/ready").status_code == 200:
                    break
            except httpx.HTTPError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield made, url
    finally:
        made.kill()
        made.communicate()


def test_sigterm_finishes_what_was_accepted() -> None:
    replies: list[httpx.Response] = []

    def ask(url: str, seed: int) -> None:
        asked = chat(regex="[a-z]{900}", max_completion_tokens=900, seed=seed, stream=seed % 2 == 0)
        replies.append(httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=60))

    with process("--max-running", "3") as (server, url):
        threads = [threading.Thread(target=ask, args=(url, seed)) for seed in range(8)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while "maskwright_requests_waiting 5.0" not in httpx.get(f"{url}/metrics").text and not replies:
            assert time.monotonic() < until
        server.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        _, log = server.communicate(timeout=60)
        assert server.returncode == 0
    assert [reply.status_code for reply in replies] == [200] * 8
    for reply in replies:
        if reply.headers["content-type"].startswith("text/event-stream"):
            *chunks, last = sse(reply.text)
            assert last == "[DONE]"
            text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        else:
            text = reply.json()["choices"][0]["message"]["content"]
        assert re.fullmatch("[a-z]{900}", text)
    entries = [json.loads(line) for line in log.splitlines()]
    assert [entry["event"] for entry in entries if entry["event"] != "request"] == ["draining", "stopped"]
    assert sum(entry["event"] == "request" and entry["status"] == 200 for entry in entries) == 8


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system ends no stalled connections")
def test_who_reads_nothing_holds_no_slot_for_long() -> None:
    asked = json.dumps(chat(regex="[a-z]{16000}", max_completion_tokens=16_000, stream=True)).encode()
    lines = ("POST /v1/chat/completions HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    head = "\r\n".join([*lines, f"Content-Length: {len(asked)}", "", ""]).encode()
    with process("--max-running", "1", "--max-stall-seconds", "1") as (_, url), socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = url.removeprefix("http://").partition(":")
        connection.connect((host, int(port)))
        connection.sendall(head + asked)
        until = time.monotonic() + 20
        while "maskwright_requests_running 1.0" not in httpx.get(f"{url}/metrics").text:
            assert time.monotonic() < until
        answer = httpx.post(f"{url}/v1/chat/completions", json=chat(regex="a"), timeout=30)
        assert answer.status_code == 200


@pytest.mark.parametrize("is_stream", [True, False])
def test_what_is_not_finished_in_time_gets_an_error(is_stream: bool) -> None:
    asked = chat(regex="[a-z]{16000}", max_completion_tokens=16_000, stream=is_stream)
    with process("--drain-seconds", "0.5") as (server, url):
        with stopping(server, url):
            reply = httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=30)
        _, log = server.communicate(timeout=20)
        assert server.returncode == 0
    assert reply.status_code == (200 if is_stream else 503)
    error = (list(sse(reply.text))[-1] if is_stream else reply.json())["error"]
    assert error["code"] == "shutting_down"
    assert error["message"].startswith("the server has stopped before this request was finished. Hint: ")
    assert "traceback" not in log
    assert [json.loads(line)["event"] for line in log.splitlines()] == [
        *("draining", "ending requests", "request", "stopped")
    ]


@contextmanager
def stopping(server: subprocess.Popen[str], url: str) -> Iterator[None]:
    """Stops the server meanwhile, once it generates."""

    def stop() -> None:
        while "maskwright_requests_running 1.0" not in httpx.get(f"{url}/metrics").text:
            time.sleep(0.05)
        server.send_signal(signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    yield
    thread.join(20)


def test_idle_connections_outlive_those_of_clients() -> None:
    expiry = httpx.Limits().keepalive_expiry
    assert expiry is not None
    assert expiry * 2 < KEEP_ALIVE_SECONDS


def test_ctrl_c() -> None:
    with process() as (server, _):
        server.send_signal(signal.SIGINT)
        _, log = server.communicate(timeout=20)
        assert server.returncode == 130
        assert "Traceback" not in log


def test_an_address_that_is_taken() -> None:
    with process() as (_, url):
        port = url.rpartition(":")[2]
        command = [sys.executable, "-m", "maskwright", "serve", "--port", port]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_interfaces() -> None:
    with process("--host", "") as (_, url):
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/v1/models").status_code == 200
