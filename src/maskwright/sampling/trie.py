"""The beginnings of outputs that were visited, each with an upper bound of the probability of its valid endings.

    root              0.4 of the model's probability is on the first tokens that are allowed; of what follows,
    ├── `{`   0.3     0.1 was found to be valid at most        →   0.3 * 0.1
    └── `[`   0.1     nothing is known yet: at most all of it  →   0.1 * 1       the root's bound: 0.13

Invariant: the bound of a visited beginning is the sum of its choices' weights, and that of any other one is 1.
Choices are as large as the vocabulary; those used last are kept, within a limit, and the bounds of all.
Tested by tests/sampling/test_sampler.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from maskwright.sampling.choices import Choices


class Beginning:
    """A beginning that a walk came to.

    Attributes:
        log_bound: the logarithm of the bound.
        is_visited: whether the model was asked what follows, on which the bound rests.
        followers: those that go on with one more token, by that token.
    """

    __slots__ = ("followers", "is_visited", "log_bound")

    def __init__(self) -> None:
        self.log_bound = 0.0
        self.is_visited = False
        self.followers: dict[int, Beginning] = {}


class Trie:
    """Beginnings and their choices, bounded: past the limit on beginnings, all is forgotten.

    Args:
        max_bytes: Of choices.
        max_beginnings: The most beginnings.
    """

    def __init__(self, max_bytes: int, max_beginnings: int) -> None:
        self._max_bytes, self._max_beginnings = max_bytes, max_beginnings
        self.clear()

    def clear(self) -> None:
        self.root = Beginning()
        self._num_beginnings = 1
        self._choices: OrderedDict[Beginning, Choices] = OrderedDict()
        self._num_bytes = 0

    def begin(self) -> Beginning:
        """Return the root, where walks begin."""
        if self._num_beginnings > self._max_beginnings:
            self.clear()
        return self.root

    def follow(self, at: Beginning, token_id: int) -> Beginning:
        """Return the beginning with one more token."""
        known = at.followers.get(token_id)
        if known is None:
            known = at.followers[token_id] = Beginning()
            self._num_beginnings += 1
        return known

    def choices(self, at: Beginning, make: Callable[[], Choices]) -> Choices:
        """Return the choices of a beginning with the bounds known; `make` asks the model."""
        known = self._choices.get(at)
        if known is not None:
            self._choices.move_to_end(at)
            return known
        made = self._choices[at] = make()
        for token_id, follower in at.followers.items():
            made.bound(token_id, follower.log_bound)
        self._num_bytes += made.num_bytes
        while self._num_bytes > self._max_bytes and len(self._choices) > 1:
            self._num_bytes -= self._choices.popitem(last=False)[1].num_bytes
        return made


def learn(walk: list[tuple[Beginning, Choices, int]]) -> None:
    """Bring the bounds up to date along a walk: beginnings, their choices and the tokens chosen, from the root."""
    for at, choices, token_id in reversed(walk):
        follower = at.followers.get(token_id)
        if follower is not None:
            choices.bound(token_id, follower.log_bound)
        at.log_bound = choices.log_mass()
