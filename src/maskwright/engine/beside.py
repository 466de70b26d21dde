"""Work beside the model: one function at a time on a thread of its own, while the caller calculates.

    beside = Beside()
    beside.start(fill_masks)
    logits = model.forward(steps)
    beside.wait()                   raises what `fill_masks` raised

Cost: waking a thread, about 10 µs for the caller, which is why it is one thread and not a pool of futures.
Tested by tests/engine/test_loop.py.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class Beside:
    """A thread for work beside the model."""

    def __init__(self, name: str = "maskwright.beside") -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._is_busy = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def start(self, function: Callable[[], None]) -> None:
        """Run a function; the one before must have been waited for."""
        assert not self._is_busy
        self._is_busy = True
        self._work.put(function)

    def wait(self) -> None:
        """Wait until the function is done. Raises what it raised."""
        if not self._is_busy:
            return
        error = self._done.get()
        self._is_busy = False
        if error is not None:
            raise error

    def close(self) -> None:
        """End the thread."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (function := self._work.get()) is not None:
            try:
                function()
            except BaseException as error:  # raised where it is waited for
                self._done.put(error)
            else:
                self._done.put(None)
            del function
