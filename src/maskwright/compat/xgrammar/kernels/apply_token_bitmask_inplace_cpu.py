"""Apply a bitmask to logits on the CPU, in one pass of Maskwright's kernel.

Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

import torch

from maskwright.compat.xgrammar.bitmask import apply_by_kernels
from maskwright.compat.xgrammar.exception import as_xgrammar_errors


@as_xgrammar_errors()
def apply_token_bitmask_inplace_cpu(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | torch.Tensor | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity; all tensors are on the CPU."""
    apply_by_kernels(logits, bitmask, vocab_size, indices)
