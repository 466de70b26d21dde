"""Tensors on a GPU or another device: checked in the way of `buffers`, and masked by Triton where that can be used.

    CUDA, ROCm, XPU with Triton installed     `triton_apply`
    other devices                             `expressions`

Tested by tests/kernel/test_sampling.py and tests/kernel/test_triton.py.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

from maskwright.bitmask.buffers import check_bitmask_dtype, check_shape, is_tensor, logit_kind
from maskwright.errors import BitmaskError, type_name
from maskwright.support.arguments import as_integer, as_tuple

_TRITON_DEVICES = ("cuda", "xpu")


def apply_on_device(logits: Any, bitmask: Any, width: int, indices: Any) -> None:
    """Mask (batch, vocab) logits in place, which `checked_rows` returned, wherever they are."""
    rows = row_tensor(indices, logits, bitmask)
    backend = importlib.import_module(f"maskwright.bitmask.{'triton_apply' if uses_triton(logits) else 'expressions'}")
    backend.apply(logits, bitmask, width, rows)


def uses_triton(tensor: Any) -> bool:
    """Tell whether Triton's kernels run where this tensor is."""
    return tensor.device.type in _TRITON_DEVICES and _has_triton()


@functools.cache
def _has_triton() -> bool:
    try:
        importlib.import_module("triton")
    except ImportError:
        return False
    return True


def checked_rows(logits: Any, bitmask: Any) -> tuple[Any, Any]:
    """Return tensors as (batch, vocab) and (batch, words).

    Raises:
        BitmaskError: One of them is no tensor, or has the wrong dtype, shape, layout or device.
    """
    for name, value in (("logits", logits), ("bitmask", bitmask)):
        if not is_tensor(value):
            raise BitmaskError(
                f"the {name} must be a torch tensor like the other argument, not {type_name(value)}",
                hint="torch.from_numpy(array).to(device)",
            )
    logit_kind(logits)
    check_bitmask_dtype(bitmask)
    for name, tensor in (("logits", logits), ("bitmask", bitmask)):
        check_shape(name, tensor.shape)
        if tensor.device.type == "meta":
            raise BitmaskError(f"the {name} are on the device meta, which holds no data")
        if str(tensor.layout) != "torch.strided":
            raise BitmaskError(f"the {name} must be dense, not {tensor.layout}", hint=f"pass {name}.to_dense()")
        if tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
            raise BitmaskError(f"the last dimension of the {name} must be contiguous", hint="pass x.contiguous()")
    if logits.device != bitmask.device:
        raise BitmaskError(
            f"the logits are on {logits.device}, but the bitmask is on {bitmask.device}",
            hint="copy the bitmask first: bitmask.to(logits.device, non_blocking=True)",
        )
    return (logits if logits.dim() == 2 else logits[None]), (bitmask if bitmask.dim() == 2 else bitmask[None])


def row_tensor(indices: Any, logits: Any, bitmask: Any) -> Any | None:
    """Return the rows to mask as integers on the device of the logits; None for all.

    Rows in a list or on the CPU are checked. Those on a device are not, as that would wait for it: rows out of range
    are left out there.
    """
    if indices is None:
        if logits.shape[0] != bitmask.shape[0]:
            raise BitmaskError(
                f"the logits have {logits.shape[0]} rows, but the bitmask has {bitmask.shape[0]}",
                hint="pass indices=, or one mask for all rows as bitmask.expand(...)",
            )
        return None
    if is_tensor(indices) and indices.device.type != "cpu":
        return _device_rows(indices, logits)
    import torch

    common = min(logits.shape[0], bitmask.shape[0])
    return torch.tensor(listed_rows(indices, common), dtype=torch.int64).to(logits.device)


def listed_rows(indices: Sequence[int], num_rows: int) -> list[int]:
    """Return rows, each once.

    Raises:
        ArgumentError: They are no list of ints.
        BitmaskError: One is out of range.
    """
    values = indices.tolist() if is_tensor(indices) else indices  # type: ignore[attr-defined]
    rows = dict.fromkeys(as_integer("each of indices", i) for i in as_tuple("indices", values, "a list of rows"))
    for row in rows:
        if not 0 <= row < num_rows:
            rows_there = "1 row" if num_rows == 1 else f"{num_rows} rows"
            raise BitmaskError(
                f"indices names row {row}, but there are logits and a mask for {rows_there}", hint="rows count from 0"
            )
    return list(rows)


def _device_rows(indices: Any, logits: Any) -> Any:
    if str(indices.dtype) not in ("torch.int32", "torch.int64") or indices.dim() != 1:
        raise BitmaskError(
            f"indices must be a one-dimensional tensor of int32 or int64, not {tuple(indices.shape)} {indices.dtype}"
        )
    if indices.device != logits.device:
        raise BitmaskError(f"the logits are on {logits.device}, but the indices are on {indices.device}")
    return indices.contiguous()
