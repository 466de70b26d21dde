"""Compiling in other threads, once for all who ask at the same time, and keeping what was compiled within bounds."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import OrderedDict
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import maskwright
from maskwright import _kernel
from maskwright.compiling.cache import CompileCache, Workers
from oracle.comparing import mask_of, scaled
from oracle.vocabularies import BYTES, SMALL


@pytest.fixture
def compiler() -> maskwright.GrammarCompiler:
    return maskwright.GrammarCompiler(BYTES.info(), max_threads=2)


def test_each_kind(compiler: maskwright.GrammarCompiler) -> None:
    pairs = [
        (compiler.compile_regex_async("a+"), compiler.compile_regex("a+")),
        (compiler.compile_grammar_async('root ::= "ab"'), compiler.compile_grammar('root ::= "ab"')),
        (compiler.compile_choices_async(["a", "b"]), compiler.compile_choices(["a", "b"])),
        (compiler.compile_json_schema_async({"const": 1}), compiler.compile_json_schema({"const": 1})),
    ]
    for future, compiled in pairs:
        assert isinstance(future, Future)
        assert future.result(10) is compiled
    assert compiler.stats()[:3] == (4, 4, 4)


def test_await(compiler: maskwright.GrammarCompiler) -> None:
    async def main() -> list[maskwright.CompiledGrammar]:
        return [
            await compiler.compile_regex_async("a+"),
            await asyncio.wait_for(compiler.compile_regex_async("a+"), 10),
            *await asyncio.gather(compiler.compile_regex_async("a+"), compiler.compile_regex_async("a+")),
            await asyncio.wrap_future(compiler.compile_regex_async("a+")),
        ]

    assert set(asyncio.run(main())) == {compiler.compile_regex("a+")}


def test_errors_come_out_of_await(compiler: maskwright.GrammarCompiler) -> None:
    async def main() -> None:
        with pytest.raises(maskwright.RegexSyntaxError):
            await compiler.compile_regex_async("(")

    asyncio.run(main())


def test_errors_come_out_of_the_result_and_are_not_kept(compiler: maskwright.GrammarCompiler) -> None:
    for _ in range(2):
        with pytest.raises(maskwright.RegexSyntaxError):
            compiler.compile_regex_async("(").result(10)
        with pytest.raises(maskwright.RegexSyntaxError):
            compiler.compile_regex("(")
    assert compiler.stats()[:3] == (0, 4, 0)
    with pytest.raises(maskwright.ArgumentError):
        compiler.compile_grammar_async(3)  # type: ignore[arg-type]


def test_without_a_cache_nothing_is_kept() -> None:
    compiler = maskwright.GrammarCompiler(SMALL.info(), cache_enabled=False)
    assert compiler.compile_regex_async("a").result(10) is not compiler.compile_regex("a")
    assert compiler.get_cache_size_bytes() == 0


def test_the_rules_of_a_schema_can_be_asked_for_later(compiler: maskwright.GrammarCompiler) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [1, 1.5, None]}}, "required": ["a"]}
    expected = maskwright.Grammar.from_json_schema(schema, any_whitespace=False)
    compiled = compiler.compile_json_schema(schema, any_whitespace=False)
    schema["required"] = ["b"]  # the caller's own again
    assert compiled.grammar == expected
    text = '{"const": "x"}'
    assert compiler.compile_json_schema(text).grammar == maskwright.Grammar.from_json_schema(text)


def test_schemas_are_known_by_their_data(compiler: maskwright.GrammarCompiler) -> None:
    def compiled(schema: Any) -> maskwright.CompiledGrammar:
        return compiler.compile_json_schema(schema)

    assert compiled({"enum": [1, "a"]}) is compiled({"enum": [1, "a"]})
    different: list[Any] = [{"enum": [1, "a"]}, {"enum": ["a", 1]}, {"enum": [1.0, "a"]}, {"enum": [True, "a"]}]
    assert len(set(map(compiled, different))) == len(different)
    assert compiled('{"const": 1}') is not compiled({"const": 1})
    content = _kernel.canonical_bytes({"const": 1})
    assert content is not None
    with pytest.raises(maskwright.SchemaError):
        compiled(content)


def test_data_that_are_not_plain_are_compiled_each_time(compiler: maskwright.GrammarCompiler) -> None:
    schema = OrderedDict(type="object", properties=OrderedDict(a={"const": 1}), required=["a"])
    first, second = compiler.compile_json_schema(schema), compiler.compile_json_schema(schema)
    assert first is not second
    assert first.grammar == second.grammar == maskwright.Grammar.from_json_schema(dict(schema))


class Made:
    own_size_bytes = 100


class Maker:
    """Makes when it is let, and counts."""

    def __init__(self) -> None:
        self.count, self.let = 0, threading.Event()

    def __call__(self) -> Made:
        self.count += 1
        assert self.let.wait(10)
        return Made()


def test_cancelling_the_task_that_awaits_cancels_its_future_alone() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    workers, make = Workers(1), Maker()
    waiting, other = cache.submit("a", make, workers), cache.submit("a", make, workers)

    async def wait() -> Made:
        return await waiting

    async def main() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert waiting.cancelled()
    make.let.set()
    assert isinstance(other.result(10), Made)


def test_what_is_being_made_is_made_once() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    workers, make = Workers(2), Maker()
    futures = [cache.submit("key", make, workers) for _ in range(5)]
    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(cache.get, "key", make) for _ in range(3)]
        others = cache.submit("other", Made, workers).result(10)
        make.let.set()
        results = {id(f.result(10)) for f in (*futures, *waiting)}
    assert (len(results), make.count) == (1, 1)
    assert id(others) not in results
    assert (cache.hits, cache.misses) == (7, 2)


def test_cancelling_concerns_nobody_else() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    workers, make = Workers(1), Maker()
    first, second = (cache.submit("key", make, workers) for _ in range(2))
    assert first.cancel()
    make.let.set()
    assert isinstance(second.result(10), Made)
    with pytest.raises(CancelledError):
        first.result(10)


def test_a_failure_reaches_all_who_wait_and_is_forgotten() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    workers, let = Workers(1), threading.Event()

    def fail() -> Made:
        assert let.wait(10)
        raise ValueError("no")

    futures = [cache.submit("key", fail, workers) for _ in range(3)]
    let.set()
    for future in futures:
        with pytest.raises(ValueError, match="no"):
            future.result(10)
    assert isinstance(cache.get("key", Made), Made)


def test_another_thread_s_interrupt_is_not_ours() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    begun, let = threading.Event(), threading.Event()

    def interrupted() -> Made:
        begun.set()
        assert let.wait(10)
        raise KeyboardInterrupt

    def ours() -> bool:
        try:
            cache.get("key", interrupted)
        except KeyboardInterrupt:
            return True
        return False

    with ThreadPoolExecutor(2) as threads:
        theirs = threads.submit(ours)
        assert begun.wait(10)
        waiting = threads.submit(cache.get, "key", Made)
        let.set()
        assert theirs.result(10)
        assert isinstance(waiting.result(10), Made)


def test_entries_and_bytes_are_bounded() -> None:
    cache: CompileCache[Made] = CompileCache(1000)
    for key in range(6000):
        cache.get(key, Made)
    assert len(cache) == 9  # ten fit; a sixteenth of the limit is left for growth
    cache = CompileCache(10**9)
    for key in range(6000):
        cache.get(key, Made)
    assert len(cache) == 4096
    cache.clear()
    assert len(cache) == cache.size_bytes() == 0


def test_what_grows_is_weighed_again_and_goes_a_few_at_a_time() -> None:
    class Growing:
        def __init__(self) -> None:
            self.own_size_bytes = 10

    cache: CompileCache[Growing] = CompileCache(1000)
    made = [cache.get(key, Growing) for key in range(80)]
    assert len(cache) == 80
    for each in made:
        each.own_size_bytes = 20
    for key in range(80, 120):
        before = len(cache)
        cache.get(key, Growing)
        assert before - len(cache) <= 8
    assert cache.size_bytes() <= 1000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_thousands_of_schemas_in_bounded_memory() -> None:
    """Grammars past the limit go, those in use are flushed, old masks stay right, and memory stops growing."""
    limit = 4 << 20
    compiler = maskwright.GrammarCompiler(BYTES.info(), cache_limit_bytes=limit, grammar_limit_bytes=60_000)
    rng, sizes = random.Random(1), []
    kept = maskwright.GrammarMatcher(compiler.compile_json_schema(schema(0)))
    kept.accept_string('{"k')
    expected = mask_of(kept, BYTES.vocab_size)
    total = scaled(400)
    for number in range(1, total + 1):
        matcher = maskwright.GrammarMatcher(compiler.compile_json_schema(schema(number)))
        for _ in range(6):
            allowed = sorted(mask_of(matcher, BYTES.vocab_size))
            if not allowed or not matcher.accept_token(rng.choice(allowed)):
                break
        if number % 32 == 0:
            assert compiler.get_cache_size_bytes() <= 2 * limit
        if number in (total // 2, total):
            sizes.append(resident_bytes())
    assert mask_of(kept, BYTES.vocab_size) == expected
    assert sizes[1] - sizes[0] < 64 << 20
    assert compiler.stats().misses == total + 1


def schema(number: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {f"k{number}": {"type": "string", "maxLength": number % 50 + 1}, "x": {"enum": [number, "y"]}},
        "required": [f"k{number}"],
        "additionalProperties": False,
    }


def test_statistics() -> None:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    compiled = compiler.compile_regex("(a|b)*")
    matcher = maskwright.GrammarMatcher(compiled)
    for _ in range(3):
        mask_of(matcher, SMALL.vocab_size)
    stats = compiled.stats()
    assert (stats.mask_hits, stats.mask_misses, stats.num_masks, stats.num_flushes) == (2, 1, 1, 0)
    assert matcher.accept_tokens([0, 1]) == 2
    assert compiled.stats().num_transitions == 2
    assert compiled.stats().memory_bytes == pytest.approx(compiled.memory_size_bytes, rel=0.5)
    assert compiler.compile_regex("(a|b)*") is compiled
    assert compiler.stats()[:3] == (1, 1, 1)
    assert compiler.stats().num_rule_groups > 0


def test_statistics_outlive_flushes() -> None:
    compiler = maskwright.GrammarCompiler(BYTES.info(), grammar_limit_bytes=12_000)
    compiled = compiler.compile_regex("([a-z]{1,50}[0-9]{1,50})*")
    matcher, rng, count = maskwright.GrammarMatcher(compiled), random.Random(2), 0
    while compiled.stats().num_flushes < 1 and count < 20_000:
        mask_of(matcher, BYTES.vocab_size)
        count += 1
        if not matcher.accept_token(rng.choice(b"abc12")):
            matcher.reset()
    stats = compiled.stats()
    assert stats.num_flushes == 1
    assert stats.mask_hits + stats.mask_misses == count
