"""The sampler does what its parameters say, and the same seed gives the same token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskwright.engine import SamplingParams
from maskwright.engine.sampling import Chooser, ModelLogprobs
from maskwright.errors import MatcherError

P = np.array([0.5, 0.0001, 0.3, 0.1999])
LOGITS = np.log(P).astype(np.float32)


def shares(logits: np.ndarray, times: int, **params: Any) -> np.ndarray:
    """How often each token is drawn, by position as in an output."""
    choose = Chooser(SamplingParams(**{"seed": 0, **params}))
    drawn = [choose(logits.copy(), [0] * position) for position in range(times)]
    return np.bincount(drawn, minlength=logits.size) / times


def test_sampling_follows_the_probabilities() -> None:
    assert shares(LOGITS, 4000) == pytest.approx(P, abs=0.03)
    assert shares(LOGITS + 100, 4000) == pytest.approx(P, abs=0.03)


def test_top_p_keeps_the_smallest_set_that_holds_the_share() -> None:
    assert shares(LOGITS, 2000, top_p=0.7) == pytest.approx([0.625, 0, 0.375, 0], abs=0.04)
    assert shares(LOGITS, 50, top_p=0.01)[0] == 1


def test_top_k_keeps_the_most_likely() -> None:
    assert shares(LOGITS, 2000, top_k=2) == pytest.approx([0.625, 0, 0.375, 0], abs=0.04)
    assert shares(LOGITS, 20, top_k=1)[0] == 1
    assert shares(LOGITS, 3000, top_k=99) == pytest.approx(P, abs=0.03)
    assert shares(LOGITS, 2000, top_k=3, top_p=0.6) == pytest.approx([0.625, 0, 0.375, 0], abs=0.04)


def test_min_p_leaves_out_what_is_far_less_likely() -> None:
    assert shares(LOGITS, 2000, min_p=0.5) == pytest.approx([0.625, 0, 0.375, 0], abs=0.04)


def test_temperature_sharpens_and_flattens() -> None:
    assert shares(LOGITS, 20, temperature=0)[0] == 1
    assert shares(LOGITS, 20, temperature=1e-3)[0] == 1
    assert shares(LOGITS, 4000, temperature=100) == pytest.approx([0.25] * 4, abs=0.04)


@pytest.mark.parametrize("top_p", [0.5, 0.9, 0.999, 1.0])
def test_large_vocabularies_are_cut_like_small_ones(top_p: float) -> None:
    """However far below the most likely token it has to look."""
    rng = np.random.default_rng(1)
    logits = (rng.normal(size=5000) * 4).astype(np.float32)
    p = np.exp(logits.astype(np.float64))
    order = p.argsort()[::-1]
    kept = order[: int((p[order].cumsum() / p.sum()).searchsorted(top_p)) + 1]
    drawn = shares(logits, 300, top_p=top_p)
    assert set(drawn.nonzero()[0]) <= set(kept)
    assert drawn[kept[:3]] == pytest.approx(p[kept[:3]] / p[kept].sum(), abs=0.1)


def test_masked_tokens_are_never_drawn() -> None:
    logits = LOGITS.copy()
    logits[[0, 2]] = -np.inf
    for params in ({}, {"top_p": 0.9999}, {"top_k": 3}, {"min_p": 1e-9}):
        assert shares(logits, 300, temperature=50, **params)[[0, 2]].sum() == 0


@pytest.mark.parametrize(
    "params", [{}, {"top_k": 3}, {"top_p": 0.7}, {"min_p": 0.2}, {"temperature": 0}, {"logit_bias": {40: 2.0}}]
)
def test_listed_tokens_are_drawn_as_if_the_others_were_masked(params: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    logits, allowed = rng.normal(size=500).astype(np.float32), np.array([3, 17, 40, 41, 200, 499])
    masked = np.full(500, -np.inf, np.float32)
    masked[allowed] = logits[allowed]
    choose = Chooser(SamplingParams(**{"seed": 5, **params}))
    for position in range(200):
        output = [1] * position
        assert choose(logits.copy(), output, None, allowed) == choose(masked.copy(), output)
    with pytest.raises(MatcherError, match="finite"):
        choose(np.full(500, -np.inf, np.float32), [], None, allowed)


def test_nothing_to_choose_from_is_a_typed_error() -> None:
    for value in (-np.inf, np.nan):
        with pytest.raises(MatcherError, match="finite"):
            Chooser(SamplingParams())(np.full(4, value, np.float32), [])


def test_nan_is_not_chosen() -> None:
    row = np.array([np.nan, 1, 0], np.float32)
    assert Chooser(SamplingParams(temperature=0))(row, []) == 1


def test_a_seed_and_a_position_decide() -> None:
    logits = np.zeros(1000, np.float32)

    def run(seed: int | None) -> list[int]:
        choose = Chooser(SamplingParams(seed=seed))
        return [choose(logits.copy(), [0] * position) for position in range(5)]

    assert run(7) == run(7) != run(8)
    assert run(-1) == run((1 << 64) - 1)
    assert run(None) != run(None)


def test_penalties() -> None:
    def best(prompt: list[int], output: list[int], **params: Any) -> int:
        row = np.array([2.0, 1.9, -1.0, -1.1], np.float32)
        return Chooser(SamplingParams(temperature=0, **params), prompt)(row, output)

    assert best([], []) == 0
    assert best([0], [], repetition_penalty=1.2) == 1
    assert best([], [0], repetition_penalty=1.2) == 1
    assert best([0], [], presence_penalty=0.2) == 0
    assert best([], [0], presence_penalty=0.2) == 1
    assert best([], [0, 1], frequency_penalty=0.2) == 0
    assert best([], [0, 0, 1], frequency_penalty=0.2) == 1
    assert best([], [], logit_bias={3: 5.0, 99: 100.0}) == 3
    row = np.array([-1.0, -1.1], np.float32)
    assert Chooser(SamplingParams(temperature=0, repetition_penalty=1.5), [0])(row, []) == 1


def test_logprobs_are_those_of_the_model() -> None:
    found = ModelLogprobs(LOGITS + 3, 2).of(3)
    assert found.token_id == 3
    assert found.logprob == pytest.approx(np.log(P[3]), abs=1e-5)
    assert [token for token, _ in found.top] == [0, 2]
    assert [value for _, value in found.top] == pytest.approx(np.log(P[[0, 2]]), abs=1e-5)
    assert ModelLogprobs(LOGITS, 0).of(1).top == ()
    assert len(ModelLogprobs(LOGITS, 64).of(1).top) == 4
