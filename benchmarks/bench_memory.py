"""What is remembered, and does it stay bounded?

    python benchmarks/bench_memory.py --schemas 10000 --limit-mb 256
    python benchmarks/bench_memory.py --schemas 8000 --limit-mb 64 --data ../shared/corpora/maskbench-dev.jsonl.gz

Prints, in bytes: the tokenizer's trie; a compiled grammar, its own and what it shares with others, when it is new and
after a document; a matcher, by the length of its output; and how the process grows while one compiler compiles and uses
thousands of distinct schemas, made from benchmarks/data or --data by numbering their names. Growth must end when the
compiler's limit is reached.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import itertools
import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vocabulary import Longest, load

import maskwright as mw

DATA = Path(__file__).parent / "data" / "schemas.jsonl"
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def records(path: Path = DATA) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode().splitlines()]


def numbered(value: Any, number: int) -> Any:
    """The same schema, or instance, with every name numbered that a schema's `properties` declares."""
    if isinstance(value, list):
        return [numbered(item, number) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, inner in value.items():
        if key == "properties" and isinstance(inner, dict):
            out[key] = {f"{name}{number}": numbered(schema, number) for name, schema in inner.items()}
        elif key == "required" and isinstance(inner, list):
            out[key] = [f"{name}{number}" if isinstance(name, str) else name for name in inner]
        else:
            out[key] = numbered(inner, number)
    return out


def distinct_schemas(schemas: list[Any]) -> Iterator[Any]:
    for number in itertools.count():
        for schema in schemas:
            yield numbered(schema, number)


def walk(matcher: mw.GrammarMatcher, bitmask: Any, steps: int) -> None:
    """Take the lowest token allowed, some times; each step makes a new configuration and its mask."""
    for _ in range(steps):
        if matcher.is_terminated():
            return
        matcher.fill_next_token_bitmask(bitmask)
        allowed = bitmask[0].nonzero()[0]
        word = int(bitmask[0][allowed[0]])
        matcher.accept_token(int(allowed[0]) * 32 + (word & -word).bit_length() - 1)


def report_grammars(compiler: mw.GrammarCompiler, bitmask: Any, longest: Longest) -> None:
    own, shared, used_own, used_shared = [], [], [], []
    for record in records():
        try:
            grammar = compiler.compile_json_schema(record["schema"])
        except mw.MaskwrightError:
            continue
        own.append(grammar.memory_size_bytes)
        shared.append(grammar._native.shared_memory_bytes)
        matcher = mw.GrammarMatcher(grammar)
        for test in record.get("tests", [])[:1]:
            for token in longest.encode(json.dumps(test["data"]).encode()):
                matcher.fill_next_token_bitmask(bitmask)
                if not matcher.accept_token(token):
                    break
        used_own.append(grammar.memory_size_bytes)
        used_shared.append(grammar._native.shared_memory_bytes)
    for name, sizes in (
        ("new, its own", own),
        ("new, shared", shared),
        ("used, its own", used_own),
        ("used, shared", used_shared),
    ):
        print(f"grammar {name:15} median {statistics.median(sizes):12,.0f}   max {max(sizes):12,}")


def report_matchers(compiler: mw.GrammarCompiler, longest: Longest) -> None:
    grammar = compiler.compile_json_schema({"type": "array", "items": {"type": "integer"}})
    kept = []
    for length in (100, 1_000, 10_000, 100_000):
        tokens = longest.encode(b"[" + b"1,2," * (length // 2))[:length]
        count = 2_000_000 // length
        gc.collect()
        before = resident_bytes()
        for _ in range(count):
            kept.append(mw.GrammarMatcher(grammar))
            kept[-1].accept_tokens(tokens)
        per_matcher = (resident_bytes() - before) / count
        print(f"matcher after {len(tokens):7,} tokens {per_matcher:12,.0f}   {per_matcher / len(tokens):6.1f} a token")


def report_growth(compiler: mw.GrammarCompiler, bitmask: Any, num_schemas: int, path: Path) -> None:
    schemas = [record["schema"] for record in records(path)]  # not counted
    start, compiled = resident_bytes(), 0
    for i, schema in enumerate(itertools.islice(distinct_schemas(schemas), num_schemas), 1):
        try:
            matcher = mw.GrammarMatcher(compiler.compile_json_schema(schema))
        except mw.MaskwrightError:
            continue
        compiled += 1
        walk(matcher, bitmask, 24)
        if i % max(1, num_schemas // 10) == 0:
            grown = (resident_bytes() - start) >> 20
            stats = compiler.stats()
            print(
                f"after {i:7,} schemas ({compiled:,} compiled): grown by {grown:6,} MiB; kept are"
                f" {stats.num_grammars:5,} grammars, {stats.memory_bytes >> 20:5,} MiB,"
                f" and rules, {stats.rule_bytes >> 20:5,} MiB"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=10_000)
    parser.add_argument("--limit-mb", type=int, default=256, help="the compiler's cache_limit_bytes")
    parser.add_argument("--data", type=Path, default=DATA, help="schemas in MaskBench's form")
    arguments = parser.parse_args()
    before = resident_bytes()
    name, info = load()
    compiler = mw.GrammarCompiler(info, cache_limit_bytes=arguments.limit_mb << 20)
    trie = info.kernel_vocabulary.memory_bytes
    print(
        f"vocabulary {name}: {info.vocab_size:,} tokens, trie {trie:,}, process grown by {resident_bytes() - before:,}"
    )
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    longest = Longest(info)
    report_grammars(compiler, bitmask, longest)
    report_matchers(compiler, longest)
    compiler.clear_cache()
    report_growth(compiler, bitmask, arguments.schemas, arguments.data)


if __name__ == "__main__":
    main()
