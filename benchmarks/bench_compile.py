"""What do large and unusual grammars cost until the first mask is there, and which stage takes it?

    python benchmarks/bench_compile.py --repetitions 5

Each grammar on a tokenizer that has seen none; the median of the repetitions, in milliseconds of processor time:
    front-end   the text to a `Grammar`
    kernel      the `Grammar` to a `CompiledGrammar`
    first mask  a matcher and its first mask: automata and masks of the first state are made here
Ordinary schemas are in bench_schemas.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import time
from collections.abc import Callable
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from vocabulary import load

import maskwright as mw

DATA = Path(__file__).resolve().parent / "data"
STAGES = ("front-end", "kernel", "first mask", "sum")
Source = Callable[[], mw.Grammar]


def measure(source: Source, compiler: mw.GrammarCompiler, bitmask: Any) -> tuple[float, float, float, float]:
    """Return the milliseconds of each stage, and their sum."""
    marks = [time.process_time()]
    grammar = source()
    marks.append(time.process_time())
    compiled = compiler.compile_grammar(grammar)
    marks.append(time.process_time())
    mw.GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)
    marks.append(time.process_time())
    front_end, kernel, first_mask = (1e3 * (b - a) for a, b in itertools.pairwise(marks))
    return front_end, kernel, first_mask, front_end + kernel + first_mask


def nested(levels: int, inner: dict[str, Any], wrap: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    for _ in range(levels):
        inner = wrap(inner)
    return inner


def schema(value: Any) -> Source:
    return lambda: mw.Grammar.from_json_schema(value)


def single_grammars() -> dict[str, Source]:
    lark, ebnf = ((DATA / "cfg" / f"language.{kind}").read_text() for kind in ("lark", "ebnf"))
    choices = [f"choice number {i * 7919 % 1_000_003}" for i in range(100_000)]
    options = {f"option_{i}": {"type": "string"} for i in range(1_000)}
    out: dict[str, Source] = {
        "1,000 optional properties": schema({"type": "object", "properties": options}),
        "oneOf nested 14 deep": schema(
            nested(14, {"type": "string"}, lambda s: {"oneOf": [{"type": "null"}, {"type": "array", "items": s}]})
        ),
        "maxLength 1,000,000": schema({"type": "string", "maxLength": 1_000_000}),
        "enum of 20,000": schema({"enum": [f"value {i * 7919 % 1_000_003}" for i in range(20_000)]}),
        "arrays 1,000 deep": schema(nested(1_000, {"type": "integer"}, lambda s: {"type": "array", "items": s})),
        "EBNF, 56 rules": lambda: mw.Grammar.from_ebnf(ebnf),
        "Lark, 65 rules and terminals": lambda: mw.Grammar.from_lark(lark),
        "choice of 100,000": lambda: mw.Grammar.from_choices(choices),
    }
    if find_spec("lark"):
        python = resources.files("lark").joinpath("grammars/python.lark").read_text()

        out["lark's Python grammar"] = lambda: mw.Grammar.from_lark(python, start="file_input")
    return out


def row(name: str, values: Any) -> str:
    return f"{name:28s}" + "".join(f"{value:12.3f}" for value in values)


def print_grammars(info: mw.TokenizerInfo, repetitions: int) -> None:
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    print(row("", []) + "".join(f"{stage:>12s}" for stage in STAGES))
    for name, source in single_grammars().items():
        times = [measure(source, mw.GrammarCompiler(dataclasses.replace(info)), bitmask) for _ in range(repetitions)]
        print(row(name, np.median(times, axis=0)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5, help="of each grammar (%(default)s)")
    arguments = parser.parse_args()
    name, info = load()
    print(f"milliseconds of processor time; vocabulary {name}, {info.vocab_size:,} tokens")
    print_grammars(info, arguments.repetitions)


if __name__ == "__main__":
    main()
