"""Masked logits as an expression, for array libraries whose arrays do not change: MLX and JAX.

Both have the functions of numpy that are needed here, so the expression is written once over the library's module.
Tested by tests/engines/test_functional_masks.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.bitmask.apply import masked_width
from maskwright.bitmask.buffers import ALLOCATE_HINT, check_shape
from maskwright.errors import BitmaskError, type_name

_LOGITS = ("float32", "float16", "bfloat16", "float64")


def masked_logits(
    library: Any, array_type: Any, logits: Any, bitmask: Any, vocab_size: int | None, indices: Any | None
) -> Any:
    """Return logits in which tokens that are not allowed are minus infinity, in the dtype of the logits.

    Args:
        library: `mlx.core` or `jax.numpy`.
        array_type: The type of the library's arrays.
        logits: (batch, vocab) or (vocab,).
        bitmask: (batch, words) or (words,) int32, of the library or numpy; (1, words) stands for all rows.
        vocab_size: How many columns to mask; None for all.
        indices: The rows to mask, integers; None for all.
    """
    if not isinstance(logits, array_type):
        raise BitmaskError(f"the logits must be an array of {library.__name__}, not {type_name(logits)}")
    masks = library.array(bitmask) if not isinstance(bitmask, array_type) and hasattr(bitmask, "dtype") else bitmask
    _check(logits, masks, array_type)
    columns = logits.shape[-1]
    width = masked_width(columns, masks.shape[-1], vocab_size)
    allowed = _allowed(library, masks.reshape(-1, masks.shape[-1]), columns, width)
    rows = logits.reshape(-1, columns)
    if indices is not None:
        named = library.array(indices)[None, :] == library.arange(rows.shape[0])[:, None]
        allowed = allowed | ~named.any(axis=1)[:, None]
    refused = library.array(-float("inf"), dtype=logits.dtype)
    return library.where(allowed, rows, refused).reshape(logits.shape)


def _allowed(library: Any, masks: Any, columns: int, width: int) -> Any:
    """Bool for each column: its bit, False beyond the bitmask, True from the width on."""
    bits = (masks[:, :, None] >> library.arange(32, dtype=masks.dtype)) & 1
    covered = bits.reshape(masks.shape[0], -1)[:, :width] != 0
    beyond = library.zeros((masks.shape[0], width - covered.shape[1]), dtype=covered.dtype)
    untouched = library.ones((masks.shape[0], columns - width), dtype=covered.dtype)
    return library.concatenate([covered, beyond, untouched], axis=1)


def _check(logits: Any, masks: Any, array_type: Any) -> None:
    if _dtype(logits) not in _LOGITS:
        raise BitmaskError(f"the logits must have dtype float32, float16 or bfloat16, not {_dtype(logits)}")
    if not isinstance(masks, array_type) or _dtype(masks) != "int32":
        given = _dtype(masks) if isinstance(masks, array_type) else type_name(masks)
        raise BitmaskError(f"the bitmask must have dtype int32, not {given}", hint=ALLOCATE_HINT)
    for name, array in (("logits", logits), ("bitmask", masks)):
        check_shape(name, tuple(array.shape))
    rows, num_masks = (1 if a.ndim == 1 else a.shape[0] for a in (logits, masks))
    if num_masks not in (1, rows):
        raise BitmaskError(f"the logits have {rows} rows, but the bitmask has {num_masks}")


def _dtype(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]
