"""Bitmasks on scores, as both processors need them.

Scores that come in are left alone: transformers may hand them to others as well. Tested by
tests/integrations/test_transformers.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from maskwright import apply_token_bitmask_inplace


def masked_scores(scores: torch.Tensor, bitmask: torch.Tensor) -> torch.Tensor:
    """Return scores, (rows, vocab_size), with -inf for what a bitmask on the CPU excludes, (rows, words) int32."""
    masked = scores.clone(memory_format=torch.contiguous_format)
    apply_token_bitmask_inplace(masked, bitmask.to(masked.device))
    return masked


def allow_only(row: torch.Tensor, token_ids: Iterable[int]) -> None:
    """Set these bits of a bitmask row and clear the others; with no token at all, allow everything."""
    ids = list(token_ids)
    row.fill_(0 if ids else -1)
    for token in ids:
        bit = 1 << token % 32
        row[token // 32] |= bit if bit < 1 << 31 else bit - (1 << 32)
