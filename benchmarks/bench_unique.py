"""What does it cost that the items of an array must all differ?

    python benchmarks/bench_unique.py --items 1000

An array of so many different strings, written once and once more with the same grammar: processor time of a mask and of
accepting a token, on average, beside the same array without `uniqueItems`, and with `prefixItems` before its items.
"""

from __future__ import annotations

import argparse
import json
import random
import time

from vocabulary import Longest, load

import maskwright as mw

KINDS = {
    "any": {},
    "unique": {"uniqueItems": True},
    "prefix": {"uniqueItems": True, "prefixItems": [{"type": "string"}]},
}


def texts(count: int, tokens: list[bytes]) -> list[str]:
    """Different strings of one to three words."""
    rng = random.Random(1)
    words = [token.decode() for token in tokens if token.isalpha() and token.isascii() and len(token) > 3]
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(rng.sample(words, rng.randint(1, 3)))] = None
    return list(found)


def cost(grammar: mw.CompiledGrammar, ids: list[int]) -> tuple[float, float]:
    """Microseconds of processor time a mask, and a token accepted."""
    matcher, bitmask = mw.GrammarMatcher(grammar), mw.allocate_token_bitmask(1, grammar.tokenizer_info.vocab_size)
    filling = accepting = 0.0
    for token in ids:
        begin = time.thread_time()
        matcher.fill_next_token_bitmask(bitmask)
        filled = time.thread_time()
        assert matcher.accept_token(token)
        filling += filled - begin
        accepting += time.thread_time() - filled
    assert matcher.is_completed()
    return filling / len(ids) * 1e6, accepting / len(ids) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10, 100, 1000])
    arguments = parser.parse_args()
    name, info = load()
    print(f"vocabulary: {name}")
    tokenizer = Longest(info)
    for count in arguments.items:
        ids = tokenizer.encode(json.dumps(texts(count, list(info.token_bytes))).encode())
        for kind, more in KINDS.items():
            schema = {"type": "array", "items": {"type": "string"}, **more}
            grammar = mw.GrammarCompiler(info).compile_json_schema(schema)
            for run in ("first", "again"):
                fill, accept = cost(grammar, ids)
                print(
                    f"{count:6} items {kind:7} {run}: {len(ids):6} tokens, {fill:7.2f} µs a mask, {accept:6.2f} accept"
                )


if __name__ == "__main__":
    main()
