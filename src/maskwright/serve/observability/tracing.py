"""OpenTelemetry spans of a request: prepare, compile, queue, generate. Nothing where the package is not installed.

    with tracer.span("compile", {"maskwright.structure": "json_schema"}):
        …

The server uses the API only: who wants traces installs an SDK and starts the server with `opentelemetry-instrument`,
or sets a tracer provider before it makes the app. A `traceparent` header becomes the parent of the request's span.
Tested by tests/serve/test_metrics.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # an optional package
    trace = None  # type: ignore[assignment, unused-ignore]
    propagate = None  # type: ignore[assignment, unused-ignore]


class Span:
    """A span, or nothing."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def set(self, **attributes: Any) -> None:
        """Set attributes, in the server's namespace; None is left out."""
        if self._span is not None:
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(f"maskwright.{name}", value)

    def event(self, name: str) -> None:
        """Note that something happened at this moment."""
        if self._span is not None:
            self._span.add_event(name)


@contextmanager
def span(name: str, headers: Mapping[str, str] | None = None, **attributes: Any) -> Iterator[Span]:
    """Open a span; `headers` are those of a request that may name its parent."""
    if trace is None:
        yield Span()
        return
    parent = None if headers is None else propagate.extract(dict(headers))
    tracer = trace.get_tracer("maskwright.serve")
    with tracer.start_as_current_span(name, context=parent) as opened:
        made = Span(opened)
        made.set(**attributes)
        yield made
