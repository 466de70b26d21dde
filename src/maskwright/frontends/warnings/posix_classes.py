r"""POSIX classes in regular expressions of ECMA-262, which does not have them, so that other texts match in silence.

    posix_class("^[[:alpha:]]+$")      PosixClass("[:alpha:]", "A-Za-z"): this is one of "[:alph", and some of "]"
    posix_class(r"^\[:alpha:\]$")      None: these characters are meant

Tested by tests/frontends/test_posix_classes.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_IN_ECMA: Final = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-\/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_POSIX: Final = re.compile(rf"(?<!\\)\[:\^?({'|'.join(_IN_ECMA)}):\]")


class PosixClass(NamedTuple):
    """A class as it is written, and its characters as a class of ECMA-262 has them."""

    text: str
    characters: str


def posix_class(pattern: str) -> PosixClass | None:
    """Return the first POSIX class in a regular expression; None if there is none."""
    found = _POSIX.search(pattern)
    return None if found is None else PosixClass(found[0], _IN_ECMA[found[1]])
