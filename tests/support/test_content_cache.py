"""What is kept by content is bounded, in number and in bytes, and the oldest goes first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from maskwright.support.content_cache import ContentCache, Statistics


def test_the_first_counts() -> None:
    cache = ContentCache(100, 10_000)
    assert cache.find("x") is None
    cache.keep("x", "a")
    cache.keep("x", "b")
    assert cache.find("x") == "a"
    cache.clear()
    assert cache.find("x") is None


def test_another_value_that_is_as_good() -> None:
    cache = ContentCache(2, 10_000)
    assert cache.replace("x", "a") == "a"
    assert cache.find("x") is None
    cache.keep("x", "a")
    cache.keep("y", "b")
    num_bytes = cache.num_bytes
    assert cache.replace("x", "c") == "c"
    assert (cache.find("x"), cache.num_bytes) == ("c", num_bytes)
    cache.keep("z", "d")
    assert (cache.find("x"), cache.find("y")) == (None, "b")  # the oldest still goes first


def test_bounded_in_number() -> None:
    cache = ContentCache(3, 10_000)
    for number in (1, 2, 3, 1, 4):
        cache.keep(number, number)
    assert [cache.find(number) for number in range(1, 5)] == [None, 2, 3, 4]


def test_bounded_in_bytes() -> None:
    cache = ContentCache(100, 10_000)
    for number in range(20):
        cache.keep(number, bytes(3000))
        cache.keep(number, bytes(3000))
    assert cache.statistics().entries == 3
    assert 9_000 < cache.num_bytes <= 10_000
    cache.keep("large", bytes(30_000))
    assert cache.statistics().entries == 0
    assert cache.statistics().num_bytes == 0


def test_statistics() -> None:
    cache = ContentCache(100, 1000)
    for key in "abab":
        if cache.find(key) is None:
            cache.keep(key, key)
    found = cache.statistics()
    assert found == Statistics(hits=2, misses=2, entries=2, num_bytes=cache.num_bytes)
    cache.keep("c", (key, "c"))
    assert cache.num_bytes > found.num_bytes * 3 / 2
    cache.clear()
    assert cache.statistics() == Statistics(0, 0, 0, 0)


def test_threads() -> None:
    cache = ContentCache(5, 10_000)

    def work(start: int) -> bool:
        for i in range(start, start + 500):
            cache.keep(i % 11, i % 11)
            if cache.find(i % 11) not in (None, i % 11):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))
    assert cache.statistics().entries == 5
