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

from maskwright.bitmask import expressions
from maskwright.bitmask.devices import row_tensor
from maskwright.compat.xgrammar.bitmask import as_rows, bitmask_dtype, covered_width
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import BitmaskError


def apply_token_bitmask_inplace_kernel_no_indices_torch(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int
) -> None:
    """Mask every row: both of two dimensions, of as many rows."""
    expressions.apply(logits, bitmask, vocab_size, None)


def apply_token_bitmask_inplace_kernel_indices_torch(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int, indices: list[int]
) -> None:
    """Mask these rows of both."""
    expressions.apply(logits, bitmask, vocab_size, torch.as_tensor(indices, device=logits.device))


@as_xgrammar_errors()
def apply_token_bitmask_inplace_torch(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Raises:
        BitmaskError: A tensor has the wrong dtype, shape or device, or a row is out of range.
    """
    expressions.apply(*checked(logits, bitmask, vocab_size, indices))


def checked(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None, indices: Any
) -> tuple[torch.Tensor, torch.Tensor, int, torch.Tensor | None]:
    """Return both as tensors of two dimensions, how many columns to look at, and which rows, None for all."""
    width = covered_width(logits, bitmask, vocab_size)
    if bitmask.dtype != bitmask_dtype:
        raise BitmaskError(f"the bitmask must have dtype int32, not {bitmask.dtype}")
    if not logits.is_floating_point():
        raise BitmaskError(f"the logits must have a floating dtype, not {logits.dtype}")
    if logits.device != bitmask.device:
        raise BitmaskError(f"the logits are on {logits.device}, but the bitmask is on {bitmask.device}")
    rows, masks = as_rows(logits), as_rows(bitmask)
    return rows, masks, width, row_tensor(indices, rows, masks)
