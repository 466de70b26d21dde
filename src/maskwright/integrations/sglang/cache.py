"""What SGLang keeps of compiled grammars, bounded.

SGLang keeps one grammar for each text that was ever asked for. In its place goes a dictionary that forgets the least
recently used ones, when together they hold more memory or are more than it may keep.
Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

from typing import Any

_MOST_BYTES = 512 << 20
_MOST_ENTRIES = 10_000


class BoundedCache(dict[Any, Any]):
    """A dictionary in the order of use. `get` counts as a use, as does setting."""

    def __init__(self, most_bytes: int = _MOST_BYTES, most_entries: int = _MOST_ENTRIES) -> None:
        super().__init__()
        self._most_bytes = most_bytes
        self._most_entries = most_entries

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            return default
        value = self.pop(key)
        super().__setitem__(key, value)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        excess = sum(map(_size, self.values())) - self._most_bytes
        while len(self) > 1 and (excess > 0 or len(self) > self._most_entries):
            excess -= _size(self.pop(next(iter(self))))


def _size(grammar: Any) -> int:
    compiled = getattr(getattr(grammar, "grammar", grammar), "compiled", None)
    return 0 if compiled is None else compiled.memory_size_bytes
