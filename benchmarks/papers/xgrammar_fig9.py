"""XGrammar, Fig. 9: what does a mask cost per token, under JSON Schemas, any JSON, XML, and a Python-like language?

    python benchmarks/papers/xgrammar_fig9.py

Schemas are from MaskBench's development part where that is beside the checkout, each with its valid instances; grammars
are those of bench_cfg.py, with a random document. An engine that refuses a structure, or a token of it, is left out
there, and counted; a run takes at most `--seconds` of processor time. XGrammar reads JSON also by the grammar that
it brings along. Processor time of the calling thread, one thread. Every structure is run twice: `mask, first` is
the first run after compiling, as in production; `mask, again` the second, with all its masks met before.
Source: Dong et al., "XGrammar: Flexible and Efficient Structured Generation Engine for LLMs" (2024).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any, NamedTuple

import numpy as np
from common import ablation, bench_cfg, peers, report, table, vocabulary

from maskwright.grammars import Source

GRAMMARS = {"any JSON": "json", "XML": "xml", "Python DSL": "python"}


class Walk(NamedTuple):
    """Microseconds: to the first mask, and of every mask and accepted token."""

    first_mask: float
    masks: list[float]
    accepts: list[float]


class BuiltinJson(bench_cfg.ADAPTERS["xgrammar"]):  # type: ignore[misc]
    """XGrammar with its own grammar of JSON."""

    def compile(self, source: Source) -> None:
        self.grammar = self.compiler.compile_builtin_json_grammar()


def walked(engine: Any, structure: Any, documents: list[list[int]], seconds: float) -> tuple[Walk, Walk] | None:
    """Follow documents twice; None if the engine refuses something."""
    begin = time.thread_time()
    try:
        engine.compile(structure)
        engine.reset()
        engine.fill()
    except Exception:  # an engine's own way to say no
        return None
    first_us = (time.thread_time() - begin) * 1e6
    runs = Walk(first_us, [], []), Walk(first_us, [], [])
    for run in runs:
        end = time.thread_time() + seconds
        for document in documents:
            engine.reset()
            for token in document:
                if time.thread_time() > end:
                    break
                start = time.thread_time()
                engine.fill()
                middle = time.thread_time()
                if not engine.accept(token):
                    return None
                run.accepts.append((time.thread_time() - middle) * 1e6)
                run.masks.append((middle - start) * 1e6)
    return runs


def schemas(limit: int) -> list[tuple[Any, list[list[int]]]]:
    encode = vocabulary()[2].encode
    chosen = []
    for record in ablation.records(limit):
        valid = [test["data"] for test in record["tests"] if test["valid"]]  # type: ignore[attr-defined]
        if valid:
            texts = [json.dumps(data, ensure_ascii=False).encode() for data in valid[:4]]
            chosen.append((record["schema"], [encode(text) for text in texts]))
    return chosen


def rows_of(
    kind: str, engines: dict[str, Any], structures: list[tuple[Any, list[list[int]]]], seconds: float
) -> list[list[object]]:
    found: dict[str, list[tuple[Walk, Walk]]] = {name: [] for name in engines}
    refused = dict.fromkeys(engines, 0)
    for structure, documents in structures:
        for name, engine in engines.items():
            runs = walked(engine, structure, documents, seconds)
            if runs is None:
                refused[name] += 1
            else:
                found[name].append(runs)
    rows: list[list[object]] = []
    for name, walks in found.items():
        if not walks:
            rows.append([f"{kind}, {name}", *["–"] * 7, refused[name]])
            continue
        first, again = ([us for walk in walks for us in walk[i].masks] for i in (0, 1))
        accepts = [us for walk in walks for us in walk[0].accepts]
        spread = [f"{np.percentile(first, q):,.1f}" for q in (50, 99)]
        figures = [f"{np.mean(first):,.1f}", *spread, f"{np.mean(again):,.1f}", f"{np.mean(accepts):,.1f}"]
        compile_ms = statistics.median(walk[0].first_mask for walk in walks) / 1e3
        rows.append([f"{kind}, {name}", f"{compile_ms:,.2f}", *figures, f"{len(first):,}", refused[name]])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=300, help="of the document of each grammar")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    name, info, longest = vocabulary()
    report("XGrammar, Fig. 9: mask latency per token", f"vocabulary {name}, {info.vocab_size:,} tokens; processor us")
    rows = rows_of("JSON Schema", peers("schemas"), schemas(arguments.schemas), arguments.seconds)
    grammar_engines = peers("grammars")
    for kind, grammar in GRAMMARS.items():
        source = Source((bench_cfg.DATA / f"{grammar}.ebnf").read_text(), "ebnf")
        engines = dict(grammar_engines)
        if grammar == "json" and "xgrammar" in engines:
            engines["xgrammar, built in"] = BuiltinJson(info, longest)
        document = bench_cfg.document(grammar, longest, arguments.tokens)
        rows += rows_of(kind, engines, [(source, [document])], arguments.seconds)
    columns = ["", "first mask ms", "mask, first", "p50", "p99", "mask, again", "accept", "tokens", "refused"]
    table(columns, rows)


if __name__ == "__main__":
    main()
