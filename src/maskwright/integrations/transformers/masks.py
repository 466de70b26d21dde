"""Bitmasks on scores, as both processors need them.

Scores that come in are left alone: transformers may hand them to others as well. Tested by
tests/integrations/test_transformers.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from maskwright import apply_token_bitmask_inplace
from maskwright.bitmask.only import allow_only


def masked_scores(scores: torch.Tensor, bitmask: torch.Tensor) -> torch.Tensor:
    """Return scores, (rows, vocab_size), with -inf for what a bitmask on the CPU excludes, (rows, words) int32."""
    masked = scores.clone(memory_format=torch.contiguous_format)
    apply_token_bitmask_inplace(masked, bitmask.to(masked.device))
    return masked


def allow_after_end(row: torch.Tensor, token_ids: Iterable[int]) -> None:
    """Let a bitmask row allow these tokens and no others; with no token at all, everything."""
    ids = list(token_ids)
    if ids:
        allow_only(row, ids)
    else:
        row.fill_(-1)
