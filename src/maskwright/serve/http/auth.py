"""API keys, and who a request is from.

A key comes as `Authorization: Bearer KEY`. The client of a request, for fairness, is its key, or its address where the
server has no keys. Logs have neither: `label` is a number that stands for the key.
Tested by tests/serve/http/test_auth.py.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import NamedTuple

from starlette.requests import Request

from maskwright.serve.errors import ApiError


class Client(NamedTuple):
    """Who sent a request: `key` tells clients apart, `label` is for logs."""

    key: str
    label: str


class Keys:
    """The keys that a server accepts; none means that it accepts all requests."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [key.encode() for key in keys]

    def client(self, request: Request) -> Client:
        """Return who sent a request.

        Raises:
            ApiError: 401, its key is missing or wrong.
        """
        if not self._keys:
            host = request.client.host if request.client else ""
            return Client(f"address {host}", "anonymous")
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise _refusal("the request has no API key", "missing_api_key")
        # All are compared, so that the time taken does not tell how much of a key was right.
        matches = [hmac.compare_digest(key, given.strip().encode()) for key in self._keys]
        if not any(matches):
            raise _refusal("the API key is not valid", "invalid_api_key")
        return Client(f"key {matches.index(True)}", f"key-{matches.index(True)}")


def _refusal(message: str, code: str) -> ApiError:
    hint = "send the header Authorization: Bearer KEY, with a key that the server was started with"
    return ApiError(401, message, code=code, hint=hint, headers={"WWW-Authenticate": "Bearer"})
