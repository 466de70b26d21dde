"""New bitmasks, for numpy and torch.

    >>> allocate_token_bitmask(1, 33).tolist()
    [[-1, -1]]

Tested by tests/contract/test_api_errors.py.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from maskwright.errors import BitmaskError
from maskwright.support.arguments import as_integer


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
        batch_size: The number of rows.
        vocab_size: The number of tokens per row, including the padding of the model's logits.
        library: `"numpy"` for an array, `"torch"` for a tensor.
        pin_memory: For torch: page-locked memory, so that copies to a GPU overlap with other work.

    Raises:
        ArgumentError: A size is not an int.
        BitmaskError: A size is not positive, the library is unknown, or memory cannot be pinned.
    """
    hint = "pass tokenizer_info.vocab_size" if hasattr(vocab_size, "vocab_size") else None
    shape = (as_integer("batch_size", batch_size), (as_integer("vocab_size", vocab_size, hint=hint) + 31) // 32)
    if shape[0] < 1 or shape[1] < 1:
        raise BitmaskError(f"batch_size and vocab_size must be positive, not {batch_size} and {vocab_size}")
    if not isinstance(library, str):
        raise BitmaskError(f"unknown library {type(library).__name__}", hint='use "numpy" or "torch"')
    if library == "numpy":
        if pin_memory:
            raise BitmaskError("numpy has no pinned memory", hint='pass library="torch"')
        return np.full(shape, -1, dtype=np.int32)
    if library == "torch":
        import torch

        try:
            return torch.full(shape, -1, dtype=torch.int32, pin_memory=pin_memory)
        except RuntimeError as error:
            if not pin_memory:
                raise
            raise BitmaskError(
                f"memory cannot be pinned: {str(error).splitlines()[0]}", hint="pin memory only where there is a GPU"
            ) from None
    raise BitmaskError(f"unknown library {library!r}", hint='use "numpy" or "torch"')
