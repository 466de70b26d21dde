"""What is kept of tools, tags and their schemas, by their content: how one more tool costs only what is new.

    content of a tool                       →  the tool, read and checked (tools.py)
    content, what made a tag of it          →  a tag of a call (request.py), or a tag read from data (reading.py)
    the same, and a tokenizer               →  what that tag becomes in grammars (lower.py)
    content of a schema, options, style     →  its grammar as a leaf (snippets.py)

    KEPT.statistics(), KEPT.clear()

Agents send the same tools turn after turn, each time as new data.
Tested by tests/structural_tag/test_kept_tools.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from maskwright.structural_tag.formats.base import Format, Known, altered
from maskwright.support.content_cache import ContentCache

_MOST_KEPT: Final = 16_384  # a tool has some four
_MOST_BYTES: Final = 32 << 20

KEPT: Final = ContentCache(_MOST_KEPT, _MOST_BYTES)
_F = TypeVar("_F", bound=Format)


def kept_tag(known: Known, make: Callable[[], _F]) -> _F:
    """Return the tag that was made of this before, or make it."""
    key = known.content, known.made_by
    found: _F | None = KEPT.find(key)
    if found is None:
        made: _F = KEPT.keep(key, altered(make(), known=known))
        found = made
    if found.known == known:
        return found
    moved: _F = KEPT.replace(key, altered(found, known=known))
    return moved
