r"""The text of a JSON string as it comes, piece by piece.

    reader = StringReader()
    [reader.feed(piece) for piece in ('"a\\', 'u00', 'e9 b"')]      ["a", "", "é b"]

An escape is read when it is whole, and those of a surrogate pair together.
Tested by tests/serve/test_parts.py.
"""

from __future__ import annotations

import json
import re
from typing import Final

_HIGH: Final = r"\\u[dD][89abAB]"
_ESCAPE: Final = rf"\\[^u]|{_HIGH}..\\u....|(?!{_HIGH})\\u...."
_WHOLE: Final = re.compile(rf"(?:[^\\]|{_ESCAPE})*", re.DOTALL)
_INSIDE: Final = re.compile(rf'[^\\"]+|{_ESCAPE}', re.DOTALL)


class StringReader:
    """Reads one string with its quotes."""

    def __init__(self) -> None:
        self._begun = ""  # an escape that is not whole

    def feed(self, piece: str) -> str:
        """Return the text that is new."""
        text = self._begun + piece
        whole = _WHOLE.match(text)
        assert whole is not None
        self._begun = text[whole.end() :]
        return str(json.loads(f'"{"".join(_INSIDE.findall(whole[0]))}"'))
