"""Bitmasks as expressions of torch, for devices that neither the kernel nor Triton reaches, and for torch.compile.

    >>> import torch
    >>> allowed_columns(torch.tensor([[0b101]], dtype=torch.int32), 4)
    tensor([[ True, False,  True, False]])

Tested by tests/kernel/test_sampling.py and tests/kernel/test_torch_op.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def allowed_columns(bitmask: torch.Tensor, columns: int) -> torch.Tensor:
    """Return (batch, columns) bool: whether each token is allowed; beyond the bitmask none is."""
    import torch

    bits = bitmask.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32, device=bitmask.device) & 1
    covered = bits.flatten(1)[:, :columns] != 0
    if covered.shape[1] == columns:
        return covered
    return torch.nn.functional.pad(covered, (0, columns - covered.shape[1]), value=False)


def apply(logits: torch.Tensor, bitmask: torch.Tensor, width: int, rows: torch.Tensor | None) -> None:
    """Mask rows of (batch, vocab) logits in place; the arguments are those of `triton_apply.apply`."""
    import torch

    target = logits[:, :width]
    if rows is None:
        target.masked_fill_(~allowed_columns(bitmask, width), -torch.inf)
    else:
        rows = rows.long()
        target[rows] = target[rows].masked_fill(~allowed_columns(bitmask[rows], width), -torch.inf)
