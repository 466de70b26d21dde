"""A request's `max_new_tokens` as the budget of its grammar, so that no output is cut in its middle.

SGLang does not tell its backends how many tokens a request may have. Its manager of grammars knows, and a plugin may
add to its methods: when one has given requests their grammars, those of ours are limited.

`MASKWRIGHT_SGLANG_TOKEN_BUDGET=0` in the server's environment switches this off.
Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maskwright.errors import MaskwrightError

SWITCH = "MASKWRIGHT_SGLANG_TOKEN_BUDGET"
MANAGER = "sglang.srt.constrained.grammar_manager.GrammarManager"


def limit_request(waits_for_grammar: bool, manager: Any, req: Any) -> None:
    """After `process_req_with_grammar`: the grammar is there already, or is being compiled."""
    if not waits_for_grammar:
        _limit(req)


def limit_ready_requests(ready: list[Any], manager: Any) -> None:
    """After `get_ready_grammar_requests`: the grammars of these requests have been compiled."""
    for req in ready:
        _limit(req)


HOOKS: dict[str, Callable[..., None]] = {
    "process_req_with_grammar": limit_request,
    "get_ready_grammar_requests": limit_ready_requests,
}


def _limit(req: Any) -> None:
    limit = getattr(req.grammar, "limit", None)
    max_new_tokens = req.sampling_params.max_new_tokens
    if limit is None or not max_new_tokens:
        return
    try:
        limit(max_new_tokens)
    except MaskwrightError as error:
        req.set_finish_with_abort(
            f"no complete output can be guaranteed within max_new_tokens={max_new_tokens}: {error}"
        )
