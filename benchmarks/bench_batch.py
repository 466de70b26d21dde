"""What does a decoding step of a whole batch cost, how does it scale with threads, and what do peers' batch calls take?

    python benchmarks/bench_batch.py --engines maskwright llguidance --batches 1 16 64 256 --threads 1 2

Every sequence of the batch writes valid instances of its schema (mixed ones; MaskBench's development part beside the
checkout, else the sample in `data/`) and begins another when one ends, so all rows are filled at every step. A step is
one call that fills all rows and one that accepts a token in each (llguidance: one a sequence). Microseconds a step,
from Python:
    cold   the first steps with these schemas, masks being made
    warm   the same again
Engines take turns, each keeping its best of `--rounds` rounds; those that are not installed are left out. XGrammar
computes masks while it compiles, so it has no cold figure apart.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_peers import HERE, Llguidance, Xgrammar
from vocabulary import SHARED, Longest, load

import maskwright as mw


class Maskwright:
    compiles_cold = True

    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        self.info = info

    def compile(self, schemas: list[Any]) -> list[Any]:
        # A new tokenizer shares no automata with the rounds before.
        compiler = mw.GrammarCompiler(mw.TokenizerInfo(*self.info.__reduce__()[1]))
        return [compiler.compile_json_schema(schema) for schema in schemas]

    def start(self, grammars: list[Any], threads: int) -> None:
        self.batch = mw.BatchGrammarMatcher([mw.GrammarMatcher(g) for g in grammars], max_threads=threads)

    def restart(self, i: int) -> None:
        self.batch.matchers[i].reset()

    def fill(self, bitmask: Any) -> None:
        self.batch.fill_next_token_bitmask(bitmask)

    def accept(self, tokens: list[int]) -> bool:
        return all(self.batch.accept_token(tokens))


class LlguidanceBatch:
    compiles_cold = True

    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        self.single = Llguidance(info, longest)

    def compile(self, schemas: list[Any]) -> list[Any]:
        out = []
        for schema in schemas:
            self.single.compile(schema)
            out.append(self.single.first)
        return out

    def start(self, grammars: list[Any], threads: int) -> None:
        self.executor = self.single.llguidance.LLExecutor(threads)
        self.matchers = [g.deep_copy() for g in grammars]
        self.rows = [(m, i) for i, m in enumerate(self.matchers)]

    def restart(self, i: int) -> None:
        self.matchers[i].reset()

    def fill(self, bitmask: Any) -> None:
        self.single.llguidance.numpy.fill_next_token_bitmask_par(self.executor, self.rows, bitmask)

    def accept(self, tokens: list[int]) -> bool:
        return all(m.consume_token(t) for m, t in zip(self.matchers, tokens, strict=True))


class XgrammarBatch:
    compiles_cold = False

    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        self.single = Xgrammar(info, longest)
        self.known: dict[str, Any] = {}

    def compile(self, schemas: list[Any]) -> list[Any]:
        for schema in schemas:
            key = json.dumps(schema)
            if key not in self.known:
                self.single.compile(schema)
                self.known[key] = self.single.grammar
        return [self.known[json.dumps(schema)] for schema in schemas]

    def start(self, grammars: list[Any], threads: int) -> None:
        self.matchers = [self.single.library.GrammarMatcher(g) for g in grammars]
        self.batch = self.single.library.BatchGrammarMatcher(threads)

    def restart(self, i: int) -> None:
        self.matchers[i].reset()

    def fill(self, bitmask: Any) -> None:
        self.batch.batch_fill_next_token_bitmask(self.matchers, bitmask)

    def accept(self, tokens: list[int]) -> bool:
        return all(self.batch.batch_accept_token(self.matchers, tokens))


ENGINES = {"maskwright": Maskwright, "llguidance": LlguidanceBatch, "xgrammar": XgrammarBatch}


def run(engine: Any, texts: list[list[list[int]]], steps: int, bitmask: Any) -> tuple[float, float]:
    """Return the mean microseconds of a fill and of an accept; `texts[i]` are the instances that sequence i writes."""
    at = [(0, 0)] * len(texts)
    fill_s = accept_s = 0.0
    for _ in range(steps):
        tokens = [texts[i][text][position] for i, (text, position) in enumerate(at)]
        begin = time.perf_counter()
        engine.fill(bitmask)
        middle = time.perf_counter()
        accepted = engine.accept(tokens)
        accept_s += time.perf_counter() - middle
        fill_s += middle - begin
        if not accepted:
            raise SystemExit("a valid instance was refused")
        for i, (text, position) in enumerate(at):
            at[i] = (text, position + 1)
            if position + 1 == len(texts[i][text]):
                at[i] = ((text + 1) % len(texts[i]), 0)
                engine.restart(i)
    return fill_s * 1e6 / steps, accept_s * 1e6 / steps


def usable(engine: Any, record: Any, encode: Any) -> bool:
    """Whether the engine takes the schema within a second of processor time, and its valid instances."""
    try:
        begin = time.process_time()
        grammars = engine.compile([record["schema"]])
        if time.process_time() - begin > 1:
            return False
        for text in instances(record, encode):
            engine.start(grammars, 1)
            if not all(engine.accept([t]) for t in text):
                return False
    except Exception:  # an engine's own way to say no
        return False
    return True


def instances(record: Any, encode: Any) -> list[list[int]]:
    valid = [test["data"] for test in record["tests"] if test["valid"]]
    return [encode(json.dumps(data, ensure_ascii=False).encode()) for data in valid[:8]]


def choose(data: Path, count: int, engines: dict[str, Any], encode: Any) -> list[Any]:
    """Choose schemas, spread over the data, that all engines take."""
    text = gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes()
    records = [json.loads(line) for line in text.decode().splitlines()]
    step = max(1, len(records) // (3 * count))
    chosen: list[Any] = []
    for record in records[::step]:
        if (
            len(chosen) < count
            and instances(record, encode)
            and all(usable(e, record, encode) for e in engines.values())
        ):
            chosen.append(record)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES)[:2], choices=list(ENGINES))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16, 64, 256])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--schemas", type=int, default=32, help="how many to mix")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="JSON lines in MaskBench's form, gzipped or not")
    arguments = parser.parse_args()
    vocabulary, info = load()
    longest = Longest(info)
    missing = [n for n in arguments.engines if not importlib.util.find_spec(n)]
    print("".join(f"{name} is not installed, and left out\n" for name in missing), end="")
    engines = {n: ENGINES[n](info, longest) for n in arguments.engines if n not in missing}
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    data = arguments.data or (beside if beside.exists() else HERE / "data" / "schemas.jsonl")
    records = choose(data, arguments.schemas, engines, longest.encode)
    print(f"vocabulary: {vocabulary}, {info.vocab_size:,} tokens; data: {data.name}, {len(records)} schemas mixed")
    print(f"{'batch':>5s} {'threads':>7s}  {'engine':12s} {'cold fill':>10s} {'warm fill':>10s} {'warm accept':>11s}")
    for batch in arguments.batches:
        mixed = [records[i % len(records)] for i in range(batch)]
        texts = [instances(record, longest.encode) for record in mixed]
        bitmask = mw.allocate_token_bitmask(batch, info.vocab_size)
        best: dict[tuple[int, str], np.ndarray] = {}
        for _ in range(arguments.rounds):
            for threads in arguments.threads:
                for name, engine in engines.items():
                    engine.start(engine.compile([record["schema"] for record in mixed]), threads)
                    cold, _ = run(engine, texts, arguments.steps, bitmask)
                    for i in range(batch):
                        engine.restart(i)
                    figures = np.array(
                        [cold if engine.compiles_cold else np.nan, *run(engine, texts, arguments.steps, bitmask)]
                    )
                    key = (threads, name)
                    best[key] = np.fmin(best.get(key, figures), figures)
        for (threads, name), figures in sorted(best.items()):
            shown = [f"{figure:,.1f}" if figure == figure else "-" for figure in figures]
            print(f"{batch:5d} {threads:7d}  {name:12s} {shown[0]:>10s} {shown[1]:>10s} {shown[2]:>11s}", flush=True)


if __name__ == "__main__":
    main()
