"""XGrammar 2, Fig. 8: how long does a call take from request to end, in the Llama and Harmony formats, 1 to 512 tools?

    python benchmarks/papers/xgrammar2_fig8.py --tools 1 8 64 512

Each request starts from an empty cache of grammars, with a prompt of 64 tokens, and writes some text and a call, with
the toy model (two layers, 128,256 tokens). The grammar is compiled on another thread while the model reads the prompt,
and masks are filled beside the model: what engines can hide, they hide. Requests take turns. Unconstrained, the
table has the wall-clock median of the whole request; beside it, how much more the others take, as the median of the
differences of neighbours.
Source: Li et al., "XGrammar-2: Efficient Dynamic Structured Generation Engine for Agentic LLMs" (2026).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import decoding
from common import bench_tags, in_turns, peers, report, table
from xgrammar2_fig6_7 import functions

import maskwright as mw

PROMPT = 64


def request(model: Any, prompt: list[int], tokens: list[int], engine: Any, tag: Any) -> float:
    """Seconds from a request to the last token of its call."""
    beside = ThreadPoolExecutor(1)
    if engine is not None:
        engine.clear()
    begin = time.perf_counter()
    filled = None
    if engine is not None:
        filled = beside.submit(lambda: (engine.compile(tag), engine.reset(), engine.fill()))
    state = model.start(prompt[:-1], 1)
    at = prompt[-1]
    for token in tokens:
        logits = model.step([at], state)
        if filled is not None:
            filled.result()
            mw.apply_token_bitmask_inplace(logits, engine.bitmask)
        logits.argmax(-1).tolist()
        if engine is not None:
            if not engine.accept(token):
                raise SystemExit("a token of a call was refused")
            filled = beside.submit(engine.fill)
        at = token
    if filled is not None:
        filled.result()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="toy")
    parser.add_argument("--tools", nargs="+", type=int, default=[1, 8, 64, 512])
    parser.add_argument("--formats", nargs="+", default=list(bench_tags.FORMATS), choices=list(bench_tags.FORMATS))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    model = decoding.Transformer(arguments.model)
    engines = peers("tags", model.info, model)
    known = functions(engines, max(arguments.tools), model)
    report(
        "XGrammar 2, Fig. 8: a request with a call, from its arrival to its end", f"{arguments.model}; wall-clock ms"
    )
    rows = []
    for kind in arguments.formats:
        it = bench_tags.FORMATS[kind]
        tokens = model.encode((bench_tags.TEXT[1] + it.call(known[0])).encode())
        prompt = tokens[:1] * PROMPT
        for count in arguments.tools:
            tag = it.tag(known[:count])
            constrained = {
                name: partial(request, model, prompt, tokens, engine, tag) for name, engine in engines.items()
            }
            plain = partial(request, model, prompt, tokens, None, None)
            times = in_turns({decoding.UNCONSTRAINED: plain, **constrained}, arguments.rounds)
            rows.append([f"{kind}, tools: {count}", len(tokens), *decoding.differences(times).values()])
    table(["", "tokens", decoding.UNCONSTRAINED, *engines], rows)


if __name__ == "__main__":
    main()
