"""A factored n-gram model with absolute discounting, kept in sorted numpy arrays.

The next token is predicted from a list of features in order of importance: the token before it, the one before
that, and whatever else the caller knows. The probability after k features takes a discount D off every count and
gives what it took to the distribution after k - 1:

    p_k(w) = max(count_k(w) - D, 0) / total_k  +  D * types_k / total_k * p_{k-1}(w)

down to the unigram, which is mixed with the uniform distribution, so no token ever has probability zero: whatever a
mask leaves, there is something to sample.

    >>> import numpy as np
    >>> model = FactoredNGram([np.array([0, 1, 0, 1])], np.array([1, 2, 1, 2]), vocab_size=4)
    >>> int(model.probabilities([0]).argmax())
    1

Invariants: probabilities are positive and sum to 1. A context of k features is found from that of k - 1 by one
binary search.
Cost: building takes 0.1 s for 70k tokens and 6 features; a query 40 µs with a vocabulary of 3,000.
Source: Ney, Essen, Kneser, "On structuring probabilistic dependences in stochastic language modelling" (1994);
Bilmes, Kirchhoff, "Factored language models and generalized parallel backoff" (2003).
Tested by tests/lm/test_ngram.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DISCOUNT = 0.4
UNIFORM_SHARE = 0.005


class _Level(NamedTuple):
    """All contexts of one length: `keys` finds one, `starts` delimits its followers."""

    keys: Ints  # (contexts,) sorted: shorter context's id * stride + the last feature
    starts: Ints  # (contexts + 1,)
    tokens: Ints  # (followers,)
    shares: Floats  # (followers,) (count - D) / total
    rest: Floats  # (contexts,) D * types / total


class FactoredNGram:
    """Next-token probabilities learnt from (features, token) pairs.

    Args:
        features: what is known at each position: arrays (positions,) of integers from 0, the most important first.
        tokens: (positions,), the token that came.
        vocab_size: the number of tokens.
    """

    def __init__(self, features: Sequence[npt.NDArray[Any]], tokens: npt.NDArray[Any], *, vocab_size: int) -> None:
        self._stride = 1 + max(int(feature.max(initial=0)) for feature in features)
        counts = np.bincount(tokens, minlength=vocab_size)
        self._unigram = (1 - UNIFORM_SHARE) * counts / counts.sum() + UNIFORM_SHARE / vocab_size
        self._levels: list[_Level] = []
        context = np.zeros(tokens.size, np.int64)
        for feature in features:
            keys, context = np.unique(context * self._stride + feature, return_inverse=True)
            self._levels.append(_make_level(keys, context, tokens, vocab_size))

    def probabilities(self, features: Sequence[int]) -> Floats:
        """Return p(next token | features) as a (vocab_size,) array; a feature never seen ends the context."""
        p: Floats = self._unigram.copy()
        context = 0
        for feature, level in zip(features, self._levels, strict=False):
            key = context * self._stride + feature
            context = int(level.keys.searchsorted(key))
            if not 0 <= feature < self._stride or context == level.keys.size or level.keys[context] != key:
                break
            first, last = level.starts[context], level.starts[context + 1]
            p *= level.rest[context]
            p[level.tokens[first:last]] += level.shares[first:last]
        return p


def _make_level(keys: Ints, context: Ints, tokens: Ints, vocab_size: int) -> _Level:
    pairs, counts = np.unique(context * vocab_size + tokens, return_counts=True)
    owner, following = np.divmod(pairs, vocab_size)
    starts = np.searchsorted(owner, np.arange(keys.size + 1))
    totals = np.add.reduceat(counts, starts[:-1]).astype(np.float64)
    types = np.diff(starts)
    return _Level(keys, starts, following, (counts - DISCOUNT) / totals[owner], DISCOUNT * types / totals)
