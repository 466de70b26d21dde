"""Which known name was meant by a misspelled one: never one that says the opposite.

    >>> nearest("max_token", ["max_tokens", "temperature"]), nearest("min_tokens", ["max_tokens", "temperature"])
    ('max_tokens', None)

Tested by tests/support/test_near_names.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_LONGEST: Final = 60  # comparing takes time
_NUM_LOOKED_AT: Final = 3
_OPPOSITES: Final = (("min", "max"), ("include", "exclude"), ("enable", "disable"), ("add", "skip"))


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most like another, if one is: the same but for capitals, `_` and `-`, or a close
    match by `cutoff`, that of `get_close_matches`.
    """
    names, meant = list(known), bare(name)
    same = next((each for each in names if bare(each) == meant), None)
    if same is not None:
        return same
    near = get_close_matches(name[:_LONGEST], names, _NUM_LOOKED_AT, cutoff)
    return next((each for each in near if not _says_the_opposite(name, each)), None)


def bare(name: str) -> str:
    """Return a name without capitals, `_` and `-`."""
    return name.lower().replace("_", "").replace("-", "")


def _says_the_opposite(name: str, other: str) -> bool:
    words, others = set(_words(name)), set(_words(other))
    return any((a in words and b in others) or (b in words and a in others) for a, b in _OPPOSITES)


def _words(name: str) -> list[str]:
    """The words of a name, as in snake_case, camelCase or --kebab-case.

    >>> _words("maxLength"), _words("--min-tokens")
    (['max', 'length'], ['min', 'tokens'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)]
