"""What was made of data, by keys that say what it was made of: in number and in bytes so much at most.

    CACHE = ContentCache(1024, 1 << 20)
    CACHE.find(content) or CACHE.keep(content, made_of(content))
    CACHE.statistics()    Statistics(hits=1024, misses=512, entries=512, num_bytes=621696)

Content is what `_kernel.canonical_bytes` says: it distinguishes 1, 1.0 and true, and keeps the order of members.
Invariants: what is kept never changes; the oldest goes first, whether it was used since or not, so that finding takes
no lock. Thread-safe. `memos.py` counts and clears all caches together.
Tested by tests/support/test_content_cache.py.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Final, NamedTuple

from maskwright.support.untracked import untrack

CACHES: Final[list[ContentCache]] = []  # all of the process
ENTRY_BYTES: Final = 160  # of a cache for each entry


class Statistics(NamedTuple):
    """How often something was found and made, how much is kept, and about how many bytes that has.

    Threads may lose a count to each other.
    """

    hits: int
    misses: int
    entries: int
    num_bytes: int


class ContentCache:
    """At most so many values, with their keys in at most so many bytes."""

    def __init__(self, most_kept: int, most_bytes: int) -> None:
        self._most_kept, self._most_bytes = most_kept, most_bytes
        self._kept: dict[Hashable, Any] = {}  # values with their bytes
        self.num_bytes = self._hits = self._misses = 0
        self._lock = threading.Lock()
        CACHES.append(self)

    def find(self, key: Hashable) -> Any:
        """Return what is kept by a key; None if nothing is."""
        found = self._kept.get(key)
        if found is None:
            self._misses += 1
            return None
        self._hits += 1
        return found[0]

    def keep(self, key: Hashable, value: Any) -> Any:
        """Keep a value, unless there is one already; return the one to be used."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                return known[0]
            num_bytes = ENTRY_BYTES + untrack((key, value))
            kept: Any = (value, num_bytes)  # one object, which a typed tuple is not where this is compiled
            self._kept[key] = kept
            untrack(kept)
            self.num_bytes += num_bytes
            while len(self._kept) > self._most_kept or self.num_bytes > self._most_bytes:
                self.num_bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return value

    def replace(self, key: Hashable, value: Any) -> Any:
        """Keep a value in the place of another that is as good, if that is still there; return the value."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                kept: Any = (value, known[1])
                self._kept[key] = kept
                untrack(kept)
        return value

    def statistics(self) -> Statistics:
        return Statistics(self._hits, self._misses, len(self._kept), self.num_bytes)

    def clear(self) -> None:
        """Forget everything, and start counting anew."""
        with self._lock:
            self._kept.clear()
            self.num_bytes = self._hits = self._misses = 0
