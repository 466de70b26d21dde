"""From a row of masked logits to a token: penalties, temperature, min-p, top-k, top-p, a random number.

    choose = Chooser(params, prompt_ids)
    token = choose(row, output_ids, temperature=None)

The order is that of serving engines. The random number depends on the seed and on how many tokens the output has
(Philox), so an output is the same whatever else is in the batch, and with drafts as without.

Cost: one pass over the logits for a greedy choice. Sampling calculates the exponential of all, but sorts only those
near the most likely one, as far as the options need. Where a grammar leaves few tokens, only these are looked at.
Source of nucleus sampling: Holtzman et al. (2020).
Tested by tests/engine/test_engine_sampling.py.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from maskwright.bitmask.philox import uniform
from maskwright.bitmask.sampling import GREEDY_BELOW
from maskwright.engine.outputs import TokenLogprobs
from maskwright.engine.requests import SamplingParams
from maskwright.errors import MatcherError

Logits = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_REACHES = (8.0, 16.0, 32.0)  # how far below the most likely token is sorted, in units of log-probability
_SEED_BITS = 64
_BLOCK = 512


class Chooser:
    """Chooses the tokens of one output.

    Attributes:
        seed: 64 bits, those of the parameters or random ones.
    """

    def __init__(self, params: SamplingParams, prompt_ids: Iterable[int] = ()) -> None:
        self._params = params
        self.seed = secrets.randbits(_SEED_BITS) if params.seed is None else params.seed % (1 << _SEED_BITS)
        self._prompt = np.unique(np.fromiter(prompt_ids, np.int64)) if params.has_penalties else None
        self._biased = np.array(list(params.logit_bias), np.int64)
        self._biases = np.array(list(params.logit_bias.values()), np.float32)

    def __call__(
        self,
        row: Logits,
        output_ids: Sequence[int],
        temperature: float | None = None,
        allowed: Ints | None = None,
    ) -> int:
        """Return the token that comes behind these.

        Args:
            row: (vocab_size,), minus infinity where a token is not allowed. It is changed.
            output_ids: The tokens of the output so far.
            temperature: To use instead of that of the parameters.
            allowed: The tokens to choose from, in order, if not all of the row. The outcome is the same as with minus
                infinity for the others.

        Raises:
            MatcherError: No token has a finite logit.
        """
        if self._prompt is not None:
            self._penalize(row, self._prompt, output_ids)
        if temperature is None:
            temperature = self._params.temperature
        if allowed is None:
            return self._chosen(row, len(output_ids), temperature)
        return int(allowed[self._chosen(row[allowed], len(output_ids), temperature)])

    def _chosen(self, row: Logits, position: int, temperature: float) -> int:
        params, best = self._params, int(row.argmax())
        if not math.isfinite(row[best]):
            row[np.isnan(row)] = -np.inf
            best = int(row.argmax())
            if not math.isfinite(row[best]):
                raise no_finite_logit()
        if temperature < GREEDY_BELOW or params.top_k == 1:
            return best
        row -= row[best]
        row *= np.float32(1 / temperature)
        return _drawn(row, params.top_k, params.top_p, params.min_p, uniform(self.seed, position))

    def _penalize(self, row: Logits, prompt: Ints, output_ids: Sequence[int]) -> None:
        params = self._params
        output, counts = np.unique(np.array(output_ids, np.int64), return_counts=True)
        if params.repetition_penalty != 1.0:
            seen = np.union1d(prompt, output)
            values = row[seen]
            row[seen] = np.where(values > 0, values / params.repetition_penalty, values * params.repetition_penalty)
        row[output] -= (params.presence_penalty + params.frequency_penalty * counts).astype(np.float32)
        known = self._biased < row.size
        row[self._biased[known]] += self._biases[known]


def no_finite_logit() -> MatcherError:
    """Make the error for a row from which nothing can be chosen."""
    return MatcherError(
        "no token that is allowed has a finite logit",
        hint="the model gave no finite logits, a logit bias leaves out all that the grammar allows, or the vocabulary "
        "cannot spell what comes next",
    )


def _drawn(row: Logits, top_k: int, top_p: float, min_p: float, random: float) -> int:
    """Draw from a row whose highest value is 0."""
    if min_p > 0:
        row[row < math.log(min_p)] = -np.inf
    weights = np.exp(row)
    if top_k == 0 and top_p == 1.0:
        drawn = _inverted(weights, random)
        return drawn if drawn < row.size and weights[drawn] > 0 else int(row.argmax())
    ids = _most_likely(row, weights, top_k, top_p)
    cumulated = weights[ids].cumsum(dtype=np.float64)
    nucleus = int(cumulated.searchsorted(top_p * (cumulated[-1] if top_k else weights.sum(dtype=np.float64))))
    last = cumulated[min(nucleus, ids.size - 1)]
    return int(ids[min(int(cumulated.searchsorted(random * last, side="right")), ids.size - 1)])


def _inverted(weights: Logits, random: float) -> int:
    """The first place up to which the weights add up to more than this share of all.

    By sums of blocks, which take a sixth of the time of cumulating all weights.
    """
    ends = np.add.reduceat(weights, np.arange(0, weights.size, _BLOCK), dtype=np.float64).cumsum()
    wanted = random * ends[-1]
    block = int(ends.searchsorted(wanted, side="right"))
    before = ends[block - 1] if block else 0.0
    inside = weights[block * _BLOCK : (block + 1) * _BLOCK].cumsum(dtype=np.float64)
    return block * _BLOCK + int(inside.searchsorted(wanted - before, side="right"))


def _most_likely(row: Logits, weights: Logits, top_k: int, top_p: float) -> Ints:
    """The tokens that count, the most likely first: `top_k` of them, else enough for `top_p`."""
    wanted = top_p * float(weights.sum(dtype=np.float64))
    for reach in _REACHES:
        (near,) = (row >= -reach).nonzero()
        if near.size >= top_k if top_k else float(weights[near].sum(dtype=np.float64)) >= wanted:
            break
    else:
        (near,) = (weights > 0).nonzero()
    ids: Ints = near[row[near].argsort(kind="stable")[::-1]]
    return ids[:top_k] if top_k else ids


class ModelLogprobs:
    """The log-probabilities that the model itself gives in one row, taken before anything is done to it."""

    def __init__(self, row: Logits, num_top: int) -> None:
        self._row = row.astype(np.float64)
        highest = self._row.max()
        self._row -= highest + np.log(np.exp(self._row - highest).sum())
        self._num_top = num_top

    def of(self, token: int) -> TokenLogprobs:
        """Return those of a token that was chosen, and of the most likely ones."""
        row, size = self._row, min(self._num_top, self._row.size)
        top = np.argpartition(row, -size)[-size:] if size else np.empty(0, np.int64)
        top = top[row[top].argsort(kind="stable")[::-1]]
        return TokenLogprobs(token, float(row[token]), tuple((int(i), float(row[i])) for i in top))
