"""What compiled grammars hold stays near the cache's limit although they grow after they were made."""

from __future__ import annotations

import maskwright as mw
from maskwright.compile_cache import CompileCache
from maskwright.support import memos

LIMIT = 1000


class Growing:
    def __init__(self, size: int) -> None:
        self.own_size_bytes = size


def test_entries_that_grow_are_let_go_where_none_are_added() -> None:
    cache: CompileCache[Growing] = CompileCache(LIMIT)
    entries = [cache.get(i, lambda: Growing(50)) for i in range(10)]
    for _ in range(20):
        for i in range(5, 10):
            entries[i].own_size_bytes += 10
            assert cache.get(i, lambda: Growing(50)) is entries[i] or cache.size_bytes() <= LIMIT
            assert cache.size_bytes() <= LIMIT * 1.1
    assert cache.size_bytes() <= LIMIT


def test_what_was_used_last_is_weighed_first() -> None:
    """Of many that hardly grow, the newest grows by a tenth of the limit as soon as it is used."""
    cache: CompileCache[Growing] = CompileCache(LIMIT)
    for i in range(200):
        made = cache.get(i, lambda: Growing(8))
        made.own_size_bytes += 100
        assert cache.size_bytes() <= LIMIT * 1.1, i
    assert len(cache) >= 5


def test_without_a_limit_nothing_is_kept() -> None:
    cache: CompileCache[Growing] = CompileCache(None)
    assert cache.get(1, lambda: Growing(8)) is not cache.get(1, lambda: Growing(8))
    assert len(cache) == 0


def test_the_limit_is_for_grammars_and_their_rules() -> None:
    """More schemas than the limit has room for, each with names of its own and used; front-ends remember some names."""
    memos.clear()
    vocabulary = [*(bytes((b,)) for b in range(256)), b"</s>"]
    info = mw.TokenizerInfo.from_vocab(vocabulary, special_token_ids=[256], stop_token_ids=[256])
    limit = 1 << 20
    compiler = mw.GrammarCompiler(info, cache_limit_bytes=limit)
    for i in range(200):
        names = [f"name{i}_{j}" for j in range(20)]
        schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names}
        matcher = mw.GrammarMatcher(compiler.compile_json_schema(schema))
        assert matcher.accept_string('{"' + names[0])
        stats = compiler.stats()
        front_end_bytes = min(stats.front_end_bytes, limit // 2)
        assert stats.memory_bytes + stats.rule_bytes + front_end_bytes < 1.1 * limit, i
    assert 3 < stats.num_grammars < 200
    assert 0 < stats.front_end_bytes == memos.statistics().num_bytes < 41 << 20
    assert stats.memory_bytes == compiler.get_cache_size_bytes()
    before = info.kernel_vocabulary.rule_memory_bytes
    del matcher
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.stats().rule_bytes < before / 2
