"""Errors as OpenAI's clients read them: an HTTP status and `{"error": {"message", "type", "param", "code"}}`.

    raise invalid("temperature must be <= 2", "/temperature")       400, param "/temperature"
    api_error(SchemaError("…", pointer="/type"))                    400, param "/type", code "invalid_schema"

`param` is the JSON pointer of the field in the request's body: `protocol/fields.py` sets it for a field as such, and
`structure/structures.py:_placed` for what a field holds, from the error's pointer. A message begins with the place in
the field and ends with what to do about it.
Tested by tests/serve/test_serve_errors.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from maskwright.errors import (
    EngineError,
    GrammarError,
    LimitError,
    MaskwrightError,
    OptionError,
    RequestError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableError,
    UnsupportedSchemaError,
)

_MAX_PLACE = 120
# OpenAI's clients send a request again after any status from 500 on, unless told that this is in vain.
_IN_VAIN = (500, 502, 504)
_NO_RETRY = {"x-should-retry": "false"}
_TYPES = {401: "authentication_error", 404: "not_found_error", 405: "invalid_request_error", 429: "rate_limit_error"}
# The first that matches counts: subclasses come before their bases.
_CODES: tuple[tuple[type[MaskwrightError], str], ...] = (
    (UnsupportedSchemaError, "unsupported_schema"),
    (SchemaError, "invalid_schema"),
    (StructuralTagError, "invalid_structure"),
    (UnsatisfiableError, "unsatisfiable_structure"),
    (GrammarError, "invalid_grammar"),
    (LimitError, "structure_too_large"),
    (OptionError, "invalid_option"),
    (RequestError, "invalid_field"),
)


class ApiError(Exception):
    """What a request is refused with. The hint becomes a part of the message, as OpenAI's shape has no field for it.

    >>> ApiError(404, "unknown model 'x'", hint="use 'y'").message
    "unknown model 'x'. Hint: use 'y'"
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.message = message if hint is None else f"{message}. Hint: {hint}"
        self.param = param
        self.code = code
        self.headers = {**(_NO_RETRY if status in _IN_VAIN else {}), **(headers or {})}
        super().__init__(self.message)

    @property
    def body(self) -> dict[str, Any]:
        kind = _TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return {"error": {"message": self._placed_message, "type": kind, "param": self.param, "code": self.code}}

    @property
    def _placed_message(self) -> str:
        """The message, and where inside of a field something is wrong: clients show their users the message alone."""
        param = self.param or ""
        if param.count("/") < 2:
            return self.message
        shown = param if len(param) <= _MAX_PLACE else f"…{param[-_MAX_PLACE:]}"
        return f"at {shown}: {self.message}"


def invalid(
    message: str, param: str | None = None, *, code: str = "invalid_field", hint: str | None = None
) -> ApiError:
    """Make the error for a request that cannot be served as it is."""
    return ApiError(400, message, param=param, code=code, hint=hint)


def api_error(error: MaskwrightError, param: str | None = None) -> ApiError:
    """Make the answer to a request from the error that it raised; `param` is used where the error has no pointer.

    What the engine could not do is nothing that the request can change, and another attempt may succeed.
    """
    if isinstance(error, EngineError):
        return _unavailable(error)
    code = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if code is None:
        return ApiError(500, error.message, code="internal_error", hint=error.hint)
    pointer = getattr(error, "pointer", None)
    return invalid(error.message_with_place, pointer or param or pointer, code=code, hint=error.hint)


def _unavailable(error: EngineError) -> ApiError:
    """The answer to what the engine could not do: when to try again, unless that would not help."""
    if not error.can_retry:
        hint = "the server's administrator finds the reason in its log"
        return ApiError(502, error.message, code="engine_misconfigured", hint=hint)
    seconds = 1 if error.retry_after_s is None else max(1, math.ceil(error.retry_after_s))
    hint = "try again, or see the server's log"
    return ApiError(503, error.message, code="engine_unavailable", hint=hint, headers={"Retry-After": str(seconds)})
