"""Apply a bitmask to logits of MLX, which are returned anew.

Tested by tests/engines/test_mlx_as_xgrammar.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.bitmask.mlx import apply_token_bitmask
from maskwright.compat.xgrammar.exception import as_xgrammar_errors


@as_xgrammar_errors()
def apply_token_bitmask_mlx(bitmask: Any, logits: Any, vocab_size: int) -> Any:
    """Return logits in which tokens that are not allowed are minus infinity.

    Args:
        bitmask: (batch, words) int32, an array of numpy or MLX.
        logits: (batch, vocab) array of MLX.
        vocab_size: How many logits of each row to mask.
    """
    return apply_token_bitmask(logits, bitmask, vocab_size=vocab_size)
