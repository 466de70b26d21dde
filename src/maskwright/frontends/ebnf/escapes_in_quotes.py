r"""Escapes in the quotes of `Regex("…")`, which the string reads, and not the regular expression in it.

    >>> misread_in_quotes(r'"\bcat"', "").message
    'in quotes, \\b is a backspace, not the edge of a word'
    >>> misread_in_quotes(r'"cat\?"', "").hint
    'write "cat\\\\?": in quotes, a backslash is written twice'

Most mean the same to both: \n, \x41. Those that do not are found by reading the pattern with the escape left to it.
Tested by tests/frontends/warnings/test_lost_escapes.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.errors import EbnfSyntaxError
from maskwright.frontends.notation.quoted import (
    ESCAPE,
    MAX_SHOWN,
    WRITTEN_TWICE,
    Quoted,
    doubled_backslashes,
    string_value,
)
from maskwright.frontends.warnings.lost_escapes import CONTROLS, language_of
from maskwright.frontends.warnings.misread import misread_but_for_escapes, misread_pattern
from maskwright.frontends.warnings.notes import Misread

_SPECIAL: Final = frozenset("\b\\.^$*+?{}[]()|-&~#")  # to a regular expression
_LEFT_TO_THE_STRING: Final = frozenset("\\\"'")
_MOST: Final = 10  # escapes that are looked at
_IS_ESCAPED: Final = re.compile(r"(?<!\\)\\(?:\\\\)*\Z")  # by a backslash before it


def misread_in_quotes(quoted: str, flags: str) -> Misread | None:
    """Return what is to be said of a pattern as it stands in quotes, which are part of the text."""
    pattern = _value(quoted)
    for escape, meant in _read_by_the_string(quoted):
        if language_of(meant, flags) not in (None, language_of(pattern, flags)):
            return Misread(_message(escape), _hint(quoted, escape))
    return (misread_but_for_escapes if CONTROLS.isdisjoint(quoted) else misread_pattern)(pattern, flags)


def way_out(quoted: str, flags: str) -> str | None:
    """Return how to write what is no regular expression, if it is one once an escape of the string is left to it."""
    for escape, meant in _read_by_the_string(quoted):
        if language_of(meant, flags) is not None:
            return _hint(quoted, escape)
    return None


def _read_by_the_string(quoted: str) -> list[tuple[re.Match[str], str]]:
    """Escapes for special characters, each with the pattern that would hold it if the string did not read it."""
    found = []
    quote = quoted[:1]
    for escape in ESCAPE.finditer(quoted):
        if escape[6] in _LEFT_TO_THE_STRING or _value(quote + escape[0] + quote) not in _SPECIAL:
            continue
        before = _value(quoted[: escape.start()] + quote)
        if not _IS_ESCAPED.search(before):
            found.append((escape, before + escape[0] + _value(quote + quoted[escape.end() :])))
    return found[:_MOST]


def _value(quoted: str) -> str:
    return string_value(Quoted(quoted, 0), quoted, EbnfSyntaxError)


def _message(escape: re.Match[str]) -> str:
    if escape[6] == "b":
        return "in quotes, \\b is a backspace, not the edge of a word"
    character = _value(f'"{escape[0]}"')
    return f"in quotes, {escape[0]} is the same as {character}, which is special in a regular expression"


def _hint(quoted: str, escape: re.Match[str]) -> str:
    doubled = doubled_backslashes(quoted)
    shown = doubled if len(doubled) <= MAX_SHOWN else f"\\{escape[0]}"
    return f"write {shown}: {WRITTEN_TWICE}" + ("; \\x08 for a backspace" if escape[6] == "b" else "")
