"""Token bitmasks: int32, 32 tokens a word, the lowest bit first, 1 = allowed.

    >>> import numpy as np
    >>> mask = allocate_token_bitmask(2, 100)
    >>> mask.shape, mask.dtype
    ((2, 4), dtype('int32'))
    >>> mask[:] = 0b101
    >>> logits = np.ones((2, 100), np.float32)
    >>> apply_token_bitmask_inplace(logits, mask)
    >>> logits[0, :4].tolist()
    [1.0, -inf, 1.0, -inf]

`allocate` makes them and `apply` applies them, by what runs where the logits are:

    numpy, torch on the CPU          `buffers` → the kernel (cpp/kernel/masks/apply.h)
    torch on CUDA, ROCm, XPU         `devices` → `triton_apply`, where Triton is installed
    torch on other devices           `devices` → `expressions`
    in functions for torch.compile   `torch_op`, over all of these
    MLX, JAX                         `mlx`, `jax` → `functional`

`sampling` chooses tokens without masked logits in between (`triton_sampling`, `sampling_expressions`, `philox`), and
`staging` copies bitmasks to a GPU while it calculates.

Nothing here imports an array library other than numpy before it is given something of that library.
Tested by tests/kernel/test_apply.py and tests/contract/test_api_errors.py; docs/applying_masks.md is for users.
"""

from __future__ import annotations

from maskwright.bitmask.allocate import allocate_token_bitmask as allocate_token_bitmask
from maskwright.bitmask.apply import apply_token_bitmask_inplace as apply_token_bitmask_inplace
