"""The server as a process: a socket, signals, and an orderly end.

    serve(engine, settings, bind("127.0.0.1", 8000))

On SIGTERM or Ctrl-C it takes no more requests; what runs and what waits is finished. What is not after `drain_seconds`
ends with an error. A second Ctrl-C ends it at once.
Tested by tests/serve/test_process.py.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import socket
from types import FrameType
from typing import Final

import uvicorn

from maskwright.engine import Engine
from maskwright.serve.app import create_app
from maskwright.serve.observability.logs import log, set_up_logs
from maskwright.serve.server import Server
from maskwright.serve.settings import Settings

_LAST_SECONDS: Final = 2
"""How long the errors may take that are sent when the time to finish requests is over."""
KEEP_ALIVE_SECONDS: Final = 75
"""How long a connection without a request stays open: longer than clients keep theirs (httpx: 5 s), or a request could
be sent at the very moment when the server closes its connection, and be lost."""


def serve(engine: Engine, settings: Settings, listener: socket.socket, log_style: str = "text") -> None:
    """Serve an engine until a signal ends it, and close it.

    Args:
        engine: The engine, already loaded.
        settings: How to serve it.
        listener: The socket, bound.
        log_style: "text" or "json".

    Raises:
        RequestError: `settings.tool_format` is not a model family.
        KeyboardInterrupt: It was ended by Ctrl-C, after all requests were finished.
    """
    set_up_logs(log_style)
    try:
        app = create_app(engine, settings)
        config = uvicorn.Config(
            app,
            log_config=None,
            lifespan="off",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds) + _LAST_SECONDS,
        )
        _give_up_on_stalled(listener, settings.max_stall_seconds)
        signal.signal(signal.SIGTERM, _ignore)  # which uvicorn raises again when it has finished
        _Process(config, app.state.server).run(sockets=[listener])
        log("stopped")
    finally:
        engine.close()


def _give_up_on_stalled(listener: socket.socket, seconds: float) -> None:
    """Have the system end connections whose client takes nothing, so that it does not hold its slot.

    Accepted connections inherit the option. Where there is none such (macOS, Windows), `max_request_seconds` is the
    limit.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address, and does not listen yet.

    Args:
        host: A name, an IP address, of IPv6 also with its zone; empty for all interfaces, by IPv4 and IPv6.
        port: 0 for any that is free.

    Raises:
        OSError: The address is taken or does not exist.
        OverflowError: The port is greater than 65,535.
    """
    is_any = host in ("", "::")
    family = socket.AF_INET6 if ":" in host or (is_any and socket.has_dualstack_ipv6()) else socket.AF_INET
    found = socket.getaddrinfo(host or None, 0, family, socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    name, _, *rest = found[0][4]  # of IPv6, the number of the zone is in the rest
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not is_any)
        made.bind((name, port, *rest))
    except BaseException:
        made.close()
        raise
    return made


def url_of(host: str, port: int) -> str:
    """Return the address to open in a browser on the same machine.

    >>> url_of("::1", 80), url_of("fe80::1%eth0", 80), url_of("0.0.0.0", 80)
    ('http://[::1]:80', 'http://[fe80::1%25eth0]:80', 'http://127.0.0.1:80')
    """
    if host in ("", "0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host.replace('%', '%25')}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Process(uvicorn.Server):
    """Closes the queue when the end begins."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._served = server

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        gate = self._served.gate
        gate.is_draining = True
        log("draining", level=logging.WARNING, signal=sig, running=gate.running, waiting=gate.waiting)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        end = asyncio.get_running_loop().call_later(self._served.settings.drain_seconds, self._served.end_requests)
        await super().shutdown(sockets)
        end.cancel()


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """The process ends by itself."""
