"""What the endpoints of one server share: the engine, its settings, the queue, the structures, the metrics.

Tested by tests/serve/.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

from anyio import CancelScope

from maskwright.engine import Engine
from maskwright.serve.errors import ApiError
from maskwright.serve.http.auth import Keys
from maskwright.serve.http.exchange import Exchange
from maskwright.serve.limits.admission import Gate
from maskwright.serve.limits.budgets import output_tokens
from maskwright.serve.observability import tracing
from maskwright.serve.observability.budget_warnings import BudgetWarnings
from maskwright.serve.observability.logs import log
from maskwright.serve.observability.metrics import Metrics
from maskwright.serve.observability.schema_warnings import HEADER, header_of, log_warnings
from maskwright.serve.protocol.requests import Endpoint
from maskwright.serve.settings import Settings
from maskwright.serve.structure.structures import STRUCTURE_FIELDS, Structure, Structures
from maskwright.structural_tag.request import Reasoning


class Server:
    """One engine and what serves it.

    Args:
        engine: The engine, already loaded. Whoever loaded it closes it.
        settings: How to serve it.

    Raises:
        RequestError: The tool format is unknown.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self.settings = settings
        self.keys = Keys(settings.api_keys)
        self.gate = Gate(
            settings.max_running, settings.max_waiting, settings.max_waiting_per_key, settings.max_queue_seconds
        )
        self.structures = Structures(engine.tokenizer_info, settings)
        self.budget_warnings = BudgetWarnings()
        self.metrics = Metrics()
        self.metrics.pull(self._figures)
        self.created = int(time.time())
        self.open_requests: set[CancelScope] = set()

    def check_model(self, name: str | None) -> str:
        """Return the name that the reply has.

        Raises:
            ApiError: 404, the server has no such model.
        """
        served = self.settings.served_names
        if name is None or name in served:
            return name or served[0]
        hint = f"the model of this server is {served[0]!r}"
        raise ApiError(404, f"unknown model {name[:60]!r}", param="/model", code="model_not_found", hint=hint)

    async def compiled(
        self, exchange: Exchange, endpoint: Endpoint, body: Mapping[str, Any], reasoning: Reasoning | None = None
    ) -> Structure:
        """Compile what a request asks of the output's form.

        Raises:
            ApiError: A field is malformed, contradicts another one, or cannot be enforced.
        """
        fields = {name: body[name] for name in STRUCTURE_FIELDS if name in body}
        with tracing.span("compile"):
            structure = await self.structures.compiled(endpoint, fields, reasoning)
        if structure.compiled is not None:
            self.metrics.compile_seconds.observe(structure.seconds)
            exchange.notes["compile_ms"] = round(structure.seconds * 1e3, 2)
            warnings = structure.warnings()
            if warnings:
                exchange.headers[HEADER] = header_of(warnings)
                if structure.is_new:
                    log_warnings(warnings, exchange.request_id)
        return structure

    def end_requests(self) -> None:
        """End what still runs when the time for that is over."""
        log("ending requests", level=logging.WARNING, requests=len(self.open_requests))
        for scope in list(self.open_requests):
            scope.cancel()

    def budget(self, num_prompt_tokens: int, wanted: int | None, at: str, prompt_at: str) -> int:
        """Return the budget of an output; see `limits.output_tokens`."""
        return output_tokens(self.settings, self.engine.max_model_len, num_prompt_tokens, wanted, at, prompt_at)

    def _figures(self) -> Iterator[tuple[str, str, float]]:
        yield "requests_running", "Outputs that are being generated", self.gate.running
        yield "requests_waiting", "Requests that wait for a slot", self.gate.waiting
        hits, misses, num_kept, num_bytes = self.structures.figures()
        yield "structure_cache_hits_total", "Structures that were compiled already", hits
        yield "structure_cache_misses_total", "Structures that were compiled", misses
        yield "structures_cached", "Compiled structures that are kept", num_kept
        yield "structure_cache_bytes", "What they hold", num_bytes
        stats = self.engine.stats()
        yield "engine_steps_total", "Steps of the model", stats.num_steps
        yield "engine_model_seconds_total", "Time in the model", stats.model_s
        yield "engine_mask_seconds_total", "Time in which masks were filled, mostly beside the model", stats.mask_s
        yield "engine_mask_wait_seconds_total", "Time in which the model was done and masks were not", stats.mask_wait_s
        yield "engine_cached_tokens", "Tokens that the model holds", stats.cached_tokens
