"""Token bitmasks as torch tensors: allocate, reset, apply.

    >>> bitmask = allocate_token_bitmask(2, 100)
    >>> tuple(bitmask.shape), bitmask.dtype
    ((2, 4), torch.int32)

XGrammar has these functions in its module `matcher`, which offers them here as well. Logits beyond the bitmask's last
word are left as they are, as XGrammar documents: pass a bitmask for the whole width of the logits.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

import maskwright
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.errors import BitmaskError
from maskwright.support.arguments import as_integer, instance

bitmask_dtype = torch.int32
"""The dtype of bitmasks."""

Backend = Literal["auto", "cpu", "cuda", "triton", "torch_compile", "torch_native"]


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Return the shape of a bitmask: (batch_size, ceil(vocab_size / 32))."""
    return batch_size, -(-vocab_size // 32)


@as_xgrammar_errors()
def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """Return a bitmask that allows everything: (batch_size, ceil(vocab_size / 32)) int32, on the CPU."""
    rows, columns = as_integer("batch_size", batch_size, at_least=0), as_integer("vocab_size", vocab_size, at_least=0)
    return torch.full(get_bitmask_shape(rows, columns), -1, dtype=bitmask_dtype)


@as_xgrammar_errors()
def reset_token_bitmask(bitmask: torch.Tensor) -> None:
    """Allow everything again."""
    instance("bitmask", bitmask, torch.Tensor).fill_(-1)


@as_xgrammar_errors()
def apply_token_bitmask_inplace(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    vocab_size: int | None = None,
    indices: list[int] | None = None,
    backend: Backend = "auto",
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Args:
        logits: (batch, vocab) or (vocab,), of a floating dtype.
        bitmask: (batch, words) or (words,) int32, on the device of the logits.
        vocab_size: How many logits of each row to look at; by default as many as both have.
        indices: The rows to mask, of the logits and of the bitmask alike.
        backend: Which implementation: "auto" takes the fastest for the device; "torch_native" and "torch_compile" are
            plain torch; the others require tensors on their device.

    Raises:
        BitmaskError: A tensor has the wrong dtype, shape or device.
        OptionError: There is no such backend.
    """
    if backend == "auto":
        return apply_by_kernels(logits, bitmask, vocab_size, indices)
    from maskwright.compat.xgrammar import kernels

    kernels.implementation(backend)(logits, bitmask, vocab_size, indices)


def covered_width(logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None) -> int:
    """Return how many logits of each row are looked at.

    Raises:
        BitmaskError: The arguments are not tensors of these forms, or `vocab_size` is more than they have.
    """
    for name, each in (("logits", logits), ("bitmask", bitmask)):
        if not isinstance(each, torch.Tensor):
            raise BitmaskError(f"{name} must be a torch.Tensor, not {type(each).__name__}")
        if each.dim() not in (1, 2):
            raise BitmaskError(f"{name} must have 1 or 2 dimensions, not {each.dim()}")
    both = min(logits.shape[-1], bitmask.shape[-1] * 32)
    if vocab_size is None:
        return both
    width = as_integer("vocab_size", vocab_size, at_least=0)
    if width > both:
        raise BitmaskError(f"vocab_size is {width}, but logits and bitmask have {both} columns")
    return width


def as_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of two dimensions: one of one dimension is a row."""
    return tensor if tensor.dim() == 2 else tensor.unsqueeze(0)


def apply_by_kernels(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None = None, indices: Any = None
) -> None:
    """Apply a bitmask in one pass where the logits are: by the kernel on the CPU, by Triton on a GPU."""
    width = covered_width(logits, bitmask, vocab_size)
    maskwright.apply_token_bitmask_inplace(logits, bitmask.contiguous(), vocab_size=width, indices=indices)


def apply_on_gpu(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None = None, indices: Any = None
) -> None:
    """Apply a bitmask in one pass on a GPU.

    Raises:
        BitmaskError: A tensor is on the CPU, or has the wrong dtype or shape.
    """
    if isinstance(logits, torch.Tensor) and logits.device.type == "cpu":
        raise BitmaskError("the logits must be on a GPU, not on the CPU", hint='use backend="auto"')
    apply_by_kernels(logits, bitmask, vocab_size, indices)
