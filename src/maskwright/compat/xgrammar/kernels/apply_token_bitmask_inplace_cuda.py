"""Apply a bitmask to logits on a GPU, by the name that XGrammar gives its CUDA implementation.

Tested by tests/compat/test_xgrammar_errors.py.
"""

from __future__ import annotations

import torch

from maskwright.compat.xgrammar.bitmask import apply_on_gpu
from maskwright.compat.xgrammar.exception import as_xgrammar_errors


@as_xgrammar_errors()
def apply_token_bitmask_inplace_cuda(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: list[int] | torch.Tensor | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity; all tensors are on a GPU.

    Raises:
        BitmaskError: A tensor is on the CPU, or has the wrong dtype or shape.
    """
    apply_on_gpu(logits, bitmask, vocab_size, indices)
