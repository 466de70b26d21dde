"""What was made of some data, kept by the data's content: how one more tool costs only what is new.

    SCHEMAS   a schema and options              →  its grammar as a leaf (arguments.py)
    TAGS      a tag with such a schema          →  the tag, read and checked (known_tags.py)
    Tokens    such a tag, for one tokenizer     →  its expression (lower.py)

Content is what `_kernel.content_of` says: it tells 1, 1.0 and true apart, and keeps the order of members.
Invariants: what is kept never changes; caches are bounded, the least recently used going first. Thread-safe.
Cost: half a microsecond to find what is kept.
Tested by tests/structural_tag/test_content_cache.py.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_T = TypeVar("_T")

_MAX_KEPT = 4096
_MAX_KEY_BYTES = 4 << 20  # of content; what is made of a schema takes some ten to fifty times as much


class ContentCache(Generic[_T]):
    """Values by content and by what else they depend on."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, Hashable], _T] = OrderedDict()
        self._key_bytes = 0
        self._lock = threading.Lock()

    def get(self, content: bytes | None, options: Hashable, make: Callable[[], _T]) -> _T:
        """Return what is kept, or what `make` makes; data without content are made each time."""
        if content is None:
            return make()
        found = self.find(content, options)
        if found is None:
            found = make()
            self.keep(content, options, found)
        return found

    def find(self, content: bytes, options: Hashable) -> _T | None:
        key = (content, options)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, content: bytes, options: Hashable, value: _T) -> None:
        key = (content, options)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = value
                self._key_bytes += len(content)
            while len(self._kept) > _MAX_KEPT or self._key_bytes > _MAX_KEY_BYTES:
                (dropped, _), _ = self._kept.popitem(last=False)
                self._key_bytes -= len(dropped)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._key_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)
