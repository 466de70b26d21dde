"""What may follow one beginning of an output: the allowed tokens, how likely the model finds each, and their weights.

A weight is the probability of a token times the bound of what lies behind it (trie.py); all are logarithms, as the
probability of a long output does not fit into a float.
Tested by tests/sampling/test_sampler.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from maskwright.bitmask.buffers import is_tensor
from maskwright.errors import BitmaskError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Choices:
    """The allowed tokens of one beginning.

    Attributes:
        token_ids: (n,) int64, ascending.
        log_p: (n,) float64, the model's log-probabilities of them, among all tokens of its vocabulary.
        log_allowed: the logarithm of the sum of their probabilities.
        log_weights: (n,) float64, `log_p` plus the bound of what follows each.
    """

    __slots__ = ("log_allowed", "log_p", "log_weights", "token_ids")

    def __init__(self, token_ids: Ints, log_p: Floats) -> None:
        self.token_ids, self.log_p = token_ids, log_p
        self.log_allowed = log_sum(log_p)
        self.log_weights = log_p.copy()

    @property
    def num_bytes(self) -> int:
        return 3 * int(self.log_p.nbytes)

    def bound(self, token_id: int, log_bound: float) -> None:
        """Set the bound of what follows a token."""
        i = int(np.searchsorted(self.token_ids, token_id))
        self.log_weights[i] = self.log_p[i] + log_bound

    def log_mass(self) -> float:
        """The logarithm of the sum of the weights."""
        return log_sum(self.log_weights)


def choices_of(logits: Any, allowed: Ints, vocab_size: int, temperature: float) -> Choices:
    """Read the logits of the next token.

    Args:
        logits: (at least `vocab_size`,) floats, an array or a tensor on any device.
        allowed: (n,) int64, the allowed tokens, ascending.
        vocab_size: That of the grammar's tokenizer.
        temperature: What to divide the logits by.

    Raises:
        BitmaskError: The logits have another form, or are not numbers.
    """
    if is_tensor(logits):
        logits = logits.detach().float().cpu().numpy()
    row = np.asarray(logits, dtype=np.float64)
    if row.ndim != 1 or row.shape[0] < vocab_size:
        raise BitmaskError(
            f"the model returned an array of shape {row.shape}",
            hint=f"return the logits of the next token alone: shape ({vocab_size},), or wider",
        )
    row = row / temperature
    total = log_sum(row)
    if not np.isfinite(total):
        raise BitmaskError("the model returned logits that are NaN or infinite, or give no token any probability")
    return Choices(allowed, row[allowed] - total)


def draw(log_weights: Floats, random: float) -> int:
    """Return an index by weight, by a random number from 0 to 1, 1 excluded; never one of weight 0."""
    sums = np.exp(log_weights - log_weights.max()).cumsum()
    return int(np.searchsorted(sums, (1.0 - random) * sums[-1]))


def log_sum(logs: Floats) -> float:
    """The logarithm of the sum of the numbers that these are logarithms of."""
    most = float(logs.max(initial=-np.inf))
    return most if not np.isfinite(most) else most + float(np.log(np.exp(logs - most).sum()))
