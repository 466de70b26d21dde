"""Bitmasks on logits of JAX.

    from maskwright.bitmask.jax import apply_token_bitmask

    next_token = jax.jit(lambda logits, bitmask: apply_token_bitmask(logits, bitmask).argmax(axis=-1))

A pure function, for `jax.jit` and `jax.vmap` as well: `vocab_size` is static, all else may be traced.
Tested by tests/engines/test_functional_masks.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.bitmask.devices import listed_rows
from maskwright.bitmask.functional import masked_logits
from maskwright.support.packages import needed_by

with needed_by("maskwright.bitmask.jax", jax="jax"):
    import jax
    import jax.numpy as jnp


def apply_token_bitmask(logits: Any, bitmask: Any, *, vocab_size: int | None = None, indices: Any | None = None) -> Any:
    """Return logits in which tokens that are not allowed are minus infinity.

    Args:
        logits: (batch, vocab) or (vocab,) array of JAX: float32, float16, bfloat16 or float64.
        bitmask: (batch, words) or (words,) int32, an array of numpy or JAX; one row stands for all.
        vocab_size: How many logits of each row to mask, the others stay as they are; by default all. Those that the
            bitmask does not cover are not allowed.
        indices: The rows to mask; by default all. Row i of the bitmask belongs to row i of the logits. In an array of
            JAX, which may be traced, rows out of range are left out.

    Raises:
        ArgumentError: `vocab_size` or one of `indices` is not an int.
        BitmaskError: An array has the wrong type, dtype or shape, or a row of a list is out of range.
    """
    rows = indices
    if indices is not None and not isinstance(indices, jax.Array):
        rows = listed_rows(indices, logits.shape[0] if logits.ndim == 2 else 1)
    return masked_logits(jnp, jax.Array, logits, bitmask, vocab_size, rows)
