"""The Host header, so that a web page cannot make its own name point to the server; and addresses to listen on."""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from maskwright.serve.http.hosts import HostCheck
from maskwright.serve.run import bind, url_of

_INTERFACES = Path("/proc/net/if_inet6")
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


def test_what_is_no_request_comes_through() -> None:
    """The beginning and the end of an application, of which ASGI servers tell, have no headers."""
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(HostCheck(application, NAMES)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


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


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("host", ["", "::"])
def test_all_interfaces(host: str) -> None:
    with bind(host, 0) as made:
        made.listen()
        port = made.getsockname()[1]
        assert answers("127.0.0.1", port)
        if socket.has_dualstack_ipv6():
            assert answers("::1", port)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_an_address_and_a_name(host: str) -> None:
    with bind(host, 0) as made:
        made.listen()
        assert answers("127.0.0.1", made.getsockname()[1])


def test_an_address_with_a_zone() -> None:
    lines = [line.split() for line in _INTERFACES.read_text().splitlines()] if _INTERFACES.exists() else []
    local = [(name, address) for address, *_, name in lines if address.startswith("fe80")]
    if not local:
        pytest.skip("no interface has a link-local IPv6 address")
    name, digits = local[0]
    with bind(":".join(digits[i : i + 4] for i in range(0, 32, 4)) + f"%{name}", 0) as made:
        assert made.getsockname()[3] == socket.if_nametoindex(name)


def test_nobody_is_answered_before_the_model_is_there() -> None:
    with bind("127.0.0.1", 0) as made:
        assert not answers("127.0.0.1", made.getsockname()[1])


def test_addresses_that_cannot_be_had() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(OSError, match="in use") as caught:
            bind("127.0.0.1", taken.getsockname()[1])
        assert caught.value.errno == errno.EADDRINUSE
    with pytest.raises(OSError, match="assign"):
        bind("192.0.2.1", 0)
    with pytest.raises(socket.gaierror):
        bind("no-such-host.invalid", 0)
    with pytest.raises(OverflowError):
        bind("127.0.0.1", 65_536)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("gpu-box", "http://gpu-box:80"),
        ("::1", "http://[::1]:80"),
        ("fe80::1%eth0", "http://[fe80::1%25eth0]:80"),
        ("", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://127.0.0.1:80"),
    ],
)
def test_the_address_that_is_printed(host: str, url: str) -> None:
    assert url_of(host, 80) == url
