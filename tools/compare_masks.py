"""Does every bit of every mask equal `accept_token` on a fork? On a real vocabulary, along real documents.

    python tools/compare_masks.py --steps 20 --instances 1 --seed 1

Reads JSON Schemas in MaskBench's form from beside the checkout (or benchmarks/data), walks the instances of each token
by token, and at random steps asks about every token of the vocabulary. Prints each difference, each limit that a mask
comes to and, at the end, how many states were compared; the exit status is 1 if any differed. A state of a 128k
vocabulary takes about 50 ms.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from vocabulary import SHARED, Longest, load

import maskwright as mw


def records() -> list[dict[str, Any]]:
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    own = Path(__file__).resolve().parents[1] / "benchmarks" / "data" / "schemas.jsonl"
    text = gzip.decompress(beside.read_bytes()).decode() if beside.exists() else own.read_text()
    return [json.loads(line) for line in text.splitlines()]


def accepted(matcher: mw.GrammarMatcher, vocab_size: int) -> np.ndarray:
    fork = matcher.fork()
    out = np.zeros(vocab_size, np.uint8)
    for token in range(vocab_size):
        if fork.accept_token(token):
            out[token] = 1
            fork.rollback(1)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20, help="how many steps of an instance")
    parser.add_argument("--instances", type=int, default=1, help="how many instances of a schema")
    parser.add_argument("--every", type=int, default=1, help="take one schema in so many")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    name, info = load()
    longest, compiler = Longest(info), mw.GrammarCompiler(info)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    compared = different = refused = limited = 0
    for record in records()[:: arguments.every]:
        try:
            grammar = compiler.compile_json_schema(record["schema"])
        except mw.MaskwrightError:
            refused += 1
            continue
        for test in rng.sample(record["tests"], min(arguments.instances, len(record["tests"]))):
            tokens = longest.encode(json.dumps(test["data"], ensure_ascii=False).encode())
            steps = set(rng.sample(range(len(tokens) + 1), min(arguments.steps, len(tokens) + 1)))
            matcher = mw.GrammarMatcher(grammar)
            for step, token in enumerate([*tokens, None]):
                if step in steps:
                    try:
                        matcher.fill_next_token_bitmask(bitmask)
                    except mw.LimitError as error:
                        limited += 1
                        print(f"{record['id']}, step {step}: no mask: {error}", flush=True)
                        break
                    mask = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: info.vocab_size]
                    wrong = np.flatnonzero(mask != accepted(matcher, info.vocab_size))
                    compared += 1
                    if len(wrong):
                        different += 1
                        shown = [(int(t), info.token_bytes[t], int(mask[t])) for t in wrong[:5]]
                        print(f"{record['id']}, step {step}: {len(wrong)} tokens, such as {shown}", flush=True)
                if token is None or not matcher.accept_token(token):
                    break
    print(f"{name}: {compared:,} states compared, {different} differ")
    print(f"{refused} schemas refused, {limited} instances came to a limit")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
