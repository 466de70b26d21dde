"""Bitmasks on logits of MLX.

    from maskwright.bitmask.mlx import apply_token_bitmask

    logits = apply_token_bitmask(logits, bitmask)

Arrays of MLX do not change, so this returns new logits. The expression is lazy like all of MLX, and runs where the
logits are.
Tested by tests/engines/test_functional_masks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwright.bitmask.devices import listed_rows
from maskwright.bitmask.functional import masked_logits
from maskwright.support.packages import needed_by

with needed_by("maskwright.bitmask.mlx", mlx="mlx"):
    import mlx.core as mx


def apply_token_bitmask(
    logits: Any, bitmask: Any, *, vocab_size: int | None = None, indices: Sequence[int] | None = None
) -> Any:
    """Return logits in which tokens that are not allowed are minus infinity.

    Args:
        logits: (batch, vocab) or (vocab,) array of MLX: float32, float16 or bfloat16.
        bitmask: (batch, words) or (words,) int32, an array of numpy or MLX; one row stands for all.
        vocab_size: How many logits of each row to mask, the others stay as they are; by default all. Those that the
            bitmask does not cover are not allowed.
        indices: The rows to mask; by default all. Row i of the bitmask belongs to row i of the logits.

    Raises:
        ArgumentError: `vocab_size` or one of `indices` is not an int.
        BitmaskError: An array has the wrong type, dtype or shape, or a row is out of range.
    """
    rows = None if indices is None else listed_rows(indices, logits.shape[0] if logits.ndim == 2 else 1)
    return masked_logits(mx, mx.array, logits, bitmask, vocab_size, rows)
