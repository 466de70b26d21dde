"""An engine's limit on new tokens as the budget of a matcher, so that no output is cut off in the middle.

    matcher_within(compiled, 64)     at most 63 tokens and a stop token; 64 tokens where no output is that short
    least_tokens(compiled)           how many tokens the shortest output has

Budgets are "quick" (`GrammarMatcher`): in an engine all requests of a batch wait for the slowest mask.

Engines count the stop token as one of the new tokens, and say that an output was cut off ("length") when it did not
fit. So a place is kept for it, unless the output itself needs all of them.
Tested by tests/integrations/test_engine_budgets.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.matcher import matcher_for_engine
from maskwright.support.arguments import as_integer


def matcher_within(compiled: CompiledGrammar, max_tokens: int | None, **options: Any) -> GrammarMatcher:
    """Return a matcher whose output is complete within `max_tokens` new tokens, the stop token included if it fits.

    Args:
        compiled: The grammar.
        max_tokens: What the engine was asked for; None for no limit.
        **options: Other arguments of `GrammarMatcher`.

    A `UserWarning` says so where the output may be cut off nevertheless: see `matcher_for_engine`.

    Raises:
        LimitError: Whether an output fits takes too long to find out; the message says how many tokens an output
            needs at least, and how many are enough.
        OptionError: `max_tokens` is less than 1.
        UnsatisfiableError: No output has so few tokens; the message says how many the shortest one has,
            or between which bounds that number lies.
    """
    if max_tokens is None:
        return GrammarMatcher(compiled, **options)
    limit = as_integer("max_tokens", max_tokens, at_least=1)
    if limit > 1:
        try:
            return GrammarMatcher(compiled, max_tokens=limit - 1, **options)
        except (LimitError, UnsatisfiableError):
            pass
    matcher, caveat = matcher_for_engine(compiled, limit, **options)
    if caveat is not None:
        warnings.warn(caveat, UserWarning, stacklevel=2)
    return matcher


@contextmanager
def budget_called(name: str) -> Iterator[None]:
    """Let errors about a budget that is too small call it as the engine does, not `max_tokens`."""
    try:
        yield
    except (UnsatisfiableError, LimitError) as error:
        error.rename("max_tokens", name)
        raise


@contextmanager
def budget_of_context(num_prompt_tokens: int, room: int) -> Iterator[None]:
    """Let errors about a budget that is too small say that it is what a prompt leaves of the model's context."""
    try:
        yield
    except (UnsatisfiableError, LimitError) as error:
        context = num_prompt_tokens + room
        message = f"{error.message}, as the prompt has {num_prompt_tokens} tokens and the model's context {context}"
        error.restate(message, "shorten the prompt")
        raise


def least_tokens(compiled: CompiledGrammar) -> int:
    """Return the number of tokens of the shortest output, stop token apart; at least 1. Takes some 0.1 ms.

    Where that takes too long to find out, it is a number that is enough.

    Raises:
        LimitError: Not even that is found.
        UnsatisfiableError: No output has fewer than a thousand million tokens.
    """
    try:
        GrammarMatcher(compiled, max_tokens=1)
    except (UnsatisfiableError, LimitError) as error:
        if error.enough_tokens is None:
            raise
        return error.enough_tokens
    return 1
