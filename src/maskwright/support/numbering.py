"""Numbers that are used once in a process: identities that outlive what they name, unlike `id()`.

Python's own counters may give the same number twice where there is no GIL (itertools, before 3.14).
"""

from __future__ import annotations

import threading


class Numbering:
    """0, 1, 2, … to whoever asks, in any thread."""

    def __init__(self) -> None:
        self._next = 0
        self._lock = threading.Lock()

    def take(self) -> int:
        with self._lock:
            number = self._next
            self._next += 1
        return number
