"""Masks are applied to logits on a CPU in one pass, in the dtype that they have.

vLLM converts them to float32 and back for XGrammar's kernel. On GPUs vLLM's own code stays: its kernels apply any mask.
Tested by tests/integrations/test_vllm_adapter.py and tests/engines/vllm/test_vllm_offline.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwright import apply_token_bitmask_inplace


def apply_on_cpu(scheduler_output: Any, grammar_output: Any, request_ids: list[str], logits: Any) -> None:
    """Mask the logits of the requests that have a structure, (rows, vocab_size), in place.

    A request has a row for the next token, before it one for each token of its draft. Masks come in the order of
    `grammar_output.structured_output_request_ids`.
    """
    drafts = scheduler_output.scheduled_spec_decode_tokens
    first_row, row = {}, 0
    for request_id in request_ids:
        first_row[request_id] = row
        row += 1 + len(drafts.get(request_id, ()))
    masked = grammar_output.structured_output_request_ids
    masks = grammar_output.grammar_bitmask
    num_rows = [1 + len(drafts.get(request_id, ())) for request_id in masked]
    # From vLLM 0.33 on every request has as many masks, whatever its draft.
    strides = num_rows if sum(num_rows) == len(masks) else [len(masks) // len(masked)] * len(masked)
    rows: list[int] = []
    order: list[int] = []
    start = 0
    for request_id, count, stride in zip(masked, num_rows, strides, strict=True):
        row = first_row.get(request_id, -1)
        if row >= 0:
            rows += range(row, row + count)
            order += range(start, start + count)
        start += stride
    if order != rows or len(rows) != len(masks):
        by_row = np.empty((len(logits), masks.shape[1]), np.int32)
        by_row[rows] = masks[order]
        masks = by_row
    apply_token_bitmask_inplace(logits[: len(masks)], masks, indices=None if len(rows) == len(masks) else rows)
