"""The n-gram: a proper distribution everywhere, equal to its formula, never zero."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from maskwright.lm.ngram import DISCOUNT, UNIFORM_SHARE, FactoredNGram

TOKENS = np.array([0, 1, 2, 0, 1, 3, 0, 1, 2, 2])
VOCAB_SIZE = 5


@pytest.fixture(scope="module")
def model() -> FactoredNGram:
    return FactoredNGram([TOKENS[1:-1], TOKENS[:-2]], TOKENS[2:], vocab_size=VOCAB_SIZE)


def test_every_context_has_a_positive_distribution(model: FactoredNGram) -> None:
    for context in itertools.product(range(VOCAB_SIZE), repeat=2):
        p = model.probabilities(context)
        assert p.shape == (VOCAB_SIZE,)
        assert p.min() > 0
        assert p.sum() == pytest.approx(1)


def test_one_level_follows_the_formula(model: FactoredNGram) -> None:
    following = TOKENS[2:]
    unigram = (1 - UNIFORM_SHARE) * np.bincount(following, minlength=VOCAB_SIZE) / len(following)
    unigram += UNIFORM_SHARE / VOCAB_SIZE
    expected = DISCOUNT * 2 / 3 * unigram  # token 1 is followed twice by 2 and once by 3
    expected[2] += (2 - DISCOUNT) / 3
    expected[3] += (1 - DISCOUNT) / 3
    assert model.probabilities([1]) == pytest.approx(expected)


def test_an_unknown_feature_ends_the_context(model: FactoredNGram) -> None:
    assert (model.probabilities([4]) == model.probabilities([])).all()
    assert (model.probabilities([1, 3]) == model.probabilities([1])).all()
    assert (model.probabilities([10**9]) == model.probabilities([])).all()
    assert (model.probabilities([-1]) == model.probabilities([])).all()


def test_a_query_changes_nothing(model: FactoredNGram) -> None:
    before = model.probabilities([1, 0])
    before_copy = before.copy()
    before[:] = 0
    assert (model.probabilities([1, 0]) == before_copy).all()
