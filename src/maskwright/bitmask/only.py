"""A row of a bitmask that allows a few tokens, for outputs that have no mask of their own.

    >>> bitmask = np.full((1, 2), -1, dtype=np.int32)
    >>> allow_only(bitmask[0], [1, 63])
    >>> bitmask.tolist()
    [[2, -2147483648]]

Tested by tests/compat/test_xgrammar_objects.py and tests/integrations/test_vllm_adapter.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from maskwright.bitmask.buffers import is_tensor


def allow_only(row: Any, token_ids: Iterable[int]) -> None:
    """Let a row, (words,) int32 on the CPU, an array of numpy or a tensor, allow these tokens and no others."""
    words = (row.numpy() if is_tensor(row) else row).view(np.uint32)
    words[:] = 0
    for token_id in token_ids:
        words[token_id >> 5] |= 1 << (token_id & 31)
