"""Masking logits on a GPU: one pass over the bitmask by Triton, which writes only what is not allowed.

Logits are not read, so the traffic is the bitmask and what is refused. One program masks a block of one row. With
`TRITON_INTERPRET=1`, set before triton is imported, the kernel runs on CPU tensors.
Tested by tests/kernel/test_triton.py.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

_BLOCK = 4096


@triton.jit
def is_allowed(bitmask, column, num_words):
    """Tell of each column whether its bit is set; columns beyond the bitmask are not allowed."""
    word = tl.load(bitmask + column // 32, mask=column // 32 < num_words, other=0)
    return ((word >> (column % 32)) & 1) != 0


@triton.jit
def _apply_kernel(
    logits, bitmask, rows, num_rows, logits_stride, bitmask_stride, width, num_words,
    HAS_ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    if HAS_ROWS:
        row = tl.load(rows + row).to(tl.int64)
    if row >= 0 and row < num_rows:
        column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        allowed = is_allowed(bitmask + row * bitmask_stride, column, num_words)
        refused = (column < width) & (allowed == 0)
        tl.store(logits + row * logits_stride + column, float("-inf"), mask=refused)


def apply(logits: Any, bitmask: Any, width: int, rows: Any | None) -> None:
    """Mask rows of logits in place.

    Args:
        logits: (batch, vocab), the last dimension contiguous.
        bitmask: (batch, words) int32 on the same device, the last dimension contiguous.
        width: How many logits of each row to mask.
        rows: The rows to mask, integers on the same device; None for all. Rows out of range are left out.
    """
    num_rows = min(logits.shape[0], bitmask.shape[0])
    count = num_rows if rows is None else rows.shape[0]
    if count == 0 or width == 0:
        return
    grid = (count, triton.cdiv(width, _BLOCK))
    _apply_kernel[grid](
        logits,
        bitmask,
        rows,
        num_rows,
        logits.stride(0),
        bitmask.stride(0),
        width,
        bitmask.shape[1],
        HAS_ROWS=rows is not None,
        BLOCK=_BLOCK,
        num_warps=4,
    )
