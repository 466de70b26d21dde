"""The Host header: which names are served, so that a web page cannot make its own name point to the server."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from maskwright.serve.http.hosts import HostCheck

NAMES = ("gpu-box", "Models.Example.com")


def served(host: str | None, names: tuple[str, ...] = NAMES) -> bool:
    """Whether a request with this Host header comes through."""
    seen: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(None)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 403

    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    scope = {"type": "http", "path": "/", "headers": headers}
    asyncio.run(HostCheck(application, names)(scope, None, send))  # type: ignore[arg-type]
    return bool(seen)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "[::1]"),
        *("gpu-box", "gpu-box:8000", "models.example.com", "MODELS.example.com:443", "gpu-box."),
        *(None, "", "10.1.2.3:80", "[fe80::1%eth0]:8000", "[fe80::1%25eth0]", "[fe80::1%en-0.1]:80"),
    ],
)  # fmt: skip
def test_served(host: str | None) -> None:
    assert served(host)


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"),
        *("gpu-box.evil.example", "[localhost]", "a/localhost"),
        *("[1234]", "[:]:8000", "[1::2::3]", "[dead.beef]"),
        *("[fe80::1%]", "[%eth0]", "[evil.example%eth0]", "evil.example%eth0", "[fe80::1%a]b]"),
        *("evil.example@localhost:8000x", "[::1", "xn--\xff", "example.com", "2130706433.evil.example"),
    ],
)  # fmt: skip
def test_refused(host: str) -> None:
    assert not served(host)


@pytest.mark.parametrize("host", ["big.example", "Big.Example.", "big.example:8000"])
def test_a_name_that_is_fully_qualified(host: str) -> None:
    assert served(host, ("Big.Example.",))


def test_all() -> None:
    assert served("evil.example", ("*",))


def test_a_refusal_says_what_to_do(serving: Any) -> None:
    with serving(allowed_hosts=("gpu-box",)) as it:
        for path in ("/", "/v1/models", "/metrics"):
            assert httpx.get(f"{it.url}{path}", headers={"Host": "gpu-box:1"}).status_code == 200
            answer = httpx.get(f"{it.url}{path}", headers={"Host": "evil.example"})
            assert answer.status_code == 403
            error = answer.json()["error"]
            assert error["code"] == "host_not_allowed"
            assert "--allow-host" in error["message"]
            assert "'evil.example'" in error["message"]
        posted = httpx.post(f"{it.url}/v1/chat/completions", json={"messages": []}, headers={"Host": "evil.example"})
        assert posted.status_code == 403
