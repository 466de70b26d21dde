"""`torch.ops.maskwright.apply_token_bitmask_`: masking as an operator that torch.compile takes as it is.

    from maskwright.bitmask.torch_op import apply_token_bitmask_

    @torch.compile(fullgraph=True)
    def next_tokens(hidden, head, bitmask):
        logits = hidden @ head
        apply_token_bitmask_(logits, bitmask)
        return logits.argmax(dim=-1)

It does what `apply_token_bitmask_inplace` does, on any device: graphs are not broken, and the compiler knows that the
logits change. Importing this module registers it. Needs torch 2.4.
Tested by tests/kernel/test_torch_op.py.
"""

from __future__ import annotations

import torch

from maskwright.bitmask.apply import apply_token_bitmask_inplace

_SCHEMA = "(Tensor(a!) logits, Tensor bitmask, int? vocab_size=None, Tensor? indices=None) -> ()"


def _apply(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None = None, indices: torch.Tensor | None = None
) -> None:
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices)  # type: ignore[arg-type]


def _trace(
    logits: torch.Tensor, bitmask: torch.Tensor, vocab_size: int | None = None, indices: torch.Tensor | None = None
) -> None:
    """Nothing is returned, so there is nothing to describe."""


apply_token_bitmask_ = torch.library.custom_op(
    "maskwright::apply_token_bitmask_", _apply, mutates_args=("logits",), schema=_SCHEMA
)
apply_token_bitmask_.register_fake(_trace)
