"""Outputs of a grammar, a token at random at a time: each mask leaves a way on, and the output comes to an end."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import maskwright
from oracle.comparing import mask_of

MOST_TOKENS = 600


def random_output(
    grammar: maskwright.CompiledGrammar,
    tokens: Sequence[bytes],
    rng: random.Random,
    *,
    likely: Collection[bytes],
    closing: Collection[bytes],
    after: int,
    max_tokens: int | None = None,
) -> bytes:
    """Return an output, of tokens in `likely` where some are allowed; of those in `closing` once there are `after`.

    With `max_tokens`, it has no more. The stop token is the id behind `tokens`; it ends the output where nothing else
    is allowed.
    """
    matcher, written = maskwright.GrammarMatcher(grammar, max_tokens=max_tokens), b""
    for step in range(MOST_TOKENS if max_tokens is None else max_tokens + 1):
        allowed = sorted(mask_of(matcher, len(tokens) + 1))
        assert allowed, written
        going_on = [t for t in allowed if t < len(tokens)]
        if not going_on:
            break
        ending = [t for t in going_on if step > after and tokens[t] in closing]
        token = rng.choice(ending or [t for t in going_on if tokens[t] in likely] or going_on)
        assert matcher.accept_token(token)
        written += tokens[token]
    assert matcher.is_completed(), written
    return written
