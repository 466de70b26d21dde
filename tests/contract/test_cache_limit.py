"""What compiled grammars hold stays near the cache's limit although they grow after they were made."""

from __future__ import annotations

from maskwright.compile_cache import CompileCache

LIMIT = 1000


class Growing:
    def __init__(self, size: int) -> None:
        self.memory_size_bytes = size


def test_entries_that_grow_are_let_go_where_none_are_added() -> None:
    cache: CompileCache[Growing] = CompileCache(LIMIT)
    entries = [cache.get(i, lambda: Growing(50)) for i in range(10)]
    for _ in range(20):
        for i in range(5, 10):
            entries[i].memory_size_bytes += 10
            assert cache.get(i, lambda: Growing(50)) is entries[i] or cache.size_bytes() <= LIMIT
            assert cache.size_bytes() <= LIMIT * 1.1
    assert cache.size_bytes() <= LIMIT


def test_what_was_used_last_is_weighed_first() -> None:
    """Of many that hardly grow, the newest grows by a tenth of the limit as soon as it is used."""
    cache: CompileCache[Growing] = CompileCache(LIMIT)
    for i in range(200):
        made = cache.get(i, lambda: Growing(8))
        made.memory_size_bytes += 100
        assert cache.size_bytes() <= LIMIT * 1.1, i
    assert len(cache) >= 5


def test_without_a_limit_nothing_is_kept() -> None:
    cache: CompileCache[Growing] = CompileCache(None)
    assert cache.get(1, lambda: Growing(8)) is not cache.get(1, lambda: Growing(8))
    assert len(cache) == 0
