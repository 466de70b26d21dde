r"""What one character of a regular expression is: a character in UTF-8, or, under `allow_invalid_utf8`, one byte.

    >>> BYTES.encode(~CodePointSet.from_string("x")).dump(), BYTES.spelled("é")
    ('[^x]', 'Ã©')

In the alphabet of bytes `\xff` is the byte FF, `.` is any byte but a newline, `\w` is ASCII, and what speaks of other
characters is refused in regular expressions. Strings in quotes stay texts: there each of their bytes is a character.
Tested by tests/frontends/test_lark_bytes.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maskwright.frontends.charset import CodePointSet, Encoding, utf8
from maskwright.frontends.texts import ANY_BYTES, ANY_TEXT
from maskwright.ir import Expr, byte_set

_BEYOND_BYTES: Final = re.compile(r"[^\x00-\x7f]|(?<!\\)(?:\\\\)*\\[uUpPN]")


class Alphabet(NamedTuple):
    """How a set of characters is spelled, and all strings of characters."""

    encode: Encoding
    texts: Expr
    is_bytes: bool

    def spelled(self, text: str) -> str:
        """The characters of the alphabet that a quoted text consists of."""
        return text.encode().decode("latin-1") if self.is_bytes else text

    def beyond(self, pattern: str) -> tuple[int, int] | None:
        """Where a pattern speaks of what is not a character of the alphabet, and up to where."""
        found = _BEYOND_BYTES.search(pattern) if self.is_bytes else None
        return found.span() if found else None


def one_byte(characters: CodePointSet) -> Expr:
    """One byte, by its number; what lies beyond is left out."""
    mask = 0
    for first, last in characters.ranges:
        if first > 0xFF:
            break
        mask |= (1 << (min(last, 0xFF) + 1)) - (1 << first)
    return byte_set(mask)


CHARACTERS: Final = Alphabet(utf8, ANY_TEXT, False)
BYTES: Final = Alphabet(one_byte, ANY_BYTES, True)
