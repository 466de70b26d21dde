"""Apply a bitmask by code that `torch.compile` makes of the plain implementation.

Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.compat.xgrammar.kernels.apply_token_bitmask_inplace_torch import (
    apply_token_bitmask_inplace_kernel_indices_torch,
    apply_token_bitmask_inplace_kernel_no_indices_torch,
    checked,
)


@cache
def _compiled(function: Callable[..., None]) -> Callable[..., None]:
    return torch.compile(function, dynamic=True)


def apply_token_bitmask_inplace_kernel_no_indices_torch_compile(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int
) -> None:
    """Mask every row."""
    _compiled(apply_token_bitmask_inplace_kernel_no_indices_torch)(logits, bitmask, vocab_size)


def apply_token_bitmask_inplace_kernel_indices_torch_compile(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int, indices: list[int]
) -> None:
    """Mask these rows of both."""
    rows = torch.as_tensor(indices, dtype=torch.long, device=logits.device)
    _compiled(apply_token_bitmask_inplace_kernel_indices_torch)(logits, bitmask, vocab_size, rows)


@as_xgrammar_errors()
def apply_token_bitmask_inplace_torch_compile(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity."""
    rows, masks, width = checked(logits, bitmask, vocab_size, indices)
    if indices is None:
        apply_token_bitmask_inplace_kernel_no_indices_torch_compile(rows, masks, width)
    else:
        apply_token_bitmask_inplace_kernel_indices_torch_compile(rows, masks, width, indices)
