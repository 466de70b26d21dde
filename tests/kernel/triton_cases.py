"""The Triton kernels against the model and the expressions of torch, on CPU tensors by Triton's interpreter.

test_triton.py runs this in a process of its own, as `TRITON_INTERPRET` counts when triton is imported. Blocks are
small, so that rows have several.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from kernel import sampling_model
from kernel.test_sampling import COLUMNS, draw, model_rows
from maskwright.bitmask import expressions, sampling_expressions, triton_apply, triton_sampling
from maskwright.bitmask.philox import philox


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_apply, "_BLOCK", 64)
    monkeypatch.setattr(triton_sampling, "_BLOCK", 64)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_apply(dtype: str) -> None:
    """All widths around words and blocks, strided rows, masks shorter and longer than the row, rows in any order."""
    rng = np.random.default_rng(0)
    for width, words in itertools.product((1, 31, 32, 33, 63, 64, 65, 130), (1, 2, 3, 6)):
        whole = torch.from_numpy(rng.normal(size=(6, 140)).astype(np.float32)).to(getattr(torch, dtype))
        bitmask = torch.from_numpy(rng.integers(-(2**31), 2**31, (3, 2 * words), np.int32))[:, :words]
        for rows in (None, torch.tensor([2, 0]), torch.tensor([], dtype=torch.int64)):
            by_triton, by_torch = whole.clone(), whole.clone()
            triton_apply.apply(by_triton[::2], bitmask, width, rows)
            expressions.apply(by_torch[::2], bitmask, width, rows)
            assert torch.equal(by_triton, by_torch)


def test_rows_on_a_device_that_are_out_of_range_are_left_out() -> None:
    logits = torch.zeros((3, 40))
    triton_apply.apply(logits, torch.zeros((3, 2), dtype=torch.int32), 40, torch.tensor([5, -1, 1]))
    assert logits.isinf().all(dim=1).tolist() == [False, True, False]


@triton.jit
def _philox_kernel(seed, position, words):  # type: ignore[no-untyped-def]
    at = tl.load(position)
    zero = at.to(tl.int32) * 0
    a, b, c, d = tl.philox(tl.load(seed), at.to(tl.int32), (at >> 32).to(tl.int32), zero, zero)
    tl.store(words, a.to(tl.int64) & 0xFFFFFFFF)
    tl.store(words + 1, b.to(tl.int64) & 0xFFFFFFFF)
    tl.store(words + 2, c.to(tl.int64) & 0xFFFFFFFF)
    tl.store(words + 3, d.to(tl.int64) & 0xFFFFFFFF)


def test_our_philox_is_that_of_triton() -> None:
    for seed, position in itertools.product((0, 1, -1, 2**62 + 3), (0, 1, 2**33 + 5)):
        words = torch.zeros(4, dtype=torch.int64)
        _philox_kernel[(1,)](torch.tensor([seed]), torch.tensor([position]), words)
        assert tuple(words.tolist()) == philox(seed, position)


@pytest.mark.parametrize("trial", range(4))
def test_argmax_and_softmax(trial: int) -> None:
    logits, bitmask = draw(trial)
    masked = None if trial % 2 else torch.tensor([1, 0, 1], dtype=torch.uint8)
    width = COLUMNS - 3 * trial
    rows = model_rows(logits, bitmask, width, masked)
    tokens, shares = torch.empty(3, dtype=torch.int64), torch.full((3, COLUMNS), torch.nan)
    triton_sampling.argmax(logits, bitmask, masked, width, tokens)
    assert tokens.tolist() == [sampling_model.argmax(row) for row in rows]
    temperatures = torch.tensor([0.5, 1.0, 2.5])
    triton_sampling.softmax(logits, bitmask, masked, width, 1 / temperatures, shares)
    expected = [sampling_model.softmax(row, float(t), COLUMNS) for row, t in zip(rows, temperatures, strict=True)]
    assert np.allclose(shares.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("trial", range(5))
@pytest.mark.parametrize("options", ["none", "top_k", "top_p", "both"])
def test_sample(options: str, trial: int) -> None:
    """The tokens of the model bit for bit, and those of the expressions of torch."""
    logits, bitmask = draw(trial)
    masked = None if trial % 2 else torch.tensor([1, 0, 1], dtype=torch.uint8)
    temperatures = torch.tensor([0.7, 1.0, 0.0 if trial == 4 else 2.0])
    top_k = torch.tensor([0, 5, 200]) if options in ("top_k", "both") else None
    top_p = torch.tensor([0.3, 0.0 if trial == 3 else 0.5, 1.0]) if options in ("top_p", "both") else None
    seeds, positions = torch.tensor([trial, -(2**40), 2**62 + trial]), torch.tensor([trial, 0, 2**33])
    inverse = torch.where(temperatures < 1e-5, 0.0, 1 / temperatures)
    arguments: Any = (logits, bitmask, masked, COLUMNS, inverse, top_k, top_p, seeds, positions)
    by_triton, by_torch = torch.empty(3, dtype=torch.int64), torch.empty(3, dtype=torch.int64)
    triton_sampling.sample(*arguments, by_triton)
    sampling_expressions.sample(*arguments, by_torch)
    expected = [
        sampling_model.sample(
            row,
            float(temperatures[i]),
            None if top_k is None else int(top_k[i]),
            None if top_p is None else float(top_p[i]),
            int(seeds[i]),
            int(positions[i]),
        )
        for i, row in enumerate(model_rows(logits, bitmask, COLUMNS, masked))
    ]
    assert by_triton.tolist() == expected
    assert by_torch.tolist() == expected


def test_strided_rows_and_small_types() -> None:
    logits, bitmask = draw(2, rows=6)
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        tokens = torch.empty(3, dtype=torch.int64)
        triton_sampling.argmax(logits.to(dtype)[::2], bitmask[::2], None, COLUMNS, tokens)
        rows = model_rows(logits.to(dtype).float()[::2], bitmask[::2].contiguous())
        assert tokens.tolist() == [sampling_model.argmax(row) for row in rows]
