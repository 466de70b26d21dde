"""What does a token budget cost, far from its end and near it?

    python benchmarks/bench_budgets.py

The same output token by token, with and without a budget, in microseconds of the thread's time around the calls of
`fill_next_token_bitmask` and `accept_token`:
    first   the first token of a fresh tokenizer
    far     the median of the tokens after it
    last    each of the last tokens, where the mask narrows down to what still ends in time; the output then goes on
            with any token that is allowed
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from vocabulary import Longest, load

import maskwright as mw

TEXT = "The quick brown fox jumps over the lazy dog, and then runs away from it all. " * 40
BUDGET = 600
LAST = 12
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
THINK = 'root ::= "<think>" thought "Answer: " [0-9]+\nthought{} ::= Regex("(?s:.*?)</think>")'
CASES: dict[str, tuple[Callable[[], mw.Grammar], str, int | None]] = {
    "thought": (lambda: mw.Grammar.from_ebnf(THINK.format("[lazy]")), "<think>", None),
    f"thought, {BUDGET} tokens": (
        lambda: mw.Grammar.from_ebnf(THINK.format(f"[lazy, max_tokens={BUDGET}]")),
        "<think>",
        None,
    ),
    "JSON": (lambda: mw.Grammar.from_json_schema(SCHEMA), '{"name": "', None),
    f"JSON, {BUDGET} tokens in all": (lambda: mw.Grammar.from_json_schema(SCHEMA), '{"name": "', BUDGET),
}


def timed(call: Callable[[], Any]) -> float:
    begin = time.thread_time()
    call()
    return (time.thread_time() - begin) * 1e6


def follow(matcher: mw.GrammarMatcher, tokens: list[int]) -> tuple[list[float], list[float], list[int], bool]:
    """Times of masks and accepts, and the numbers of tokens allowed: the text as long as it is, then any tokens."""
    rng = random.Random(1)
    bitmask = mw.allocate_token_bitmask(1, matcher.compiled_grammar.tokenizer_info.vocab_size)
    fills: list[float] = []
    accepts: list[float] = []
    counts: list[int] = []
    while len(accepts) < BUDGET + 20 and not matcher.is_completed():
        fills.append(timed(lambda: matcher.fill_next_token_bitmask(bitmask)))
        allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")).tolist()
        counts.append(len(allowed))
        token = tokens[len(accepts)] if tokens[len(accepts)] in set(allowed) else rng.choice(allowed)
        accepts.append(timed(lambda token=token: matcher.accept_token(token)))
    return fills, accepts, counts, matcher.is_completed()


def run(name: str) -> None:
    make, begin, max_tokens = CASES[name]
    _, info = load()
    longest = Longest(info)
    compiled = mw.GrammarCompiler(info).compile_grammar(make())
    tokens = longest.encode((begin + TEXT).encode())
    for attempt in ("cold", "warm"):
        fills, accepts, counts, is_complete = follow(mw.GrammarMatcher(compiled, max_tokens=max_tokens), tokens)
        far = slice(5, BUDGET - 50)
        print(f"{name}, {attempt}: {len(accepts)} tokens, {'complete' if is_complete else 'open'}")
        print(f"  mask    first {fills[0]:.1f}, far {statistics.median(fills[far]):.2f}")
        print(f"  accept  first {accepts[0]:.1f}, far {statistics.median(accepts[far]):.2f}")
        if len(accepts) <= BUDGET:
            shown = ", ".join(f"{n}: {f:.0f}" for n, f in zip(counts[-LAST:], fills[-LAST:], strict=True))
            print(f"  last masks, allowed: us   {shown}")
            print(f"  last accepts              {', '.join(f'{a:.0f}' for a in accepts[-LAST:])}")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name in CASES:
        run(name)


if __name__ == "__main__":
    main()
