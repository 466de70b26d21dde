"""Errors of the library as answers."""

from __future__ import annotations

import pytest

from maskwright import errors
from maskwright.serve.errors import ApiError, api_error


@pytest.mark.parametrize(
    ("error", "status", "param", "code"),
    [
        (errors.SchemaError("m", pointer="/a"), 400, "/a", "invalid_schema"),
        (errors.UnsupportedSchemaError("m", pointer="/a"), 400, "/a", "unsupported_schema"),
        (errors.RequestError("m", pointer="/a"), 400, "/a", "invalid_field"),
        (errors.StructuralTagError("m", pointer="/a"), 400, "/a", "invalid_structure"),
        (errors.UnsatisfiableError("m"), 400, "/given", "unsatisfiable_structure"),
        (errors.RegexSyntaxError("m"), 400, "/given", "invalid_grammar"),
        (errors.LimitError("m", limit="depth"), 400, "/given", "structure_too_large"),
        (errors.OptionError("m", option="o"), 400, "/given", "invalid_option"),
        (errors.EngineError("m"), 503, None, "engine_unavailable"),
        (errors.EngineError("m", can_retry=False), 502, None, "engine_misconfigured"),
        (errors.MatcherError("m"), 500, None, "internal_error"),
        (errors.TokenizerError("m"), 500, None, "internal_error"),
    ],
)
def test_statuses(error: errors.MaskwrightError, status: int, param: str | None, code: str) -> None:
    made = api_error(error, "/given")
    assert (made.status, made.param, made.code) == (status, param, code)


@pytest.mark.parametrize(("after", "header"), [(None, "1"), (0.0, "1"), (6.2, "7"), (60.0, "60")])
def test_when_to_try_again(after: float | None, header: str) -> None:
    assert api_error(errors.EngineError("m", retry_after_s=after)).headers == {"Retry-After": header}
    assert api_error(errors.EngineError("m", can_retry=False)).headers == {"x-should-retry": "false"}


def test_hints_are_in_the_message() -> None:
    assert api_error(errors.SchemaError("wrong", pointer="/a", hint="do this")).message == "wrong. Hint: do this"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (413, "invalid_request_error"),
        (429, "rate_limit_error"),
        (503, "server_error"),
    ],
)
def test_types(status: int, kind: str) -> None:
    assert ApiError(status, "m").body == {"error": {"message": "m", "type": kind, "param": None, "code": None}}


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("/seed", "m"),
        ("/messages/0/role", "at /messages/0/role: m"),
        ("/tools/0/" + "a" * 200, f"at …{'a' * 120}: m"),
    ],
)
def test_a_message_begins_with_the_place_inside_of_a_field(param: str, message: str) -> None:
    assert ApiError(400, "m", param=param).body["error"]["message"] == message
