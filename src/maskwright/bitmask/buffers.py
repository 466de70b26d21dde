"""Logits and bitmasks in the computer's memory: numpy arrays and torch tensors as addresses and strides for the kernel.

    >>> import numpy as np
    >>> logits = read_logits(np.zeros((4, 100), np.float32)[::2])
    >>> logits.rows, logits.columns, logits.row_bytes
    (2, 100, 800)

What the kernel relies on is checked here: type, dtype, shape, device, that values of a row are adjacent, that values
are aligned, that rows of logits do not overlap and may be written. torch is known only by what is passed.
Tested by tests/kernel/test_apply.py and tests/contract/test_api_errors.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright import _kernel
from maskwright.errors import BitmaskError, type_name

ALLOCATE_HINT = "create it with maskwright.allocate_token_bitmask(batch_size, vocab_size)"
# By name of dtype: LogitType of cpp/kernel/masks/mask_words.h.
_LOGIT_KINDS = {
    "float32": 0,
    "float16": 1,
    "float64": 3,
    "bfloat16": 2,  # of ml_dtypes, a dtype of numpy
    "torch.float32": 0,
    "torch.float16": 1,
    "torch.bfloat16": 2,
    "torch.float64": 3,
}
_INT32 = ("int32", "torch.int32")
# The dtypes that were seen. Asking numpy for a name costs more than all other checks.
_known_kinds: dict[Any, int] = {}
_known_int32: set[Any] = set()
_dense_layouts: set[Any] = set()
LOGIT_DTYPES = "float32, float16, bfloat16 or float64"
# Arrays that cannot be changed in place, by the module of their type, and what to call instead.
_ELSEWHERE = {"mlx": "maskwright.bitmask.mlx.apply_token_bitmask", "jax": "maskwright.bitmask.jax.apply_token_bitmask"}


class Buffer(NamedTuple):
    """Rows of adjacent values."""

    address: int
    rows: int
    columns: int
    row_bytes: int  # from one row to the next
    item_bytes: int


def is_tensor(value: object) -> bool:
    """Tell whether this is a tensor of torch, without importing torch."""
    return hasattr(value, "data_ptr")


def logit_kind(logits: Any) -> int:
    """Return the kernel's number for the dtype of logits.

    Raises:
        BitmaskError: It is another dtype.
    """
    kind = _known_kinds.get(_dtype_of(logits))
    return _new_kind(logits) if kind is None else kind


def check_bitmask_dtype(bitmask: Any) -> None:
    """Raise a BitmaskError unless the dtype is int32."""
    dtype = _dtype_of(bitmask)
    if dtype not in _known_int32:
        if str(dtype) not in _INT32:
            raise BitmaskError(f"the bitmask must have dtype int32, not {_dtype_name(bitmask)}", hint=ALLOCATE_HINT)
        _known_int32.add(dtype)


def _dtype_of(array: Any) -> Hashable:
    dtype = getattr(array, "dtype", None)
    return dtype if type(dtype).__hash__ is not None else None


def _new_kind(logits: Any) -> int:
    dtype = _dtype_of(logits)
    kind = _LOGIT_KINDS.get(str(dtype))
    if not (isinstance(logits, np.ndarray) or is_tensor(logits)):
        raise _not_an_array(logits, "logits")
    if kind is None:
        hint = "pass the logits first, then the bitmask" if str(dtype) in _INT32 else None
        raise BitmaskError(f"the logits must have dtype {LOGIT_DTYPES}, not {_dtype_name(logits)}", hint=hint)
    _known_kinds[dtype] = kind
    return kind


def check_shape(name: str, shape: tuple[int, ...]) -> None:
    """Raise a BitmaskError unless this is a row, or rows, that are not empty."""
    if len(shape) not in (1, 2) or 0 in shape:
        hint = None
        if 0 not in shape and len(shape) > 2:  # what models return: one row of logits for each token of the prompt
            hint = "pass those of the last token: logits[:, -1]" if name == "logits" else ALLOCATE_HINT
        raise BitmaskError(f"the {name} must have shape (batch, columns) or (columns,), not {shape}", hint=hint)


def read_logits(logits: Any) -> Buffer:
    """Read what is to be written to."""
    buffer = _read(logits, "logits")
    if isinstance(logits, np.ndarray):
        if not logits.flags.writeable:
            raise BitmaskError("the logits are read-only", hint="pass a copy: logits.copy()")
    elif logits.requires_grad:
        raise BitmaskError(
            "the logits require a gradient, which masking in place would make wrong",
            hint="decode under torch.inference_mode(), or pass logits.detach()",
        )
    if buffer.rows > 1 and abs(buffer.row_bytes) < buffer.columns * buffer.item_bytes:
        raise BitmaskError("the rows of the logits overlap in memory", hint="pass a copy: logits.clone()")
    return buffer


def read_bitmask(bitmask: Any) -> Buffer:
    """Read a bitmask; its rows may overlap, as those of one mask that is expanded to a batch."""
    check_bitmask_dtype(bitmask)
    return _read(bitmask, "bitmask")


def _read(array: Any, name: str) -> Buffer:
    """Read address and form of a numpy array or a CPU tensor: most of what a call costs where logits are few."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    if isinstance(array, np.ndarray):
        item_bytes, shape, strides = array.itemsize, array.shape, array.strides
        unit, address = 1, _address_of(array)
    elif is_tensor(array):
        if not array.is_cpu or array.layout not in _dense_layouts:
            _check_tensor(array, name)
        item_bytes, shape, strides = array.element_size(), array.shape, array.stride()
        unit, address = item_bytes, array.data_ptr()
    else:
        raise _not_an_array(array, name)
    if len(shape) == 2:
        rows, columns = shape
        row_bytes, step = strides[0] * unit if rows > 1 else 0, strides[1]
    elif len(shape) == 1:
        rows, columns, row_bytes, step = 1, shape[0], 0, strides[0]
    else:
        rows = columns = row_bytes = step = 0
    if not rows or not columns:
        check_shape(name, shape)
    if step * unit != item_bytes and columns > 1:
        raise BitmaskError(
            f"the last dimension of the {name} must be contiguous",
            hint="mask a copy and go on with it: x = numpy.ascontiguousarray(x), or x = x.contiguous() of torch",
        )
    if (address | row_bytes) % item_bytes:
        raise BitmaskError(f"the {name} must be aligned to the {item_bytes} bytes of its elements", hint="pass a copy")
    return Buffer(address, rows, columns, row_bytes, item_bytes)


def _address_of(array: npt.NDArray[Any]) -> int:
    try:
        return _kernel.address_of(array)
    except (BufferError, ValueError, TypeError):  # dtypes that are not numpy's own
        return int(array.ctypes.data)


def _check_tensor(tensor: Any, name: str) -> None:
    if not tensor.is_cpu:
        raise BitmaskError(f"the {name} must be on the CPU, not on {tensor.device}")
    if str(tensor.layout) != "torch.strided":
        raise BitmaskError(f"the {name} must be dense, not {tensor.layout}", hint=f"pass {name}.to_dense()")
    _dense_layouts.add(tensor.layout)


def _not_an_array(value: Any, name: str) -> BitmaskError:
    library = type(value).__module__.partition(".")[0].removesuffix("lib")
    function = _ELSEWHERE.get(library)
    hint = f"pass numpy.array({name})" if isinstance(value, list | tuple) else None
    return BitmaskError(
        f"the {name} must be a numpy array or a torch tensor, not {type_name(value)}",
        hint=hint if function is None else f"use {function}, which returns new logits",
    )


def _dtype_name(value: Any) -> str:
    return str(value.dtype) if hasattr(value, "dtype") and not isinstance(value, type) else type_name(value)
