"""What is kept of tools, tags and their schemas, by their content: how one more tool costs only what is new.

    content of a tool                        →  the tool, read and checked (request.py)
    `Known`: content, what made it, origin   →  a tag of a call (request.py), or a tag read from data (reading.py)
    content, what made it, tokenizer         →  what such a tag becomes in grammars (lower.py)
    content of a schema, options, style      →  its grammar as a leaf (snippets.py)

    KEPT.statistics(), KEPT.clear()

Agents send the same tools turn after turn, each time as new data.
Tested by tests/structural_tag/test_kept_tools.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.support.content_cache import ContentCache

_MOST_KEPT: Final = 16_384  # a tool has some four
_MOST_BYTES: Final = 16 << 20  # of content; what is made of it takes some ten times as much

KEPT: Final = ContentCache(_MOST_KEPT, _MOST_BYTES)
