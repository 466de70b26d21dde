"""What does a token budget cost, far from its end and near it?

    python benchmarks/bench_budgets.py

The same output token by token, with and without a budget, in microseconds around the Python calls of
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
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e6


def run(name: str) -> None:
    make, begin, max_tokens = CASES[name]
    _, info = load()
    longest = Longest(info)
    compiled = mw.GrammarCompiler(info).compile_grammar(make())
    rng = random.Random(1)
    for attempt in ("cold", "warm"):
        matcher = mw.GrammarMatcher(compiled, max_tokens=max_tokens)
        bitmask = mw.allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
        tokens = longest.encode((begin + TEXT).encode())
        fills, accepts, counts = [], [], []
        for i in range(BUDGET + 20):
            fills.append(timed(lambda: matcher.fill_next_token_bitmask(bitmask)))
            allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little"))
            counts.append(len(allowed))
            if not len(allowed):
                break
            token = tokens[i] if tokens[i] in set(allowed.tolist()) else int(rng.choice(allowed))
            accepts.append(timed(lambda token=token: matcher.accept_token(token)))
            if matcher.is_completed():
                break
        far = slice(5, BUDGET - 50)
        print(f"{name}, {attempt}: {len(accepts)} tokens, {'complete' if matcher.is_completed() else 'open'}")
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
