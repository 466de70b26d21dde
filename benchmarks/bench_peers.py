"""How do time to first mask, fill and accept compare with llguidance and XGrammar, and who judges instances rightly?

    python benchmarks/bench_peers.py --engines maskwright xgrammar --data benchmarks/data/schemas.jsonl

Data are in MaskBench's form, one `{"id", "schema", "tests": [{"valid", "data"}]}` a line: by default its development
part beside the checkout, else our own small sample in `data/`. Each engine runs one thread in a process of its own;
they take turns schema by schema, so that a slow spell of the machine hits all. Microseconds around the Python call:
    ttfm          compile + matcher + first mask
    fill, accept  for every token of every instance as `json.dumps` writes it, up to the first refusal
Where the fuller harness `shared/bench/peers.py` lies beside the checkout, that one runs with the same arguments (unless
`--own`). Engines that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from vocabulary import SHARED, Longest, load

import maskwright as mw

HERE = Path(__file__).resolve().parent
FULLER_HARNESS = SHARED / "bench" / "peers.py"


class Maskwright:
    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        self.library: Any = mw
        self.tokenizer: Any = info
        self.compiler: Any = mw.GrammarCompiler(info, max_threads=1)
        self.bitmask = mw.allocate_token_bitmask(1, info.vocab_size)

    def compile(self, schema: Any) -> None:
        self.grammar = self.compiler.compile_json_schema(schema)

    def reset(self) -> None:
        self.matcher = self.library.GrammarMatcher(self.grammar)

    def fill(self) -> None:
        self.matcher.fill_next_token_bitmask(self.bitmask)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token))

    def is_complete(self) -> bool:
        return bool(self.matcher.is_completed())


class Llguidance:
    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        import llguidance
        import llguidance.numpy

        class Source:
            eos_token_id, bos_token_id = info.stop_token_ids[0], None
            tokens, special_token_ids = list(info.token_bytes), list(info.special_token_ids)

            def __call__(self, text: bytes) -> list[int]:
                return longest.encode(text)

        self.llguidance = llguidance
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Source()))
        self.bitmask = llguidance.numpy.allocate_token_bitmask(1, info.vocab_size)

    def compile(self, schema: Any) -> None:
        grammar = json.dumps({"grammars": [{"json_schema": schema}]})
        self.first = self.llguidance.LLMatcher(self.tokenizer, grammar)
        if self.first.is_error():
            raise ValueError(self.first.get_error())

    def reset(self) -> None:
        self.matcher = self.first.deep_copy()

    def fill(self) -> None:
        self.llguidance.numpy.fill_next_token_bitmask(self.matcher, self.bitmask, 0)

    def accept(self, token: int) -> bool:
        # A refused token would leave the matcher in an error, so the mask is asked first.
        allowed = bool(self.bitmask[0, token // 32] >> (token % 32) & 1)
        return allowed and bool(self.matcher.consume_token(token))

    def is_complete(self) -> bool:
        return bool(self.matcher.is_accepting())


class Xgrammar(Maskwright):  # its methods have the same names
    def __init__(self, info: mw.TokenizerInfo, longest: Longest) -> None:
        import xgrammar

        self.library = xgrammar
        special = set(info.special_token_ids)
        texts = [b"" if i in special else text for i, text in enumerate(info.token_bytes)]
        options = {"vocab_size": info.vocab_size, "stop_token_ids": list(info.stop_token_ids)}
        self.tokenizer = xgrammar.TokenizerInfo(texts, xgrammar.VocabType.RAW, **options)
        self.compiler = xgrammar.GrammarCompiler(self.tokenizer, max_threads=1)
        self.bitmask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def compile(self, schema: Any) -> None:
        text = json.dumps(schema)
        self.grammar = self.compiler.compile_json_schema(text, any_whitespace=True, strict_mode=False)


ENGINES = {"maskwright": Maskwright, "llguidance": Llguidance, "xgrammar": Xgrammar}


def measure(engine: Any, longest: Longest, record: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"ttfm": [], "fill": [], "accept": [], "wrong": 0, "refused": False}
    begin = time.perf_counter()
    try:
        engine.compile(record["schema"])
        engine.reset()
        engine.fill()
    except Exception:  # an engine's own way to say no
        return out | {"refused": True}
    out["ttfm"].append((time.perf_counter() - begin) * 1e6)
    for test in record["tests"]:
        engine.reset()
        accepted = True
        for token in longest.encode(json.dumps(test["data"], ensure_ascii=False).encode()):
            begin = time.perf_counter()
            engine.fill()
            middle = time.perf_counter()
            accepted = engine.accept(token)
            out["accept"].append((time.perf_counter() - middle) * 1e6)
            out["fill"].append((middle - begin) * 1e6)
            if not accepted:
                break
        out["wrong"] += (accepted and engine.is_complete()) != test["valid"]
    return out


def work(name: str) -> None:
    """One record a line in, one result a line out."""
    _, info = load()
    longest = Longest(info)
    engine = ENGINES[name](info, longest)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines that print must not disturb the replies
    for line in sys.stdin:
        print(json.dumps(measure(engine, longest, json.loads(line))), file=replies, flush=True)


def run(names: list[str], lines: list[str]) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, __file__, "--worker"]
    workers = {n: subprocess.Popen([*command, n], stdin=pipe, stdout=pipe, text=True) for n in names}
    results: dict[str, list[dict[str, Any]]] = {n: [] for n in names}
    for line in lines:
        for name, worker in workers.items():
            print(line.strip(), file=worker.stdin, flush=True)
            reply = worker.stdout.readline()
            results[name].append(json.loads(reply or sys.exit(f"{name} ended on {line[:60]}")))
    for name, found in results.items():
        workers[name].communicate()
        right = sum(not r["refused"] and not r["wrong"] for r in found)
        print(f"{name}: {len(found)} schemas, {right} fully right, {sum(r['refused'] for r in found)} refused")
        for kind in ("ttfm", "fill", "accept"):
            times = np.array([t for r in found for t in r[kind]] or [np.nan])
            shown = "  ".join(f"p{q} {np.percentile(times, q):,.1f}" for q in (50, 90, 99))
            print(f"   {kind:7s} us avg {times.mean():,.1f}  {shown}  max {times.max():,.1f}   (n {len(times):,})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES)[:2], choices=list(ENGINES))
    parser.add_argument("--data", type=Path, help="JSON lines, gzipped or not")
    parser.add_argument("--limit", type=int, default=100, help="how many schemas, spread evenly over the data (0: all)")
    parser.add_argument("--own", action="store_true", help="use the harness in this file in any case")
    parser.add_argument("--worker", choices=list(ENGINES), help=argparse.SUPPRESS)
    arguments, more = parser.parse_known_args()
    if arguments.worker:
        return work(arguments.worker)
    missing = [n for n in arguments.engines if not importlib.util.find_spec(n)]
    print("".join(f"{name} is not installed, and left out\n" for name in missing), end="")
    names = [n for n in arguments.engines if n not in missing]
    beside = SHARED / "corpora" / "maskbench-dev.jsonl.gz"
    data = arguments.data or (beside if beside.exists() else HERE / "data" / "schemas.jsonl")
    if FULLER_HARNESS.exists() and not arguments.own:
        options = ["--engines", *names, "--data", str(data), "--limit", str(arguments.limit), *more]
        sys.exit(subprocess.run([sys.executable, str(FULLER_HARNESS), *options]).returncode)
    text = gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes()
    lines = text.decode().splitlines()
    step = max(1, len(lines) / arguments.limit) if arguments.limit else 1
    chosen = [lines[int(i * step)] for i in range(int(len(lines) / step))]
    vocabulary, info = load()
    print(f"vocabulary: {vocabulary}, {info.vocab_size:,} tokens; data: {data.name}, {len(chosen)} schemas")
    run(names, chosen)


if __name__ == "__main__":
    main()
