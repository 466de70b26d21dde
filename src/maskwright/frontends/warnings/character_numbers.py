r"""Characters by their numbers in W3C's notation, which EBNF writes as escapes.

    >>> numbers_as_escapes("#x9#x20-#xD7FF#x10000")
    '\\x09\\x20-\\uD7FF\\U00010000'

Tested by tests/frontends/warnings/test_misread.py.
"""

from __future__ import annotations

import re
from typing import Final

CHARACTER_NUMBER: Final = re.compile(r"#x([0-9A-Fa-f]{1,6})")


def numbers_as_escapes(text: str) -> str:
    """Return the text with escapes instead of numbers."""
    return CHARACTER_NUMBER.sub(_escape, text)


def _escape(number: re.Match[str]) -> str:
    digits = number[1]
    letter, width = ("x", 2) if len(digits) <= 2 else ("u", 4) if len(digits) <= 4 else ("U", 8)
    return f"\\{letter}{digits:0>{width}}"
