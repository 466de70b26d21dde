"""Choosing tokens from logits and bitmasks where Triton does not run: against the model, by its public functions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import maskwright as mw
from kernel import sampling_model
from maskwright.bitmask.philox import philox, uniform

torch = pytest.importorskip("torch", reason="an optional dependency")

from maskwright.bitmask.sampling import masked_argmax, masked_sample, masked_softmax  # noqa: E402

COLUMNS = 150


def draw(trial: int, rows: int = 3) -> tuple[Any, Any]:
    """Logits, with equal ones in some trials, and bitmasks, one of which may be empty or shorter than the logits."""
    rng = np.random.default_rng(trial)
    logits = rng.normal(size=(rows, COLUMNS)).astype(np.float32) * 3
    if trial % 3 == 0:
        logits = np.round(logits * 2) / 2
    logits[0, trial] = np.nan
    words = rng.integers(0, 2**32, (rows, 3 + trial % 3), np.uint32)
    if trial % 4 == 0:
        words[1] = 0
    return torch.from_numpy(logits), torch.from_numpy(words.view(np.int32).copy())


def model_rows(logits: Any, bitmask: Any, width: int = COLUMNS, masked: Any = None) -> list[Any]:
    words = bitmask.numpy().view(np.uint32)
    flags = [True] * len(words) if masked is None else masked
    return [sampling_model.values(logits[i].numpy(), words[i], width, flags[i]) for i in range(len(words))]


@pytest.mark.parametrize("trial", range(12))
def test_argmax_and_softmax(trial: int) -> None:
    logits, bitmask = draw(trial)
    width = COLUMNS - trial
    indices = None if trial % 2 else [0, 2]
    rows = model_rows(logits, bitmask, width, None if indices is None else [True, False, True])
    before = logits.clone()
    chosen = masked_argmax(logits, bitmask, vocab_size=width, indices=indices)
    assert (chosen.dtype, chosen.tolist()) == (torch.int64, [sampling_model.argmax(row) for row in rows])
    temperatures = [0.5, 1.0, 2.5]
    shares = masked_softmax(logits, bitmask, temperature=temperatures, vocab_size=width, indices=indices)
    expected = [sampling_model.softmax(row, t, COLUMNS) for row, t in zip(rows, temperatures, strict=True)]
    assert np.allclose(shares.numpy(), expected, atol=1e-6)
    assert torch.equal(logits, before) or logits.isnan().any()


@pytest.mark.parametrize("trial", range(24))
def test_sample(trial: int) -> None:
    logits, bitmask = draw(trial)
    temperatures = [0.7, 1.0, 0.0 if trial % 5 == 0 else 2.0]
    top_k = [0, 5, 200] if trial % 3 else None
    top_p = [1.0, 0.5, 0.0 if trial % 7 == 0 else 0.9] if trial % 4 else None
    seeds, positions = [trial, -(2**40) - trial, 2**62 + trial], [trial, 0, 2**33]
    tokens = masked_sample(
        logits,
        bitmask,
        temperature=temperatures,
        top_k=top_k,
        top_p=top_p,
        seeds=seeds,
        positions=positions,
    )
    expected = [
        sampling_model.sample(
            row,
            temperatures[i],
            top_k[i] if top_k else None,
            top_p[i] if top_p else None,
            seeds[i],
            positions[i],
            lambda x: torch.from_numpy(x).exp().numpy(),
        )
        for i, row in enumerate(model_rows(logits, bitmask))
    ]
    assert tokens.tolist() == expected


def test_tokens_come_as_often_as_they_are_likely() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]]).log().expand(6000, -1).contiguous()
    bitmask = torch.tensor([[0b1110]], dtype=torch.int32).expand(6000, -1)
    tokens = masked_sample(logits, bitmask, seeds=[7] * 6000, positions=torch.arange(6000))
    counts = Counter(tokens.tolist())
    assert set(counts) == {1, 2, 3}
    assert all(abs(counts[token] / 6000 - token / 6) < 0.03 for token in counts)


def test_a_seed_gives_the_same_token_in_any_batch() -> None:
    logits, bitmask = draw(1)
    alone = [masked_sample(logits[i : i + 1], bitmask[i : i + 1], seeds=[i], positions=5).item() for i in range(3)]
    assert masked_sample(logits, bitmask, seeds=[0, 1, 2], positions=5).tolist() == alone
    torch.manual_seed(3)
    first = masked_sample(logits, bitmask)
    torch.manual_seed(3)
    assert torch.equal(masked_sample(logits, bitmask), first)


def test_philox_is_the_published_one() -> None:
    """The known answer of the authors' library, and numbers below 1."""
    assert philox(2**64 - 1, 2**64 - 1)[:1] != philox(0, 0)[:1]
    assert philox(0, 0) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    numbers = [uniform(seed, position) for seed in range(-3, 4) for position in range(50)]
    assert 0 <= min(numbers) < 0.05
    assert 0.95 < max(numbers) < 1
    assert len(set(numbers)) == len(numbers)


def test_infinite_logits() -> None:
    logits = torch.tensor([[torch.inf, 1.0, torch.inf], [-torch.inf, -torch.inf, 0.0]])
    bitmask = torch.tensor([[0b110], [0b011]], dtype=torch.int32)
    assert masked_argmax(logits, bitmask).tolist() == [2, -1]
    assert masked_sample(logits, bitmask, seeds=[1, 2]).tolist() == [2, -1]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"temperature": -1.0}, mw.errors.OptionError, "temperature must be >= 0"),
        ({"temperature": "hot"}, mw.errors.ArgumentError, "temperature must be a number"),
        ({"top_p": 1.5}, mw.errors.OptionError, "top_p must be from 0.0 to 1.0"),
        ({"top_k": -1}, mw.errors.OptionError, "top_k must be >= 0"),
        ({"top_k": [1, 2]}, mw.BitmaskError, "one for each of 3 rows"),
        ({"seeds": 1.5}, mw.errors.ArgumentError, "seeds must be an int"),
        ({"indices": [3]}, mw.BitmaskError, "indices names row 3"),
        ({"vocab_size": 0}, mw.BitmaskError, "vocab_size must be at least 1"),
        ({"vocab_size": COLUMNS + 1}, mw.BitmaskError, "columns"),
    ],
)
def test_refusals(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        masked_sample(*draw(1), **options)


def test_tensors_that_do_not_fit() -> None:
    logits, bitmask = draw(1)
    for bad, words in (
        ((logits.long(), bitmask), "dtype float32"),
        ((logits, bitmask.long()), "int32"),
        ((logits, bitmask[:1]), "1"),
        ((logits.numpy(), bitmask), "torch tensor"),
        ((logits, bitmask.to("meta")), "meta"),
        ((logits.t(), bitmask), "contiguous"),
    ):
        with pytest.raises(mw.BitmaskError, match=words):
            masked_argmax(*bad)
    with pytest.raises(mw.errors.OptionError, match="temperature"):
        masked_softmax(logits, bitmask, temperature=0.0)
