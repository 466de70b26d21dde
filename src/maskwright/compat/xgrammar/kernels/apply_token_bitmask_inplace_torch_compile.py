"""Apply a bitmask by code that `torch.compile` makes of the plain implementation.

Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

from maskwright.bitmask import expressions
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.compat.xgrammar.kernels.apply_token_bitmask_inplace_torch import checked


@cache
def _compiled() -> Callable[..., None]:
    return torch.compile(expressions.apply, dynamic=True)


def apply_token_bitmask_inplace_kernel_no_indices_torch_compile(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int
) -> None:
    """Mask every row."""
    _compiled()(logits, bitmask, vocab_size, None)


def apply_token_bitmask_inplace_kernel_indices_torch_compile(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int, indices: list[int]
) -> None:
    """Mask these rows of both."""
    _compiled()(logits, bitmask, vocab_size, torch.as_tensor(indices, device=logits.device))


@as_xgrammar_errors()
def apply_token_bitmask_inplace_torch_compile(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity."""
    rows, masks, width, where = checked(logits, bitmask, vocab_size, indices)
    _compiled()(rows, masks, width, where)
