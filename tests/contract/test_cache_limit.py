"""What compiled grammars hold stays near the cache's limit although they grow after they were made."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

import maskwright as mw
from maskwright import _kernel
from maskwright.compiling.cache import CompileCache
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


def test_what_was_let_go_is_given_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    times_given_back: list[int] = []
    monkeypatch.setattr(_kernel, "give_back_memory", lambda: times_given_back.append(len(times_given_back)))
    limit = 64 << 20
    cache: CompileCache[Growing] = CompileCache(limit)
    for i in range(200):
        cache.get(i, lambda: Growing(limit // 100))
    assert 5 <= len(times_given_back) <= 9  # of the limit, each time an eighth, once it was full
    cache.clear()
    assert 6 <= len(times_given_back) <= 10


def test_so_is_what_entries_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    times_given_back: list[int] = []
    monkeypatch.setattr(_kernel, "give_back_memory", lambda: times_given_back.append(len(times_given_back)))
    limit, rules = 64 << 20, [0]

    def keep_rules_within(room: int) -> tuple[int, int]:
        before, rules[0] = rules[0], min(rules[0], room)
        return rules[0], before - rules[0]

    def make() -> Growing:
        rules[0] += limit // 50
        return Growing(100)

    cache: CompileCache[Growing] = CompileCache(limit, keep_rules_within)
    for i in range(100):
        cache.get(i, make)
    assert 5 <= len(times_given_back) <= 9  # of the limit, each time an eighth, once it was full


def test_clearing_lets_go_of_all_rules() -> None:
    info = mw.TokenizerInfo.from_vocab([b"a", b"b", b"</s>"], stop_token_ids=[2])
    compiler = mw.GrammarCompiler(info)
    for i in range(300):
        compiler.compile_regex(f"(a{{{i + 20}}}b)*c|(b{{{i + 20}}}a)+")
    assert info.kernel_vocabulary.num_rule_groups > 300
    compiler.clear_cache()
    assert info.kernel_vocabulary.num_rule_groups < 20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked to give memory back")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="the sanitizers have an allocator of their own")
def test_freed_memory_below_what_is_in_use_is_given_back() -> None:
    """In a process of its own, whose heap is as small as it begins."""
    script = """
import resource
from maskwright import _kernel
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
freed = [bytes(50_000) for _ in range(1_000)]
last = bytes(50_000)
before = resident()
del freed
_kernel.give_back_memory()
assert before - resident() > 40_000_000, before - resident()
"""
    subprocess.run([sys.executable, "-c", script], check=True)
