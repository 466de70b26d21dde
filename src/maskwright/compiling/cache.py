"""What was compiled, kept within a byte limit; and what is being compiled, so that nothing is compiled twice at once.

    cache.get(key, make)               what is kept; or made here, or awaited where another thread is making it
    cache.submit(key, make, workers)   the same as a CompileFuture, made in a thread of `workers`

A failure is handed to all who wait for it and then forgotten. Each caller of `submit` gets a Future of its own, so that
cancelling it concerns nobody else. A key of None is shared with nobody.
The limit is for all that is kept: the entries, their keys, and what entries share, the rules of the tokenizer, of which
those that no entry uses any more are kept as long as there is room. What was let go is given back to the system now and
then, or the process would stay as large as it ever was.
After a fork, the child has none of the parent's threads: what they were making is forgotten there, and `Workers` starts
new ones. Tested by tests/contract/test_compile_async.py and test_cache_limit.py.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from maskwright import _kernel
from maskwright.support.untracked import acyclic, untrack

_MAX_CACHED = 4096
_WEIGHED_AT_ONCE = 6  # grammars, each time that one is added, besides those that were used last
_USED_LAST = 4
_EVICTED_AT_ONCE = 8
_SHARE_GIVEN_BACK = 8  # of the limit: it takes some milliseconds
_LEAST_GIVEN_BACK = 4 << 20


class _Sized(Protocol):
    @property
    def own_size_bytes(self) -> int: ...


_T = TypeVar("_T", bound=_Sized)


class CompileFuture(Future[_T]):
    """What is being compiled in another thread: a `concurrent.futures.Future` that asyncio can await too.

    Cancelling the task that awaits it cancels it, unless the work has begun.
    """

    def __await__(self) -> Generator[Any, None, _T]:
        import asyncio  # who awaits has it; importing it takes longer than importing this package

        return asyncio.wrap_future(self).__await__()


class Workers:
    """Threads that compile: started when first needed, at most `max_threads`."""

    def __init__(self, max_threads: int) -> None:
        self._max_threads = max(1, max_threads)
        self.forget()
        _to_renew_in_child.add(self)

    def forget(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._max_threads, thread_name_prefix="maskwright-compile")
            self._executor.submit(work)


class _Key:
    """A key that knows its hash: of a request with many tools, that is the hash of thousands of parts."""

    __slots__ = ("_hash", "_key")

    def __init__(self, key: Hashable) -> None:
        self._key, self._hash = key, hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._hash == other._hash and self._key == other._key

    def num_bytes_kept(self) -> int:
        """About how many bytes are kept with it, the first time that this is asked."""
        num_bytes = untrack(self._key)
        untrack(self)
        return num_bytes


acyclic(_Key)


def _hashed(key: Hashable) -> _Key | None:
    return None if key is None else _Key(key)


class CompileCache(Generic[_T]):
    """Compiled grammars by key. Thread-safe.

    Args:
        limit_bytes: The most that is kept; None keeps nothing.
        shared: Keeps what entries share within so many bytes, as far as it is in no use; returns how many bytes it
            keeps, and how many it let go.
    """

    def __init__(self, limit_bytes: int | None, shared: Callable[[int], tuple[int, int]] = lambda _: (0, 0)) -> None:
        self._limit_bytes = limit_bytes
        self._shared = shared
        self._entries: OrderedDict[_Key, tuple[_T, int]] = OrderedDict()  # with the bytes of their keys
        self.hits = self.misses = 0
        # What the entries weighed last, those weighed longest ago first: they grow while they are used, and the parts
        # that they have of common rules change, so some are weighed again each time that one is added.
        self._sizes: OrderedDict[_Key, int] = OrderedDict()
        self._total_bytes = 0
        self._evicted_bytes = 0  # of entries and of what they shared, since memory was given back
        self.forget()
        _to_renew_in_child.add(self)

    def forget(self) -> None:
        self._lock = threading.Lock()
        self._being_made: dict[_Key | None, Future[_T] | None] = {}  # None until somebody waits

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        hashed = _hashed(key)
        while True:
            known, awaited = self._claim(hashed)
            if known is not None:
                return known
            if awaited is None:
                return self._make(hashed, make)
            try:
                return awaited.result()
            except Exception:
                raise
            except BaseException as interrupt:
                # Another thread's Ctrl-C is not ours: try again.
                if not awaited.done() or awaited.exception() is not interrupt:
                    raise

    def submit(self, key: Hashable, make: Callable[[], _T], workers: Workers) -> CompileFuture[_T]:
        hashed = _hashed(key)
        known, awaited = self._claim(hashed)
        own: CompileFuture[_T] = CompileFuture()
        if known is not None:
            own.set_result(known)
            return own
        if awaited is None:
            workers.run(lambda: _hand_over(lambda: self._make(hashed, make), own))
        else:
            awaited.add_done_callback(lambda done: _hand_over(done.result, own))
        return own

    def clear(self) -> None:
        with self._lock:
            entries, self._entries = self._entries, OrderedDict()
            self._sizes.clear()
            self._total_bytes = 0
        entries.clear()  # without the lock, as they may be many
        self._shared(0)
        _kernel.give_back_memory()

    def size_bytes(self) -> int:
        """What the entries hold and their keys, without what they share."""
        with self._lock:
            entries = list(self._entries.values())
        return sum(entry.own_size_bytes + key_bytes for entry, key_bytes in entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _claim(self, key: _Key | None) -> tuple[_T | None, Future[_T] | None]:
        """Return what is kept, or what will hold what is being made; neither if the caller has to make it."""
        evicted: list[_T] = []  # let go of without the lock
        with self._lock:
            known = None if key is None else self._entries.get(key)
            if key is not None and known is not None:
                self._entries.move_to_end(key)
                self.hits += 1
                self._weigh(key)  # or entries would grow unseen where none are added
                self._evict(evicted)
                return known[0], None
            if key in self._being_made:
                self.hits += 1
                awaited = self._being_made[key]
                if awaited is None:
                    awaited = self._being_made[key] = Future()
                return None, awaited
            self.misses += 1
            if key is not None:
                self._being_made[key] = None
            return None, None

    def _make(self, key: _Key | None, make: Callable[[], _T]) -> _T:
        try:
            made = make()
        except BaseException as error:
            awaited = self._settle(key, None)
            if awaited is not None:
                awaited.set_exception(error)
            raise
        awaited = self._settle(key, made)
        if awaited is not None:
            awaited.set_result(made)
        if self._evicted_bytes > max(_LEAST_GIVEN_BACK, (self._limit_bytes or 0) // _SHARE_GIVEN_BACK):
            self._evicted_bytes = 0
            _kernel.give_back_memory()
        return made

    def _settle(self, key: _Key | None, made: _T | None) -> Future[_T] | None:
        """Keep what was made; return what those who wait for it wait for."""
        if key is None:
            return None
        evicted: list[_T] = []  # let go of without the lock
        with self._lock:
            awaited = self._being_made.pop(key, None)
            if made is not None and self._limit_bytes is not None:
                entry = made, key.num_bytes_kept()
                untrack(entry)
                self._entries[key] = entry
                self._weigh(key)
                self._weigh_some()
                self._evict(evicted)
        return awaited

    def _weigh(self, key: _Key) -> None:
        entry, key_bytes = self._entries[key]
        size = entry.own_size_bytes + key_bytes
        self._total_bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        self._sizes.move_to_end(key)

    def _weigh_some(self) -> None:
        """Weigh those used last, which have grown since, and those weighed longest ago."""
        for key in list(islice(reversed(self._entries), _USED_LAST)):
            self._weigh(key)
        for _ in range(min(_WEIGHED_AT_ONCE, len(self._sizes) - _USED_LAST)):
            self._weigh(next(iter(self._sizes)))

    def _evict(self, evicted: list[_T]) -> None:
        """Take out what was used least recently while there is too much: a little each time, so that nobody waits long.

        A sixteenth of the limit is left for what the entries grow by until they are weighed again.
        """
        limit_bytes = self._limit_bytes or 0
        most = limit_bytes - limit_bytes // 16
        shared_bytes, let_go_bytes = self._shared(max(0, most - self._total_bytes))
        self._evicted_bytes += let_go_bytes
        while self._entries and len(evicted) < _EVICTED_AT_ONCE:
            if self._total_bytes + shared_bytes <= most and len(self._entries) <= _MAX_CACHED:
                return
            key, (entry, _) = self._entries.popitem(last=False)
            size = self._sizes.pop(key)
            self._total_bytes -= size
            self._evicted_bytes += size
            evicted.append(entry)


def _hand_over(get: Callable[[], _T], own: Future[_T]) -> None:
    """Give a Future what `get` gives, unless it is cancelled meanwhile."""
    try:
        result = get()
    except BaseException as error:
        if own.set_running_or_notify_cancel():
            own.set_exception(error)
    else:
        if own.set_running_or_notify_cancel():
            own.set_result(result)


_to_renew_in_child: weakref.WeakSet[Any] = weakref.WeakSet()


def renew_in_child(thing: Any) -> None:
    """Have the `forget` of this thing called in a forked child: its locks may be held there by nobody."""
    _to_renew_in_child.add(thing)


def _renew_in_child() -> None:
    for each in list(_to_renew_in_child):
        each.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)
