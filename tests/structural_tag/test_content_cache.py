"""What is kept by content is bounded, in number and in bytes, and the least recently used goes first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from maskwright.structural_tag import content_cache
from maskwright.structural_tag.content_cache import ContentCache


def test_made_once() -> None:
    cache: ContentCache[str] = ContentCache()
    made: list[str] = []

    def make(value: str) -> str:
        made.append(value)
        return value

    for _ in range(2):
        assert cache.get(b"x", 1, lambda: make("a")) == "a"
        assert cache.get(b"x", 2, lambda: make("b")) == "b"
        assert cache.get(b"y", 1, lambda: make("c")) == "c"
    assert made == ["a", "b", "c"]
    for _ in range(2):
        assert cache.get(None, 1, lambda: make("d")) == "d"
    assert made == ["a", "b", "c", "d", "d"]
    cache.clear()
    assert cache.find(b"x", 1) is None


def test_bounded_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_cache, "_MAX_KEPT", 3)
    cache: ContentCache[bytes] = ContentCache()
    made = []

    def make(content: bytes) -> bytes:
        made.append(content)
        return content

    for content in (b"1", b"2", b"3", b"1", b"4", b"1", b"2"):
        cache.get(content, None, lambda content=content: make(content))  # type: ignore[misc]
    assert made == [b"1", b"2", b"3", b"4", b"2"]


def test_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_cache, "_MAX_KEY_BYTES", 1000)
    cache: ContentCache[int] = ContentCache()
    for number in range(20):
        cache.keep(b"%300d" % number, None, number)
        cache.keep(b"%300d" % number, None, number)
    assert len(cache) == 3
    cache.keep(b"x" * 3000, None, 0)
    assert len(cache) == 0
    assert cache._key_bytes == 0


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_cache, "_MAX_KEPT", 5)
    cache: ContentCache[int] = ContentCache()

    def work(start: int) -> bool:
        return all(cache.get(b"%d" % (i % 11), None, lambda i=i: i % 11) == i % 11 for i in range(start, start + 500))  # type: ignore[misc]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))
    assert len(cache) == 5
