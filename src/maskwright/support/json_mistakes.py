"""What is wrong with a text that is not JSON, in the words of somebody who wrote it.

    >>> hint_for('{"a": 1,}', 8)
    'remove the comma: JSON has none before }'
    >>> hint_for("{'a': 1}", 1)
    'write JSON: strings and names in double quotes'

Only hints: where a text is wrong is decided by Python's parser, whose position this is about.
Tested by tests/frontends/test_json_mistakes.py.
"""

from __future__ import annotations

import re
from typing import Final

_COMMA_AT_END: Final = re.compile(r",\s*([}\]])")
_HINTS: Final[tuple[tuple[str, str], ...]] = (
    (r"'", "write JSON: strings and names in double quotes"),
    (r"[“”„‘’]", 'write straight quotes: "'),
    (r"//|#|/\*", "JSON has no comments: remove it"),
    (r"(?:True|False|None)\b", "JSON writes true, false and null"),
    (r"[A-Za-z_$][\w$]*\s*:", "put names in double quotes"),
)


def hint_for(text: str, position: int) -> str | None:
    """Return what to change where a JSON text is wrong; None if the parser's message says it all."""
    comma = _comma_at_end(text, position)
    if comma is not None:
        return f"remove the comma: JSON has none before {comma}"
    if position >= len(text) and text.strip():
        return "the text ends too early: close what is open"
    for pattern, hint in _HINTS:
        if re.compile(pattern).match(text, position):
            return hint
    return None


def _comma_at_end(text: str, position: int) -> str | None:
    """The bracket behind a comma that stands last; parsers point at the comma or at the bracket."""
    begin = position if text.startswith(",", position) else len(text[:position].rstrip()) - 1
    found = _COMMA_AT_END.match(text, max(begin, 0))
    return found.group(1) if found is not None else None
