"""Apply a bitmask in plain torch: any device, any floating dtype.

    >>> logits = torch.zeros(1, 4)
    >>> apply_token_bitmask_inplace_torch(logits, torch.tensor([[0b0101]], dtype=torch.int32))
    >>> logits.tolist()
    [[0.0, -inf, 0.0, -inf]]

Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from typing import Any

import torch

from maskwright.compat.xgrammar.bitmask import as_rows, bitmask_dtype, covered_width
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import BitmaskError


def apply_token_bitmask_inplace_kernel_no_indices_torch(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int
) -> None:
    """Mask every row: both of two dimensions, of as many rows."""
    logits[..., :vocab_size].masked_fill_(_refused(bitmask, vocab_size), -torch.inf)


def apply_token_bitmask_inplace_kernel_indices_torch(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int, indices: list[int]
) -> None:
    """Mask these rows of both."""
    rows = torch.as_tensor(indices, dtype=torch.long, device=logits.device)
    kept = logits[rows, :vocab_size].masked_fill(_refused(bitmask[rows], vocab_size), -torch.inf)
    logits[rows, :vocab_size] = kept


@as_xgrammar_errors()
def apply_token_bitmask_inplace_torch(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Raises:
        BitmaskError: A tensor has the wrong dtype, shape or device.
    """
    rows, masks, width = checked(logits, bitmask, vocab_size, indices)
    if indices is None:
        apply_token_bitmask_inplace_kernel_no_indices_torch(rows, masks, width)
    else:
        apply_token_bitmask_inplace_kernel_indices_torch(rows, masks, width, indices)


def checked(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None, indices: Any
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return both as tensors of two dimensions, and how many columns to look at."""
    width = covered_width(logits, bitmask, vocab_size)
    if bitmask.dtype != bitmask_dtype:
        raise BitmaskError(f"the bitmask must have dtype int32, not {bitmask.dtype}")
    if not logits.is_floating_point():
        raise BitmaskError(f"the logits must have a floating dtype, not {logits.dtype}")
    if logits.device != bitmask.device:
        raise BitmaskError(f"the logits are on {logits.device}, but the bitmask is on {bitmask.device}")
    rows, masks = as_rows(logits), as_rows(bitmask)
    if indices is None:
        if len(rows) != len(masks):
            raise BitmaskError(f"the logits have {len(rows)} rows, but the bitmask has {len(masks)}")
    elif isinstance(indices, list | tuple) and not all(0 <= i < min(len(rows), len(masks)) for i in indices):
        raise BitmaskError(f"indices must be from 0 to {min(len(rows), len(masks)) - 1}")
    return rows, masks, width


def _refused(bitmask: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """One bool for each token: whether its bit is 0."""
    words = bitmask[..., : -(-vocab_size // 32)].unsqueeze(-1)
    bits = words >> torch.arange(32, dtype=bitmask_dtype, device=bitmask.device) & 1
    return bits.flatten(-2)[..., :vocab_size] == 0
