"""Addresses that the server listens on, and how it writes them."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest

from maskwright.serve.run import bind, url_of

_INTERFACES = Path("/proc/net/if_inet6")


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
