"""Functions that remember what they gave for a caller's texts, all of them within one budget of bytes; and what is
remembered altogether.

    @remembered(1024)
    def pattern_text(pattern: str) -> Expr: …

    statistics()     Statistics(hits=2522, misses=2208, entries=1024, num_bytes=930211)
    clear()          forgets everything

Both are for caches by content as well (content_cache.py), which have budgets of their own.

Each function remembers so many answers, those used last (`functools.lru_cache`). Since a text may be of any length, the
bytes of texts and answers are counted as well. Past the budget everything is forgotten at once, which costs one schema
of several thousand what it cost the first one.

Invariants: counting happens where something is made, so finding costs what it costs in `lru_cache`. `num_bytes` counts
what was remembered since the last time that all was forgotten, even if it was pushed out since, and a thread may miss
what another one adds at the same moment: both only forget earlier or a little later. No locks.
Functions of constants, and of keys of a few bytes, use `lru_cache` itself.
Tested by tests/support/test_memos.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from maskwright.support.content_cache import CACHES, ENTRY_BYTES, Statistics
from maskwright.support.untracked import untrack

_P = ParamSpec("_P")
_T = TypeVar("_T")

MOST_BYTES: Final = 8 << 20

_memos: list[Any] = []
_num_bytes = 0


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Make a function remember its last answers, at most so many. Nobody changes them."""

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @lru_cache(most)
        @wraps(function)
        def memo(*args: Any, **kwargs: Any) -> Any:
            made = cast(Any, function)(*args, **kwargs)
            _count(ENTRY_BYTES + untrack((args, made)))
            return made

        _memos.append(memo)
        return cast(Callable[_P, _T], memo)

    return decorate


def statistics() -> Statistics:
    """Return what all functions and caches together found, made and keep."""
    infos = [memo.cache_info() for memo in _memos]
    counts = [cache.statistics() for cache in CACHES]
    counts += [Statistics(info.hits, info.misses, info.currsize, 0) for info in infos]
    hits, misses, entries, _ = map(sum, zip(*counts, strict=True))
    return Statistics(hits, misses, entries, num_bytes())


def num_bytes() -> int:
    """About how many bytes functions and caches together keep."""
    total = _num_bytes
    for cache in CACHES:  # a loop, as each look-up of a compiler's asks
        total += cache.num_bytes
    return total


def clear() -> None:
    """Forget everything."""
    _forget_answers()
    for cache in CACHES:
        cache.clear()


def _forget_answers() -> None:
    global _num_bytes
    for memo in _memos:
        memo.cache_clear()
    _num_bytes = 0


def _count(num_bytes: int) -> None:
    global _num_bytes
    if _num_bytes + num_bytes > MOST_BYTES:
        _forget_answers()
    _num_bytes += num_bytes
