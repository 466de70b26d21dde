"""What Prometheus reads at /metrics: requests, the queue, tokens, and what structures cost.

Each server has a registry of its own, so that several fit into a process. Figures that the engine and the cache count
themselves are read when they are asked for (`_Pulled`).
Names and units follow Prometheus' conventions: seconds, bytes, `_total` for what only grows.
Tested by tests/serve/test_metrics.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from maskwright import __version__

_PREFIX = "maskwright_"
_TINY = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1)
_SHORT = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10)
_LONG = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Pull = Callable[[], Iterable[tuple[str, str, float]]]  # name, help and value; a name in _total is a counter


class _Pulled:
    """Figures that somebody else counts."""

    def __init__(self, pull: Pull) -> None:
        self._pull = pull

    def collect(self) -> Iterable[Metric]:
        for name, help_, value in self._pull():
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            yield kind(_PREFIX + name, help_, value=value)


class Metrics:
    """The metrics of a server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)  # memory, processor time and open files, on Linux
        Info(f"{_PREFIX}build", "The release that runs", registry=self._registry).info({"version": __version__})
        self.requests = self._counter("requests", "Requests by endpoint and HTTP status", "endpoint", "status")
        self.cancelled = self._counter("requests_cancelled", "Requests whose client went away", "endpoint")
        self.outputs = self._counter("outputs", "Outputs by why they ended", "finish_reason")
        self.prompt_tokens = self._counter("prompt_tokens", "Tokens of prompts")
        self.output_tokens = self._counter("output_tokens", "Tokens of outputs")
        self.forced_tokens = self._counter("forced_tokens", "Tokens of outputs that their structure determined")
        self.request_seconds = self._histogram("request_seconds", "From a request to the end of its reply", _LONG)
        self.queue_seconds = self._histogram("queue_seconds", "How long requests waited for a slot", _SHORT)
        self.compile_seconds = self._histogram("compile_seconds", "From a structure to its compiled grammar", _SHORT)
        self.first_mask_seconds = self._histogram("first_mask_seconds", "The first mask of an output", _TINY)
        self.mask_seconds = self._histogram("mask_seconds", "Filling a mask; in a batch, its share", _TINY)
        self.first_token_seconds = self._histogram(
            "time_to_first_token_seconds", "From a request to its first token", _LONG
        )
        self.token_seconds = self._histogram("time_per_output_token_seconds", "Between tokens, by output", _SHORT)

    def pull(self, pull: Pull) -> None:
        """Add figures that are read when they are asked for."""
        self._registry.register(_Pulled(pull))

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(_PREFIX + name, help_, labels, registry=self._registry)

    def _histogram(self, name: str, help_: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(_PREFIX + name, help_, registry=self._registry, buckets=buckets)
