"""Token bitmasks: int32, 32 tokens a word, the lowest bit first, 1 = allowed.

    >>> mask = allocate_token_bitmask(2, 100)
    >>> mask.shape, mask.dtype
    ((2, 4), dtype('int32'))

Logits of tokens that are not allowed become minus infinity, in place. The work is done by the kernel on the buffers'
addresses; this module checks their form, and knows torch only by what it is given.
Tested by tests/contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from maskwright import _kernel
from maskwright.arguments import as_integer, as_tuple
from maskwright.errors import BitmaskError

_ALLOCATE_HINT = "create it with maskwright.allocate_token_bitmask(batch_size, vocab_size)"


@overload
def allocate_token_bitmask(
    batch_size: int, vocab_size: int, *, library: Literal["numpy"] = "numpy", pin_memory: bool = False
) -> npt.NDArray[np.int32]: ...


@overload
def allocate_token_bitmask(
    batch_size: int, vocab_size: int, *, library: Literal["torch"], pin_memory: bool = False
) -> Any: ...


def allocate_token_bitmask(
    batch_size: int, vocab_size: int, *, library: Literal["numpy", "torch"] = "numpy", pin_memory: bool = False
) -> Any:
    """Return a bitmask that allows everything: (batch_size, ceil(vocab_size / 32)) int32, CPU, C-contiguous.

    Args:
        batch_size: Rows.
        vocab_size: Tokens a row, the padding of the model's logits included.
        library: `"numpy"` for an array, `"torch"` for a tensor.
        pin_memory: For torch: page-locked memory, so that copies to a GPU overlap with work.

    Raises:
        ArgumentError: A size is not an int.
        BitmaskError: A size is not positive, or the library is unknown.
    """
    shape = (as_integer("batch_size", batch_size), (as_integer("vocab_size", vocab_size) + 31) // 32)
    if shape[0] < 1 or shape[1] < 1:
        raise BitmaskError(f"batch_size and vocab_size must be positive, not {batch_size} and {vocab_size}")
    if not isinstance(library, str):
        raise BitmaskError(f"unknown library {type(library).__name__}", hint='use "numpy" or "torch"')
    if library == "numpy":
        return np.full(shape, -1, dtype=np.int32)
    if library == "torch":
        import torch

        return torch.full(shape, -1, dtype=torch.int32, pin_memory=pin_memory)
    raise BitmaskError(f"unknown library {library!r}", hint='use "numpy" or "torch"')


def apply_token_bitmask_inplace(
    logits: Any, bitmask: Any, *, vocab_size: int | None = None, indices: Sequence[int] | None = None
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Args:
        logits: (batch, vocab) or (vocab,), float32, float16 or bfloat16 (torch), CPU, the last dimension contiguous.
        bitmask: (batch, words) or (words,) int32 of the same library or numpy, CPU, C-contiguous.
        vocab_size: How many logits of each row to mask; by default all. Those that the bitmask does not cover are not
            allowed.
        indices: The rows to mask; by default all. Row i of the bitmask belongs to row i of the logits.

    Raises:
        BitmaskError: A buffer has the wrong type, dtype, shape, device or layout; nothing is written.
    """
    target = _logits_buffer(logits)
    source = _bitmask_buffer(bitmask)
    width = target.columns if vocab_size is None else as_integer("vocab_size", vocab_size)
    if not 0 <= width <= target.columns:
        raise BitmaskError(f"vocab_size is {width}, but the logits have {target.columns} columns")
    if indices is None:
        if target.rows != source.rows:
            raise BitmaskError(
                f"the logits have {target.rows} rows, but the bitmask has {source.rows}", hint="pass indices="
            )
        rows = list(range(target.rows))
    else:
        rows = [as_integer("each of indices", i) for i in as_tuple("indices", indices, "a list of rows")]
        for row in rows:
            if not 0 <= row < min(target.rows, source.rows):
                raise BitmaskError(f"row {row} is out of range for {min(target.rows, source.rows)} rows")
    _kernel.apply_mask(
        target.address,
        target.kind,
        target.row_bytes,
        width,
        source.address,
        source.columns,
        [(row, row) for row in rows],
    )


class _Buffer(NamedTuple):
    address: int
    rows: int
    columns: int
    row_bytes: int
    kind: int  # LogitType of cpp/kernel/apply.h


_LOGIT_KINDS = {"float32": 0, "float16": 1, "torch.float32": 0, "torch.float16": 1, "torch.bfloat16": 2}


def _logits_buffer(logits: Any) -> _Buffer:
    kind = _LOGIT_KINDS.get(str(getattr(logits, "dtype", type(logits).__name__)))
    if kind is None:
        raise BitmaskError(
            f"logits must be float32, float16 or bfloat16, not {getattr(logits, 'dtype', type(logits).__name__)}"
        )
    buffer = _buffer(logits, "logits", kind)
    if isinstance(logits, np.ndarray) and not logits.flags.writeable:
        raise BitmaskError("the logits are read-only")
    return buffer


def _bitmask_buffer(bitmask: Any) -> _Buffer:
    if str(getattr(bitmask, "dtype", None)) not in ("int32", "torch.int32"):
        raise BitmaskError(
            f"the bitmask must have dtype int32, not {getattr(bitmask, 'dtype', type(bitmask).__name__)}",
            hint=_ALLOCATE_HINT,
        )
    buffer = _buffer(bitmask, "bitmask", 0)
    if buffer.rows > 1 and buffer.row_bytes != 4 * buffer.columns:
        raise BitmaskError("the bitmask must be C-contiguous", hint=_ALLOCATE_HINT)
    return buffer


def _buffer(array: Any, what: str, kind: int) -> _Buffer:
    """Read address and shape of a numpy array or a CPU tensor."""
    shape = tuple(array.shape)
    if len(shape) not in (1, 2) or 0 in shape:
        raise BitmaskError(f"the {what} must be (batch, columns) or (columns,), not {shape}")
    if isinstance(array, np.ndarray):
        address, strides = array.ctypes.data, array.strides
        item_bytes = array.itemsize
    elif hasattr(array, "data_ptr"):
        if array.device.type != "cpu":
            raise BitmaskError(f"the {what} must be on the CPU, not on {array.device}")
        item_bytes = array.element_size()
        address, strides = array.data_ptr(), tuple(s * item_bytes for s in array.stride())
    else:
        raise BitmaskError(f"the {what} must be a numpy array or a torch tensor, not {type(array).__name__}")
    if shape[-1] > 1 and strides[-1] != item_bytes:
        raise BitmaskError(f"the last dimension of the {what} must be contiguous")
    if len(shape) == 1:
        return _Buffer(address, 1, shape[0], strides[0] * shape[0], kind)
    return _Buffer(address, shape[0], shape[1], strides[0], kind)
