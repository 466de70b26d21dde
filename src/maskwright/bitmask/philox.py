"""Philox4x32-10: random numbers that depend on a seed and a position only, the same on every device.

    >>> [hex(word) for word in philox(0, 0)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']

Source: Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (2011). `triton.language.philox`
calculates the same.
Tested by tests/kernel/test_sampling.py.
"""

from __future__ import annotations

_WORD = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


def philox(seed: int, position: int) -> tuple[int, int, int, int]:
    """Return four words of 32 bits for a seed and a position of 64 bits each."""
    a, b, c, d = position & _WORD, position >> 32 & _WORD, 0, 0
    key, other_key = seed & _WORD, seed >> 32 & _WORD
    for _ in range(10):
        first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b, c, d = second >> 32 ^ b ^ key, second & _WORD, first >> 32 ^ d ^ other_key, first & _WORD
        key, other_key = key + _KEY_STEPS[0] & _WORD, other_key + _KEY_STEPS[1] & _WORD
    return a, b, c, d


def uniform(seed: int, position: int) -> float:
    """Return a number from 0 up to, not including, 1, of 53 random bits."""
    first, second, _, _ = philox(seed, position)
    return ((first >> 5) * 2**26 + (second >> 6)) / 2**53
