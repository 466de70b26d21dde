r"""POSIX classes where there are none, so that other texts match in silence.

ECMA-262 does not have them; elsewhere they stand within a class, and alone their brackets are those of a class.

    posix_class("^[[:alpha:]]+$")      PosixClass("[:alpha:]", "A-Za-z"): this is one of "[:alph", and some of "]"
    posix_class(r"^\[:alpha:\]$")      None: these characters are meant
    lone_posix_class("[:alpha:]+")     "[:alpha:]"
    lone_posix_class("[[:alpha:]]+")   None

Tested by tests/frontends/warnings/test_posix_classes.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maskwright.frontends.warnings.lost_escapes import language_of

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
    """Return the first POSIX class in a regular expression of ECMA-262; None if there is none."""
    found = _POSIX.search(pattern)
    return None if found is None else PosixClass(found[0], _IN_ECMA[found[1]])


def lone_posix_class(pattern: str, flags: str = "") -> str | None:
    """Return the first POSIX class that stands alone, in a regular expression of Python's dialect."""
    for found in _POSIX.finditer(pattern):
        within = f"{pattern[: found.start()]}[{found[0]}]{pattern[found.end() :]}"
        if language_of(within, flags) not in (None, language_of(pattern, flags)):
            return found[0]
    return None
