"""The names that the server answers to: the Host header of each request, as a protection from DNS rebinding.

    HostCheck(app, ("gpu-box",))        serves http://gpu-box:8000 and http://127.0.0.1:8000, not http://evil.example

A web page can make a DNS name of its own point to 127.0.0.1. For its reader's browser it then has the same origin as a
server there, and neither CORS nor the content type keeps it out. Its requests still carry its own name, so names that
the server was not given are refused. Addresses and `localhost` always mean the same, and are always served.
Tested by tests/serve/http/test_hosts.py.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from maskwright.serve.errors import ApiError
from maskwright.serve.observability.logs import log

ANY: Final = "*"
_MAX_SHOWN = 60
_ZONE = r"(?:%[A-Za-z0-9._~%-]+)?"  # of an IPv6 address: the interface, which some clients leave in the header
_HOST = re.compile(rf"(?:\[(?P<address>[0-9A-Fa-f:.]+){_ZONE}\]|(?P<name>[A-Za-z0-9._-]+))(?::\d*)?")


class HostCheck:
    """An ASGI application that refuses requests to unknown hosts, and hands the others on.

    Args:
        app: The application.
        names: The host names that are served besides addresses and `localhost`; `"*"` for all.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app = app
        self._serves_all = ANY in names
        self._names = frozenset(("localhost", *map(_plain, names)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "") if scope["type"] == "http" else ""
        if self._serves_all or self._is_served(host):
            await self._app(scope, receive, send)
            return
        refusal = _refusal(host)
        log("host refused", error=refusal.code, host=_shown(host), path=scope["path"][:_MAX_SHOWN])
        await JSONResponse(refusal.body, refusal.status)(scope, receive, send)

    def _is_served(self, host: str) -> bool:
        """Whether a Host header is fine. Browsers always send one; health checks in HTTP/1.0 may not."""
        if not host:
            return True
        parts = _HOST.fullmatch(host)
        if parts is None:
            return False
        name = parts["name"]
        if name is None:
            return is_address(parts["address"])
        return is_address(name) or _plain(name) in self._names


def is_address(host: str) -> bool:
    """Whether a host is an IP address.

    >>> is_address("::1"), is_address("127.0.0.1"), is_address("example.com")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    """The name in lower case and without the dot of a fully qualified one."""
    return name.lower().removesuffix(".")


def _refusal(host: str) -> ApiError:
    hint = "use the server's IP address or localhost, or start the server with --allow-host and this name"
    return ApiError(403, f"the host {_shown(host)!r} is not served", code="host_not_allowed", hint=hint)


def _shown(host: str) -> str:
    return host[:_MAX_SHOWN].encode("ascii", "backslashreplace").decode()
