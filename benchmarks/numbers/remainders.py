"""What do numbers cost that must be multiples, with a rule for each remainder and with the remainder in a register?

    python benchmarks/numbers/remainders.py --divisor 97

An array of 100 such integers, written once and once more with the same grammar: processor time to compile it, of a mask
and of accepting a token, on average.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

import maskwright as mw
from maskwright.frontends.json_schema.sets import multiples

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_unique import cost
from vocabulary import Longest, load

LARGEST = 10**8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--divisor", type=int, nargs="+", default=[7, 97, 360, 997, 86400])
    arguments = parser.parse_args()
    name, info = load()
    print(f"vocabulary: {name}")
    for divisor in arguments.divisor:
        rng = random.Random(1)
        numbers = [divisor * rng.randrange(LARGEST // divisor) for _ in range(100)]
        ids = Longest(info).encode(json.dumps(numbers).encode())
        for kind, most in (("rules", multiples.MAX_STATES), ("register", 0)):
            multiples.MAX_REMAINDERS = most  # type: ignore[misc]
            schema = {"type": "array", "items": {"type": "integer", "multipleOf": divisor}}
            begin = time.process_time()
            grammar = mw.GrammarCompiler(info).compile_json_schema(schema)
            compiling = time.process_time() - begin
            for run in ("first", "again"):
                fill, accept = cost(grammar, ids)
                print(
                    f"multiples of {divisor:5}, {kind:8} {run}: {compiling * 1e3:6.1f} ms to compile, "
                    f"{len(ids)} tokens, {fill:6.2f} µs a mask, {accept:5.2f} accept"
                )


if __name__ == "__main__":
    main()
