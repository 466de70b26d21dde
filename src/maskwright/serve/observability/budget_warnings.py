"""Warnings that an output may be cut off: a header of each such reply, and an entry in the log, once for a structure.

    X-Budget-Warning: at /max_tokens: a list of distinct items has no token budget here, so the output may be cut off …

Lists of distinct elements (`uniqueItems`) do not always have a token budget: see `maskwright.matcher`.
Tested by tests/serve/test_metrics.py.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from maskwright.serve.observability.logs import log

if TYPE_CHECKING:
    from maskwright import CompiledGrammar
    from maskwright.serve.http.exchange import Exchange

HEADER: Final = "x-budget-warning"


class BudgetWarnings:
    """Those of one server."""

    def __init__(self) -> None:
        self._logged: WeakSet[CompiledGrammar] = WeakSet()

    def add(self, exchange: Exchange, structure: CompiledGrammar, caveat: str, at: str) -> None:
        """Warn of an output; `at` is the JSON pointer of the field with the budget."""
        said = caveat.replace("max_tokens", at.removeprefix("/"))
        exchange.headers[HEADER] = f"at {at}: {said}"
        if structure not in self._logged:
            self._logged.add(structure)
            log("budget warning", level=logging.WARNING, request_id=exchange.request_id, param=at, warning=said)
