"""Applying bitmasks to logits, in place, wherever the logits are.

Tested by tests/kernel/test_apply.py, tests/contract/test_api_errors.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwright import _kernel
from maskwright.bitmask.buffers import is_tensor, logit_kind, read_bitmask, read_logits
from maskwright.bitmask.devices import apply_on_device, checked_rows, listed_rows
from maskwright.errors import BitmaskError
from maskwright.support.arguments import as_integer

_MOST_THREADS = 2**32 - 1


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    max_threads: int | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Args:
        logits: (batch, vocab) or (vocab,), float32, float16, bfloat16 or float64: a numpy array, or a torch tensor on
            any device. The values of a row are adjacent; rows may have any stride.
        bitmask: (batch, words) or (words,) int32 on the same device, as `allocate_token_bitmask` returns it. For
            logits on the CPU, a numpy array or a tensor, regardless of which the logits are.
        vocab_size: How many logits of each row to mask, the others stay as they are; by default all. Those that the
            bitmask does not cover are not allowed. Fewer logits than the bitmask has tokens are a mistake, unless
            this says how many there are.
        indices: The rows to mask; by default all. Row i of the bitmask belongs to row i of the logits. In a tensor
            on a GPU, rows out of range are left out, as checking them would wait for the GPU.
        max_threads: On the CPU, the most threads to use, the calling one included; by default as many as the process
            has. Up to 8 MiB of logits are masked by the calling thread.

    Raises:
        ArgumentError: `vocab_size`, `max_threads` or one of `indices` is not an int.
        OptionError: `max_threads` is less than 1.
        BitmaskError: A buffer has the wrong type, dtype, shape, device or layout; nothing is written.
    """
    if is_tensor(logits) and not logits.is_cpu:
        rows, masks = checked_rows(logits, bitmask)
        return apply_on_device(rows, masks, masked_width(rows.shape[1], masks.shape[1], vocab_size), indices)
    kind = logit_kind(logits)
    target, source = read_logits(logits), read_bitmask(bitmask)
    width = masked_width(target.columns, source.columns, vocab_size)
    listed = rows_to_mask(target.rows, source.rows, indices)
    threads = _MOST_THREADS if max_threads is None else as_integer("max_threads", max_threads, at_least=1)
    _kernel.apply_mask(
        target.address,
        kind,
        target.row_bytes,
        width,
        source.address,
        source.row_bytes,
        source.columns,
        target.rows,
        listed,
        min(threads, _MOST_THREADS),
    )


def masked_width(columns: int, words: int, vocab_size: int | None) -> int:
    """Return how many logits of a row are masked.

    Raises:
        BitmaskError: There are fewer logits than tokens in the bitmask: of another model, most likely.
    """
    if vocab_size is None:
        if columns <= (words - 1) * 32:  # the last word may be for one token only
            raise BitmaskError(
                f"a row has {columns} logits, but the bitmask is for at least {words * 32 - 31} tokens",
                hint=f"use the model's own tokenizer, or give TokenizerInfo the model's width: vocab_size={columns}",
            )
        return columns
    width = as_integer("vocab_size", vocab_size)
    if not 0 <= width <= columns:
        raise BitmaskError(f"vocab_size is {width}, but the logits have {columns} columns")
    return width


def rows_to_mask(num_rows: int, num_masks: int, indices: Sequence[int] | None) -> list[int] | None:
    """Return the rows to mask, each once; None stands for all."""
    if indices is not None:
        return listed_rows(indices, min(num_rows, num_masks))
    if num_rows != num_masks:
        raise BitmaskError(
            f"the logits have {num_rows} rows, but the bitmask has {num_masks}",
            hint="pass indices=, or one mask for all rows as numpy.broadcast_to(...) or tensor.expand(...)",
        )
    return None
