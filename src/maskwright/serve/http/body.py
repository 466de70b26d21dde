"""The body of a request as data: within a size, as JSON, and as text that can be written again.

A content type other than JSON is refused: browsers ask a server before they send JSON to it from a page of another
origin, so a web page cannot use a server on its reader's machine unless that allows its origin.
Tested by tests/serve/http/test_body.py.
"""

from __future__ import annotations

import json
import re
import sys
from codecs import BOM_UTF8
from typing import Any, NoReturn

import anyio
from starlette.requests import Request

from maskwright.serve.errors import ApiError, invalid
from maskwright.serve.protocol.fields import pointer_of
from maskwright.support.json_mistakes import hint_for

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


async def read_json(request: Request, max_bytes: int, max_stall_seconds: float) -> Any:
    """Read the body of a request.

    Raises:
        ApiError: 413, it is too large; 415, it is not declared as JSON, or compressed; 408, it stopped coming; 400, it
            is not valid JSON.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json" and not content_type.endswith("+json"):
        raise ApiError(
            415,
            "the body must be JSON",
            code="unsupported_media_type",
            hint="send the header Content-Type: application/json",
        )
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        message = f"the body is compressed ({encoding[:20]!r}), which is not supported"
        hint = "send it as it is, without the header Content-Encoding"
        raise ApiError(415, message, code="unsupported_encoding", hint=hint)
    return parsed(await _read(request, max_bytes, max_stall_seconds))


async def _read(request: Request, max_bytes: int, max_stall_seconds: float) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    data = bytearray()
    stream = request.stream()
    try:
        while True:
            with anyio.fail_after(max_stall_seconds):
                chunk = await anext(stream, None)
            if chunk is None:
                return bytes(data)
            data += chunk
            if len(data) > max_bytes:
                raise _too_large(max_bytes)
    except TimeoutError:
        message = f"the body is incomplete, and nothing more of it came for {max_stall_seconds:g} s"
        hint = "send as many bytes as Content-Length says"
        raise ApiError(408, message, code="body_timeout", hint=hint, headers={"Connection": "close"}) from None


def _too_large(max_bytes: int) -> ApiError:
    message = f"the body is larger than {max_bytes:,} bytes"
    hint = "send less text, or start the server with a larger --max-body-bytes"
    # The rest of the body is not read, so the connection cannot be used again.
    return ApiError(413, message, code="body_too_large", hint=hint, headers={"Connection": "close"})


def parsed(data: bytes) -> Any:
    """Parse a JSON text, strictly.

    Raises:
        ApiError: It is not valid JSON, or has half a surrogate pair.
    """
    if not data.strip():
        raise invalid("the body is empty", code="invalid_json", hint="send a JSON object")
    if data.startswith(BOM_UTF8):
        raise invalid("the body begins with a byte order mark", code="invalid_json", hint="send UTF-8 without it")
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        message = f"the body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise invalid(message, code="invalid_json", hint=hint_for(error.doc, error.pos)) from None
    except UnicodeDecodeError as error:
        raise invalid(f"the body is not UTF-8: {error.reason} at byte {error.start}", code="invalid_json") from None
    except RecursionError:
        raise invalid("the body is nested too deeply", code="invalid_json") from None
    except _NotAValue as error:
        raise invalid(f"the body is not valid JSON: {error}", code="invalid_json") from None
    except ValueError:  # the one that is left
        message = f"the body has a number with more than {sys.get_int_max_str_digits():,} digits"
        raise invalid(message, code="invalid_json") from None
    if _ESCAPED_SURROGATE.search(data):
        _check_surrogates(value)
    return value


class _NotAValue(ValueError):
    """What Python's parser takes for a number, and JSON does not."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NotAValue(f"{name} is not a JSON value")


def _check_surrogates(value: Any) -> None:
    """Refuse text that cannot be encoded."""
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while todo:
        path, each = todo.pop()
        if isinstance(each, dict):
            todo += [((*path, name), inner) for name, inner in each.items()]
            todo += [((*path, i), name) for i, name in enumerate(each)]
        elif isinstance(each, list):
            todo += [((*path, i), inner) for i, inner in enumerate(each)]
        elif isinstance(each, str) and _LONE_SURROGATE.search(each):
            pointer = _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", pointer_of(path))
            raise invalid("the text contains half a surrogate pair, which is not valid Unicode", pointer)
