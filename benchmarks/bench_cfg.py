"""What does a token cost under context-free grammars, and does it stay the same however long the output is?

    python benchmarks/bench_cfg.py --engines maskwright xgrammar llguidance --tokens 20000
    python benchmarks/bench_cfg.py --ready --tokens 2000

Five grammars in `data/cfg`: any JSON, XML elements with attributes, SQL SELECT, Python's expressions and simple
statements, and `S -> S S | "a"`, which has exponentially many parses. A random document of each, of the given number of
tokens (2,000 for the last, each a single `a`). Per engine and grammar:
    first mask       compile + matcher + first mask, in ms
    fill, accept     mean us a token around the Python call; then over the first and the last tenth of the document,
                     which are the same if the cost is flat (every engine's first tenth has its caches cold)
All of them processor time of the calling thread, which other work on the machine disturbs least.
An engine gets 60 s a document (`--seconds`); one that refuses a token or runs out of time shows how far it came.
XGrammar reads the same grammars; for llguidance they are converted by the converter in its package. With `--ready`, the
grammars of `maskwright.grammars` instead, each as it is written; where an engine does not read that, as Maskwright
prints it in that engine's language.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_peers import ENGINES, Llguidance, Maskwright, Xgrammar
from documents import cfg_documents, ready_documents
from vocabulary import Longest, load

import maskwright.grammars
from maskwright.grammars import Source

DATA = Path(__file__).resolve().parent / "data" / "cfg"
GRAMMARS = ["json", "xml", "sql", "python", "ambiguous"]


class MaskwrightOnGrammars(Maskwright):
    def compile(self, source: Source) -> None:
        is_lark = source.language == "lark"
        self.grammar = (self.compiler.compile_lark if is_lark else self.compiler.compile_grammar)(source.text)


class XgrammarOnGrammars(Xgrammar):
    def compile(self, source: Source) -> None:
        self.grammar = first_that_works(
            self.compiler.compile_grammar,
            [*([source.text] if source.language == "ebnf" else []), grammar_of(source).to_ebnf()],
        )


class LlguidanceOnGrammars(Llguidance):
    def compile(self, source: Source) -> None:
        self.first = first_that_works(self.matcher_of, [source.text, grammar_of(source).to_lark()])

    def matcher_of(self, text: str) -> Any:
        from llguidance.gbnf_to_lark import any_to_lark

        matcher = self.llguidance.LLMatcher(self.tokenizer, any_to_lark(text))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher


def grammar_of(source: Source) -> maskwright.Grammar:
    is_lark = source.language == "lark"
    return maskwright.Grammar.from_lark(source.text) if is_lark else maskwright.Grammar.from_ebnf(source.text)


def first_that_works(read: Callable[[str], Any], spellings: list[str]) -> Any:
    """What an engine makes of the first spelling that it reads, or its error for the last."""
    for text in spellings[:-1]:
        with contextlib.suppress(Exception):
            return read(text)
    return read(spellings[-1])


ADAPTERS = {"maskwright": MaskwrightOnGrammars, "xgrammar": XgrammarOnGrammars, "llguidance": LlguidanceOnGrammars}


def document(name: str, longest: Longest, num_tokens: int) -> list[int]:
    """Return the tokens of a random document, cut where they are enough."""
    if name == "ambiguous":
        return longest.encode(b"a") * min(num_tokens, 2000)
    pieces, tokens = getattr(cfg_documents, name)(random.Random(1)), []
    while len(tokens) < num_tokens:
        tokens += longest.encode(next(pieces).encode())
    return tokens[:num_tokens]


def ready_document(name: str, longest: Longest, num_tokens: int) -> list[int]:
    """Return the tokens of a document of a ready grammar, cut where they are enough."""
    return longest.encode(ready_documents.document(name, num_tokens // 5).encode())[:num_tokens]


def measure(engine: Any, grammar: Source, tokens: list[int], seconds: float) -> str:
    begin = time.thread_time()
    try:
        engine.compile(grammar)
        engine.reset()
        engine.fill()
    except Exception as error:  # an engine's own way to say no
        return f"refused: {' '.join(str(error).split())[:70]}"
    first_mask_ms = (time.thread_time() - begin) * 1e3
    times: list[tuple[float, float]] = []
    note = ""
    for token in tokens:
        start = time.thread_time()
        engine.fill()
        middle = time.thread_time()
        accepted = engine.accept(token)
        end = time.thread_time()
        if not accepted:
            note = f"  refused token {len(times):,}"
            break
        times.append((middle - start, end - middle))
        if end - begin > seconds:
            note = f"  out of time after {len(times):,} tokens"
            break
    us = np.array(times or [(np.nan, np.nan)]) * 1e6
    tenth = max(1, len(us) // 10)
    columns = [column for kind in us.T for column in (kind.mean(), kind[:tenth].mean(), kind[-tenth:].mean())]
    return f"{first_mask_ms:12,.2f}" + "".join(f"{value:10,.1f}" for value in columns) + note


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--grammars", nargs="+", default=GRAMMARS, choices=GRAMMARS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--ready", action="store_true")
    parser.add_argument("--tokens", type=int, default=20_000)
    arguments = parser.parse_args()
    vocabulary, info = load()
    longest = Longest(info)
    installed = [name for name in arguments.engines if importlib.util.find_spec(name)]
    engines = {name: ADAPTERS[name](info, longest) for name in installed}
    print(f"vocabulary: {vocabulary}, {info.vocab_size:,} tokens; us a token unless said otherwise")
    print(
        f"{'':27s}{'first mask':>12s}{'fill':>10s}{'first':>10s}{'last':>10s}{'accept':>10s}{'first':>10s}{'last':>10s}"
    )
    for grammar in maskwright.grammars.NAMES if arguments.ready else arguments.grammars:
        if arguments.ready:
            source, tokens = maskwright.grammars.source(grammar), ready_document(grammar, longest, arguments.tokens)
        else:
            source = Source((DATA / f"{grammar}.ebnf").read_text(), "ebnf")
            tokens = document(grammar, longest, arguments.tokens)
        for name, engine in engines.items():
            print(f"{grammar:14s} {name:12s}{measure(engine, source, tokens, arguments.seconds)}", flush=True)


if __name__ == "__main__":
    main()
