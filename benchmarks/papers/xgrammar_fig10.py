"""XGrammar, Tables 1 and 2 and Fig. 10: time to first and per output token, unconstrained and with JSON Schemas.

    python benchmarks/papers/xgrammar_fig10.py --models toy smollm2 --batches 1 4 16

Each engine with masks filled beside the model (overlapped) and after it, all in the loop of decoding.py: the same
tokens in all runs, taking turns step by step. Unconstrained, the table has wall-clock medians in ms; beside it, how
much more the others take, as the median of the differences of neighbouring steps.
    TPOT         from one token to the next, of the whole batch
    TTFT         reading a prompt of 64 tokens; constrained, with a schema that was not compiled before, compiled and
                 the first mask filled meanwhile on another thread (overlapped), or before (serial)
The toy has two layers and 128,256 tokens: a step of it takes so little that masks show.
Source: Dong et al., "XGrammar: Flexible and Efficient Structured Generation Engine for LLMs" (2024).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import decoding
from common import in_turns, peers, report, table

PROMPT_SIZE = 64


def first_token(model: Any, prompt: list[int], schemas: list[Any], engine: Any, overlapped: bool) -> float:
    """Seconds until the first token of one sequence is there."""
    executor = ThreadPoolExecutor(1)
    schema = schemas.pop() if engine is not None else None

    def prepare() -> None:
        if engine is not None:
            engine.compile(schema)
            engine.reset()
            engine.fill()

    begin = time.perf_counter()
    if overlapped:
        prepared = executor.submit(prepare)
    else:
        prepare()
    state = model.start(prompt[:-1], 1)
    logits = model.step(prompt[-1:], state)
    if overlapped:
        prepared.result()
    if engine is not None:
        decoding.mw.apply_token_bitmask_inplace(logits, engine.bitmask)
    logits.argmax(-1).tolist()
    return time.perf_counter() - begin


def unseen(schema: Any, count: int, mark: str) -> list[Any]:
    """The schema with another member each time, so that it is new."""
    members = schema.get("properties", {})
    return [{**schema, "properties": {**members, f"{mark}_{i}": {"type": "string"}}} for i in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["toy", "smollm2"])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 4, 16])
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--schemas", type=int, default=8, help="how many to mix")
    arguments = parser.parse_args()
    report("XGrammar, Tables 1 and 2, Fig. 10: end to end", "models on this processor, float32; wall-clock ms")
    tpot, ttft, modes = list[list[str]](), list[list[str]](), dict[str, Any]()
    for name in arguments.models:
        model = decoding.Transformer(name)
        engines = peers("batches", model.info, model)
        schemas, texts = decoding.choose(model.encode, engines, arguments.schemas)
        prompt, rounds = texts[0][0][:1] * PROMPT_SIZE, max(5, arguments.steps // 4)
        compiled = {each: engine.compile(schemas) for each, engine in engines.items()}
        for batch in arguments.batches:
            mixed = [i % len(schemas) for i in range(batch)]
            grammars = {each: [compiled[each][i] for i in mixed] for each in engines}
            chosen = [texts[i] for i in mixed]
            times = decoding.tpots(model, engines, grammars, chosen, prompt, arguments.steps, threads=2)
            tpot.append([f"TPOT, {name}, batch {batch}", *decoding.differences(times).values()])
        modes = decoding.modes_of(peers("schemas", model.info, model))
        work = {
            mode: partial(first_token, model, prompt, unseen(schemas[0], rounds, mode), engine, overlapped)
            for mode, (engine, overlapped) in modes.items()
        }
        ttft.append([f"TTFT, {name}", *decoding.differences(in_turns(work, rounds)).values()])
    table(["", *modes], tpot + ttft)


if __name__ == "__main__":
    main()
