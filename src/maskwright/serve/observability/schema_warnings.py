"""Warnings of the schemas in a request: a header of each reply, and an entry in the log when a structure is compiled.

    X-Schema-Warning: at /response_format/json_schema/schema/min: unknown keyword 'min'; did you mean 'minimum'?

The reply itself stays as OpenAI's clients know it. A structure that is kept is not logged again, so clients that send
the same schema with each request do not fill the log.
Tested by tests/serve/test_metrics.py.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from maskwright.serve.observability.logs import log

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding

HEADER: Final = "x-schema-warning"
_MAX_LENGTH: Final = 300


def header_of(found: Sequence[Finding]) -> str:
    """Return the header's value for what has no effect in a request's schemas and was surely meant to, at least one."""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return _in_ascii(f"at {_pointer(found[0])}: {found[0].reason}") + more


def log_warnings(found: Sequence[Finding], request_id: str) -> None:
    """Log the same."""
    log(
        "schema warning",
        level=logging.WARNING,
        request_id=request_id,
        param=_in_ascii(_pointer(found[0])),
        warning=_in_ascii(found[0].reason),
        num_more=len(found) - 1 or None,
    )


def _pointer(found: Finding) -> str:
    return found.pointer.removeprefix("/sampling_params")


def _in_ascii(text: str) -> str:
    """A text as headers and lines of a log can hold it."""
    escaped = text.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= _MAX_LENGTH else escaped[:_MAX_LENGTH] + "..."
