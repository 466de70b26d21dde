"""Keys: which are accepted, and what tells clients apart."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from maskwright.serve.errors import ApiError
from maskwright.serve.http.auth import Keys


def request(authorization: str | None = None, host: str = "10.0.0.1") -> Request:
    headers = [] if authorization is None else [(b"authorization", authorization.encode("latin-1"))]
    return Request({"type": "http", "headers": headers, "client": (host, 1)})


def test_without_keys_clients_are_addresses() -> None:
    keys = Keys(())
    assert keys.client(request()).key != keys.client(request(host="10.0.0.2")).key
    assert keys.client(request("Bearer anything")).label == "anonymous"


def test_keys() -> None:
    keys = Keys(("first", "second"))
    assert keys.client(request("Bearer first")).label == "key-0"
    assert keys.client(request("bearer second")).label == "key-1"
    assert "second" not in keys.client(request("Bearer second")).key


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", "Basic first", "first", "Bearer wrong", "Bearer \xff"]
)
def test_refused(given: str | None) -> None:
    with pytest.raises(ApiError, match="Authorization: Bearer KEY") as caught:
        Keys(("first",)).client(request(given))
    assert caught.value.status == 401
    assert caught.value.headers["WWW-Authenticate"] == "Bearer"
    assert caught.value.body["error"]["type"] == "authentication_error"
