"""`max_tokens` as the budget of the structure, so that no output is cut in its middle.

vLLM ends an output after `max_tokens` tokens, or when prompt and output fill the model's context, wherever it stands.
The matcher knows that number, and leaves only tokens after which the structure can still be completed.

`MASKWRIGHT_VLLM_TOKEN_BUDGET=0` switches this off for all requests; `extra_args={"maskwright_token_budget": False}`
(`vllm_xargs` in requests to the server) for one.
Tested by tests/integrations/test_vllm_adapter.py.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.errors import OptionError
from maskwright.integrations.budgets import matcher_within
from maskwright.integrations.environment import is_on

_SWITCH = "MASKWRIGHT_VLLM_TOKEN_BUDGET"
_FIELD = "maskwright_token_budget"


def has_budgets() -> bool:
    """Whether outputs are completed within `max_tokens` where a request does not say otherwise.

    Raises:
        OptionError: The environment says neither yes nor no.
    """
    return is_on(_SWITCH, by_default=True)


def most_tokens(sampling_params: Any, num_prompt_tokens: int, max_model_len: int) -> int | None:
    """Return how many tokens vLLM will generate at most, the stop token included; None for no budget.

    Raises:
        OptionError: The request's switch is neither true nor false.
    """
    wanted = (sampling_params.extra_args or {}).get(_FIELD)
    if wanted not in (None, True, False):  # 1 and 0 as well
        raise OptionError(f"{_FIELD} must be true or false, not {wanted!r:.60}", option=_FIELD)
    if not (has_budgets() if wanted is None else wanted):
        return None
    room = max_model_len - num_prompt_tokens
    asked = sampling_params.max_tokens
    return max(1, room if asked is None else min(asked, room))


def make_matcher(compiled: CompiledGrammar, stop_token_ids: Collection[int], most: int | None) -> GrammarMatcher:
    """Make a matcher whose outputs are complete within so many tokens, and end with one of these stop tokens.

    Raises:
        UnsatisfiableError: Not even the shortest output is.
        TokenizerError: A stop token is outside the vocabulary.
    """
    return matcher_within(compiled, most, override_stop_tokens=list(stop_token_ids) or None)
