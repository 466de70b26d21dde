"""Bodies: sizes, JSON, and text that cannot be written again."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from starlette.requests import Request

from maskwright.serve.errors import ApiError
from maskwright.serve.http.body import parsed, read_json


def request(chunks: list[bytes], headers: dict[str, str]) -> Request:
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Any:
        return messages.pop(0)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "headers": pairs}, receive)


def read(chunks: list[bytes], max_bytes: int = 100, **headers: str) -> Any:
    given = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return asyncio.run(read_json(request(chunks, given), max_bytes, 20))


def refusal(chunks: list[bytes], max_bytes: int = 100, **headers: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        read(chunks, max_bytes, **headers)
    return caught.value


def test_json() -> None:
    assert read([b'{"a"', b": 1}"]) == {"a": 1}
    assert read([b"{}"], content_type="application/json; charset=utf-8") == {}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_other_content_types(content_type: str) -> None:
    error = refusal([b"{}"], content_type=content_type)
    assert error.status == 415
    assert "Content-Type: application/json" in error.message


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "br, gzip"])
def test_compressed_bodies(encoding: str) -> None:
    error = refusal([b"\x1f\x8b"], content_encoding=encoding)
    assert (error.status, error.code) == (415, "unsupported_encoding")
    assert f"the body is compressed ({encoding!r})" in error.message
    assert read([b"{}"], content_encoding="identity") == {}


def test_a_body_that_stops_coming(serving: Any) -> None:
    lines = ("POST /v1/responses HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 9")
    with (
        serving(max_stall_seconds=0.3) as it,
        socket.create_connection(it.url.removeprefix("http://").split(":"), timeout=20) as connection,
    ):
        connection.sendall("\r\n".join([*lines, "", "{"]).encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))  # up to the end: the server closes it
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"nothing more of it came for 0.3 s. Hint: send as many bytes as Content-Length says" in answer


def test_too_large() -> None:
    declared = refusal([b"x"], content_length="101")
    sent = refusal([b"x" * 60, b"x" * 60])
    for error in (declared, sent):
        assert (error.status, error.code) == (413, "body_too_large")
        assert error.headers["Connection"] == "close"
        assert "--max-body-bytes" in error.message


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b'{"a": }', "line 1, column 7"),
        (b"\xff", "not UTF-8"),
        (b"[NaN]", "NaN is not a JSON value"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[" + b"1" * 5000 + b"]", "the body has a number with more than 4,300 digits$"),
        (b"", "the body is empty. Hint: send a JSON object"),
        (b" \n", "the body is empty"),
        (b"\xef\xbb\xbf{}", "the body begins with a byte order mark. Hint: send UTF-8 without it"),
    ],
)
def test_what_is_not_json(data: bytes, part: str) -> None:
    with pytest.raises(ApiError, match=part) as caught:
        parsed(data)
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")


def test_surrogates() -> None:
    assert parsed(rb'"\ud83d\ude00"') == "\N{GRINNING FACE}"
    with pytest.raises(ApiError) as caught:
        parsed(rb'{"messages": [{"content": "a\ud83db"}]}')
    assert caught.value.param == "/messages/0/content"
    with pytest.raises(ApiError):
        parsed(rb'{"\udc00": 1}')
