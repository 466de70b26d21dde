"""Functions that remember what they gave for a caller's texts, all of them within one budget of bytes; and what is
remembered altogether.

    @remembered(1024)
    def pattern_text(pattern: str) -> Expr: …

    statistics()     Statistics(hits=2522, misses=2208, entries=1024, key_bytes=93211)
    clear()          forgets everything

Both are for caches by content as well (content_cache.py), which have budgets of their own.

Each function remembers so many answers, those used last (`functools.lru_cache`). Since a text may be of any length, the
bytes of the texts are counted as well: what is made of one takes some eighty times as much, more than could be kept of
a thousand long ones. Past the budget everything is forgotten at once, which costs one schema of several thousand what
it cost the first one.

Invariants: counting happens where something is made, so finding costs what it costs in `lru_cache`. `key_bytes` counts
what was remembered since the last time that all was forgotten, even if it was pushed out since, and a thread may miss
what another one adds at the same moment: both only forget earlier or a little later. No locks.
Functions of constants, and of keys of a few bytes, use `lru_cache` itself.
Tested by tests/support/test_memos.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from maskwright.support.content_cache import CACHES, Statistics
from maskwright.support.untracked import untrack

_P = ParamSpec("_P")
_T = TypeVar("_T")

MOST_KEY_BYTES: Final = 1 << 20

_memos: list[Any] = []
_key_bytes = 0


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Make a function remember its last answers, at most so many, by arguments whose texts are counted."""

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @lru_cache(most)
        @wraps(function)
        def memo(*args: Any, **kwargs: Any) -> Any:
            made = cast(Any, function)(*args, **kwargs)
            _count(sum(map(_num_bytes, args)))
            untrack(made)
            return made

        _memos.append(memo)
        return cast(Callable[_P, _T], memo)

    return decorate


def statistics() -> Statistics:
    """Return what all functions and caches together found, made and keep."""
    infos = [memo.cache_info() for memo in _memos]
    counts = [cache.statistics() for cache in CACHES]
    counts += [Statistics(info.hits, info.misses, info.currsize, 0) for info in infos]
    hits, misses, entries, key_bytes = map(sum, zip(*counts, strict=True))
    return Statistics(hits, misses, entries, key_bytes + _key_bytes)


def clear() -> None:
    """Forget everything."""
    _forget_answers()
    for cache in CACHES:
        cache.clear()


def _forget_answers() -> None:
    global _key_bytes
    for memo in _memos:
        memo.cache_clear()
    _key_bytes = 0


def _count(num_bytes: int) -> None:
    global _key_bytes
    if _key_bytes + num_bytes > MOST_KEY_BYTES:
        _forget_answers()
    _key_bytes += num_bytes


def _num_bytes(argument: Any) -> int:
    if isinstance(argument, (str, bytes)):
        return len(argument)
    return sum(len(part) for part in argument) if isinstance(argument, tuple) else 0
