"""Logits on a GPU: tokens are drawn there, by one kernel for all outputs, and only their ids come back.

    masks.fill(choosing)                                      in page-locked memory, while the GPU calculates
    drawn = drawn_on_device(choosing, logits, masks.send())   {row: token}; masks are applied as the logits are read
    row = on_host(logits[3])                                  for outputs that need more than that

Which outputs that is depends on the request alone, so that an output does not depend on its batch: penalties, a bias,
min-p, log-probabilities and drafts are calculated on the CPU, from a copy of the row. Both draw with the same random
numbers and, up to rounding, the same tokens, except with top-k and top-p: there the CPU goes through the tokens by
their likelihood and the kernel by their ids, so that a seed draws another token of the same distribution.
Not run on a GPU so far: tests/engine/test_device_rows.py runs it with tensors on the CPU, by torch's expressions and by
the kernel in Triton's interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import Any

import numpy as np

from maskwright.bitmask.sampling import masked_sample
from maskwright.engine.sequence import Sequence


def is_on_device(logits: Any) -> bool:
    """Whether these are tensors of torch, as models on a GPU return them, and not arrays of numpy."""
    return not isinstance(logits, np.ndarray)


def copied(row: Any) -> Any:
    """A row of logits to keep."""
    return row.clone() if is_on_device(row) else row.copy()


def on_host(row: Any) -> Any:
    """A row of logits as an array of numpy, which may be changed."""
    return row.cpu().numpy() if is_on_device(row) else row


def joined(logits: Any, rows: Several[Any]) -> Any:
    """Logits, and rows behind them."""
    if not is_on_device(rows[0]):
        return np.concatenate([logits, np.stack(rows)])
    import torch

    kept = torch.stack(list(rows))
    return torch.cat([logits, kept]) if len(logits) else kept


def is_drawn_on_device(sequence: Sequence) -> bool:
    """Whether the tokens of an output are drawn where its logits are."""
    params = sequence.params
    return not (
        params.has_penalties or params.min_p or params.logprobs is not None or sequence.request.propose is not None
    )


def drawn_on_device(choosing: Several[Sequence], logits: Any, bitmask: Any) -> dict[int, int]:
    """Draw the next tokens of those outputs for which that can be done there.

    Args:
        choosing: The outputs. One has a row of logits, and one more for each drafted token.
        logits: (rows, vocab_size), on a device. They are not changed.
        bitmask: (rows, words), on the same device.

    Returns:
        By row, its token; -1 if no token that is allowed has a finite logit.
    """
    count = len(logits)
    temperature, top_k, top_p = [0.0] * count, [0] * count, [1.0] * count
    seeds, positions, rows = [0] * count, [0] * count, list[int]()
    first = 0
    for sequence in choosing:
        if is_drawn_on_device(sequence) and not sequence.awaits_grammar:
            params, held = sequence.params, sequence.matcher
            of_grammar = None if held is None else held.temperature()
            temperature[first] = params.temperature if of_grammar is None else of_grammar
            top_k[first], top_p[first] = params.top_k, params.top_p
            seeds[first], positions[first] = _signed(sequence.chooser.seed), sequence.num_output
            rows.append(first)
        first += 1 + len(sequence.draft)
    if not rows:
        return {}
    tokens = masked_sample(
        logits,
        bitmask,
        temperature=temperature,
        top_k=top_k if any(top_k) else None,
        top_p=top_p if min(top_p) < 1.0 else None,
        seeds=seeds,
        positions=positions,
    )
    found = tokens.tolist()  # the one place where the CPU waits for the GPU
    return {row: found[row] for row in rows}


def _signed(seed: int) -> int:
    """The seed as the kernel takes it, the same 64 bits."""
    return seed - (1 << 64) if seed >= 1 << 63 else seed
