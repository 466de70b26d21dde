r"""Escapes of a regular expression that the string around it has read already, so that other texts match in silence.

    lost_escape("\bcat")         in Python without r, and in JSON, \b is a backspace: Misread("… \b …")
    lost_escape("[\x00-\b]")     None: in a class, \b is a backspace anyway

What a regular expression reads as the same character, such as \n and \f, is not lost. A control character is one of
these only if other texts match with the escape in its place.
Tested by tests/frontends/warnings/test_lost_escapes.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import MaskwrightError
from maskwright.frontends.regex import Dialect, whole_regex_to_expr
from maskwright.frontends.warnings.notes import Misread
from maskwright.ir import Expr

# The edge of a word, and back-references: Python reads \1 as U+0001.
_ESCAPES: Final = {"\b": r"\b", **{chr(number): rf"\{number}" for number in range(1, 7)}}
CONTROLS: Final = frozenset(_ESCAPES)


def lost_escape(pattern: str, flags: str = "", dialect: Dialect = "python") -> Misread | None:
    """Return what is to be said of a pattern with a control character where an escape was surely meant."""
    for character in sorted(CONTROLS.intersection(pattern)):
        escape = _ESCAPES[character]
        meant = language_of(pattern.replace(character, escape), flags, dialect)
        if meant not in (None, language_of(pattern, flags, dialect)):
            code = f"\\x{ord(character):02x}"
            return Misread(
                f"the regular expression holds the character U+{ord(character):04X}, where {escape} was surely meant",
                f'write r"…" in Python, or the backslash twice, \\{escape}; {code} if this character is meant',
            )
    return None


def language_of(pattern: str, flags: str, dialect: Dialect = "python") -> Expr | None:
    """Return what matches a regular expression, to be compared; None of what is none."""
    try:
        return whole_regex_to_expr(pattern, flags=flags, dialect=dialect)
    except MaskwrightError:
        return None
