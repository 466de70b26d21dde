"""Functions that remember their answers do so within one budget of bytes, however long the texts are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from maskwright import Grammar
from maskwright.structural_tag import get_model_structural_tag
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.support import memos
from maskwright.support.content_cache import ENTRY_BYTES, ContentCache
from maskwright.support.memos import MOST_BYTES, remembered


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    memos.clear()
    yield
    memos.clear()


def test_an_answer_is_made_once_and_counted() -> None:
    made: list[tuple[str, ...]] = []

    @remembered(16)
    def double(*texts: str) -> str:
        made.append(texts)
        return texts[0] * 2

    before = memos.statistics()
    assert [double("ab"), double("ab"), double("c")] == ["abab", "abab", "cc"]
    after = memos.statistics()
    assert made == [("ab",), ("c",)]
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 2)
    assert after.entries == 2
    assert 2 * ENTRY_BYTES < after.num_bytes < 2 * ENTRY_BYTES + 1000
    memos.clear()
    assert memos.statistics() == (0, 0, 0, 0)
    assert double("ab") == "abab"
    assert made == [("ab",), ("c",), ("ab",)]


def test_caches_by_content_are_counted_and_cleared_too() -> None:
    cache = ContentCache(10, 1000)
    cache.keep(b"abc", 1)
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    Grammar.from_structural_tag(get_model_structural_tag("hermes", tools))
    found = memos.statistics()
    parts = [cache.statistics(), KEPT.statistics()]
    assert all(part.entries for part in parts)
    assert found.num_bytes >= sum(part.num_bytes for part in parts) > 3
    memos.clear()
    assert memos.statistics() == cache.statistics() == KEPT.statistics() == (0, 0, 0, 0)


def test_past_the_budget_all_answers_are_forgotten() -> None:
    @remembered(1000)
    def length(text: str) -> int:
        return len(text)

    most = 0
    for n in range(100):
        length(f"{n:02}" * (MOST_BYTES // 40))
        most = max(most, memos.statistics().entries)
        assert memos.statistics().num_bytes <= MOST_BYTES
    assert most == 19  # and what they take beside their texts


def test_a_refusal_is_not_remembered() -> None:
    @remembered(16)
    def refuse(text: str) -> str:
        raise ValueError(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            refuse("no")
    assert memos.statistics()[1:] == (2, 0, 0)


def test_long_patterns_are_not_kept_for_long() -> None:
    for n in range(60):
        pattern = "|".join(f"{n}-{i}" for i in range(5_000))
        Grammar.from_json_schema({"type": "string", "pattern": pattern})
    found = memos.statistics()
    assert found.num_bytes <= MOST_BYTES
    assert 0 < found.entries < 60


def test_the_same_schema_again_is_all_known() -> None:
    schema = {"properties": {"naïve": {"pattern": "^[a-z]+$"}}, "patternProperties": {"^x": {}, "^y": {}}}
    Grammar.from_json_schema(schema)
    first = memos.statistics()
    Grammar.from_json_schema(schema)
    second = memos.statistics()
    assert second.misses == first.misses
    assert second.hits > first.hits
