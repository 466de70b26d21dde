"""What was made of tools, tags and schemas, kept by their content: how one more tool costs only what is new.

    content of a tool                        →  the tool, read and checked (request.py)
    `Known`: content, what made it, origin   →  a tag of a call (request.py), or a tag read from data (reading.py)
    content, what made it, tokenizer         →  what such a tag becomes in grammars (lower.py)
    content of a schema, options, style      →  its grammar as a leaf (snippets.py)

    KEPT.statistics()    Statistics(hits=1024, misses=512, entries=512, num_bytes=310848)
    KEPT.clear()

Content is what `_kernel.canonical_bytes` says: it distinguishes 1, 1.0 and true, and keeps the order of members.
Invariants: what is kept never changes; a cache is bounded, the oldest going first, whether it was used since or not, so
that finding takes no lock. Thread-safe.
Tested by tests/structural_tag/formats/test_content_cache.py and test_kept_tools.py.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Final, NamedTuple

from maskwright.support.untracked import untrack

_MOST_KEPT: Final = 16_384  # a tool has some four
_MOST_BYTES: Final = 16 << 20  # of content; what is made of it takes some ten times as much


class Statistics(NamedTuple):
    """How often something was found and not found, how much is kept, and the bytes of content that it was made of.

    Threads may lose a count to each other.
    """

    hits: int
    misses: int
    entries: int
    num_bytes: int


class ContentCache:
    """Values by keys that say what the values are made of."""

    def __init__(self, most_kept: int = _MOST_KEPT, most_bytes: int = _MOST_BYTES) -> None:
        self._most_kept, self._most_bytes = most_kept, most_bytes
        self._kept: dict[Hashable, tuple[Any, int]] = {}
        self._num_bytes = self._hits = self._misses = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Any:
        """Return what is kept by a key; None if nothing is."""
        found = self._kept.get(key)
        if found is None:
            self._misses += 1
            return None
        self._hits += 1
        return found[0]

    def keep(self, key: Hashable, value: Any, num_bytes: int) -> Any:
        """Keep a value that was made of so much content, unless there is one already; return the one to be used."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                return known[0]
            kept = value, num_bytes
            self._kept[key] = kept
            untrack(key)
            untrack(kept)
            self._num_bytes += num_bytes
            while len(self._kept) > self._most_kept or self._num_bytes > self._most_bytes:
                self._num_bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return value

    def statistics(self) -> Statistics:
        return Statistics(self._hits, self._misses, len(self._kept), self._num_bytes)

    def clear(self) -> None:
        """Forget everything, and start counting anew."""
        with self._lock:
            self._kept.clear()
            self._num_bytes = self._hits = self._misses = 0


KEPT: Final = ContentCache()
