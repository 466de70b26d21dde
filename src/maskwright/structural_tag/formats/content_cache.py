"""What was made of some data, kept by the data's content: how one more tool costs only what is new.

    SCHEMAS   a schema      →  its grammars as leaves, by their options (kept_schemas.py, arguments.py)
    TAGS      a tag         →  the tag, read and checked (known_tags.py)

Content is what `_kernel.canonical_bytes` says: it distinguishes 1, 1.0 and true, and keeps the order of members.
Invariants: what is kept never changes; a cache is bounded, the oldest going first, whether it was used since or not, so
that finding takes no lock. Thread-safe.
Tested by tests/structural_tag/formats/test_content_cache.py.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from maskwright.support.untracked import untrack

_T = TypeVar("_T")

_MOST_KEPT: Final = 4096
_MOST_BYTES: Final = 4 << 20  # of content; what is made of a schema takes some ten to fifty times as much


class ContentCache(Generic[_T]):
    """Values by keys that say what the values are made of."""

    def __init__(self, most_kept: int = _MOST_KEPT, most_bytes: int = _MOST_BYTES) -> None:
        self._most_kept, self._most_bytes = most_kept, most_bytes
        self._kept: dict[Hashable, tuple[_T, int]] = {}
        self._content_bytes = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> _T | None:
        found = self._kept.get(key)
        return None if found is None else found[0]

    def keep(self, key: Hashable, value: _T, content_bytes: int) -> _T:
        """Keep a value that was made of so much content, unless there is one already; return the one to be used."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                return known[0]
            kept = value, content_bytes
            self._kept[key] = kept
            untrack(key)
            untrack(kept)
            self._content_bytes += content_bytes
            while len(self._kept) > self._most_kept or self._content_bytes > self._most_bytes:
                self._content_bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return value

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._content_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)
