"""What a vLLM server refuses, as the errors that an engine raises: whose fault it is decides which one.

    refusal(400, '{"error": {"message": "…", "param": "seed"}}')      RequestError, at "/seed"
    refusal(401, '{"error": "Unauthorized"}')                         EngineError, not to be tried again
    refusal(503, "", "5")                                             EngineError, to be tried again after 5 s

A request that vLLM calls wrong or too large is wrong here, too. A key or a model that it does not know is the business
of whoever set up the engine. Everything else may pass.
Tested by tests/engine/test_vllm_errors.py.
"""

from __future__ import annotations

import json
from typing import Any

from maskwright.errors import EngineError, MaskwrightError, RequestError

_MAX_MESSAGE = 500
_MAX_RETRY_S = 3600.0
_OF_REQUESTS = (400, 413, 414, 422)


def refusal(status: int, text: str, retry_after: str | None = None) -> MaskwrightError:
    """Make the error for a reply that is not the one that was asked for.

    Args:
        status: The HTTP status; of an error within a stream, its code.
        text: The body.
        retry_after: The header of this name.
    """
    message, param = _said(text)
    if status in _OF_REQUESTS:
        hint = "send a shorter prompt or a smaller grammar" if status in (413, 414) else None
        return RequestError(f"vLLM refused the request: {message}", pointer=_pointer(param), hint=hint)
    if status in (401, 403):
        hint = "pass the key that the server was started with as api_key"
        return EngineError(f"vLLM does not accept the API key: {message}", hint=hint, can_retry=False)
    if status == 404:
        hint = "if the server was restarted with another model, make another VllmEngine"
        return EngineError(f"vLLM does not serve the model any more: {message}", hint=hint, can_retry=False)
    if status == 429:
        message = f"vLLM takes no more requests for now: {message}"
    else:
        message = f"vLLM failed with HTTP {status}: {message}"
    return EngineError(message, hint="try again later", retry_after_s=_seconds(retry_after))


def refusal_in_stream(event: Any) -> MaskwrightError:
    """Make the error for an event of a stream that says that the output failed."""
    error = event.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return refusal(code if isinstance(code, int) and not isinstance(code, bool) else 500, json.dumps(event))


def _said(text: str) -> tuple[str, str | None]:
    """The message of an error, and the field that it is about."""
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text.strip()[:200] or "no reason given", None
    if not isinstance(error, dict):
        return str(error)[:_MAX_MESSAGE], None
    param = error.get("param")
    return str(error.get("message") or "no reason given")[:_MAX_MESSAGE], param if isinstance(param, str) else None


def _pointer(param: str | None) -> str:
    """The JSON pointer of a field; vLLM writes its name.

    >>> _pointer("max_tokens"), _pointer("structured_outputs.grammar"), _pointer(None)
    ('/max_tokens', '/structured_outputs/grammar', '')
    """
    if not param or param.startswith("/"):
        return param or ""
    return "/" + param.replace("~", "~0").replace("/", "~1").replace(".", "/")


def _seconds(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After header; None if it has none, or a date.

    >>> _seconds("5"), _seconds("Wed, 21 Oct 2026 07:28:00 GMT")
    (5.0, None)
    """
    given = (retry_after or "").strip()
    return min(float(given), _MAX_RETRY_S) if given.isascii() and given.isdigit() else None
