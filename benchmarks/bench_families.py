"""What does a request with many tools cost in each family, nothing of them known, and under churn?

    python benchmarks/bench_families.py                        every family, 128 tools
    python benchmarks/bench_families.py --families gemma_4 kimi_k3 --marks text
    python benchmarks/bench_families.py --max-tokens 4096     with the budget that engines pass
    python benchmarks/bench_families.py --churn 6000           requests of changing tools, 64 MiB of cache

Each repetition has a tokenizer of its own, as no rule, mask or automaton outlives one, and tools with names, schemas
and descriptions of its own (tool_sets.py), as new data. Processor time, around
    cold      get_model_structural_tag + compile_structural_tag + matcher + first mask
    again     the same for the next request, with the same tools
    changed   with another tool in the place of one
    added     with one tool more
all of them new data in each request.
The families' marks are special tokens, as in their vocabularies, or, with `--marks text`, text. A family that refuses
one of the tools gets the set without it.

Under churn, requests have 1 to 40 tools of a pool, one of which changes in three of ten requests, in several families;
40 random tokens are taken of each output. It prints the worst request so far, what the cache and all rules hold, and by
how much the process has grown.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
from typing import Any

import tool_sets
from bench_memory import resident_bytes
from vocabulary import load

import maskwright as mw
from maskwright.structural_tag import get_model_structural_tag, model_families

MARKS = (
    *("<|open|>", "<|close|>", "<|sep|>", "｜DSML｜", '<|"|>', "<|tool_call>", "<tool_call|>", "<|channel>"),
    *("<channel|>", "<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|constrain|>"),
    *("<tool_call>", "</tool_call>", "<think>", "</think>", "<|tool_calls_section_begin|>", "[TOOL_CALLS]", "[ARGS]"),
    *("<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>", "<|tool_call_argument_begin|>"),
    *(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁sep｜>",
    ),
    *("<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>"),
    *("<|END_RESPONSE|>", "<|python_tag|>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    *("<minimax:tool_call>", "</minimax:tool_call>", "]<]minimax[>["),
)
CHURNING = ("hermes", "qwen_3_coder", "gemma_4", "kimi_k3", "llama")
NUMS_OF_TOOLS = (1, 3, 8, 20, 40)
CACHE_BYTES = 64 << 20
NUM_TOKENS = 40


class Vocabulary:
    """The tokens of a tokenizer with the families' marks, for as many new ones like it as wanted."""

    def __init__(self, info: mw.TokenizerInfo, marks: str) -> None:
        self.tokens, self.stop, self.special = list(info.token_bytes), info.stop_token_ids, list(info.special_token_ids)
        if marks == "tokens":
            self.special += range(len(self.tokens), len(self.tokens) + len(MARKS))
            self.tokens += [mark.encode() for mark in MARKS]
        self.bitmask = mw.allocate_token_bitmask(1, len(self.tokens))

    def compiler(self, **options: Any) -> mw.GrammarCompiler:
        info = mw.TokenizerInfo.from_vocab(self.tokens, stop_token_ids=self.stop, special_token_ids=self.special)
        return mw.GrammarCompiler(info, max_threads=1, **options)


def first_mask(
    compiler: mw.GrammarCompiler,
    bitmask: Any,
    family: str,
    tools: list[Any],
    max_tokens: int | None = None,
    **choice: Any,
) -> tuple[mw.GrammarMatcher, float]:
    """Return the matcher, and milliseconds of processor time from a request to its first mask."""
    tools = json.loads(json.dumps(tools))
    begin = time.process_time()
    grammar = compiler.compile_structural_tag(get_model_structural_tag(family, tools=tools, **choice))
    matcher = mw.GrammarMatcher(grammar, max_tokens=max_tokens)
    matcher.fill_next_token_bitmask(bitmask)
    return matcher, (time.process_time() - begin) * 1e3


def usable(family: str, tools: list[Any]) -> list[Any]:
    """The tools that a family can write."""
    out = []
    for tool in tools:
        try:
            mw.Grammar.from_structural_tag(get_model_structural_tag(family, tools=[tool]))
        except mw.MaskwrightError:
            continue
        out.append(tool)
    return out


STEPS = ("cold", "again", "changed", "added")


def measure(
    known: Vocabulary, family: str, num_tools: int, repeats: int, max_tokens: int | None
) -> dict[str, list[float]]:
    """Milliseconds of each step, `repeats` times from the start."""
    found: dict[str, list[float]] = {step: [] for step in STEPS}
    for repeat in range(repeats):
        seed = 1_000_003 * repeat
        tools = tool_sets.tool_set(num_tools, seed)
        new = tool_sets.renamed(usable(family, tool_sets.tool_set(12, seed + 1)), f"{repeat}_new")
        compiler = known.compiler()
        gc.collect()
        try:
            cold = first_mask(compiler, known.bitmask, family, tools, max_tokens)[1]
        except mw.SchemaError:
            tools, compiler = tool_sets.renamed(usable(family, tools), repeat), known.compiler()
            gc.collect()
            cold = first_mask(compiler, known.bitmask, family, tools, max_tokens)[1]
        found["cold"].append(cold)
        for i in range(3):
            at = (repeat + i * 41) % len(tools)
            changed = [*tools[:at], new[2 * i], *tools[at + 1 :]]
            tools = [*changed, new[2 * i + 1]]
            for step, each in (("changed", changed), ("again", changed), ("added", tools)):
                found[step].append(first_mask(compiler, known.bitmask, family, each, max_tokens)[1])
    return found


def report_families(
    known: Vocabulary, families: list[str], num_tools: int, repeats: int, max_tokens: int | None
) -> None:
    measure(known, families[0], num_tools, 1, max_tokens)  # what a process does once
    print(f"{num_tools} tools, {repeats} repetitions; ms, p50 and worst")
    print(" " * 35 + "   ".join(f"{step:>17s}" for step in STEPS))
    for family in families:
        found = measure(known, family, num_tools, repeats, max_tokens)
        shown = [f"{statistics.median(found[step]):9.2f} {max(found[step]):7.2f}" for step in STEPS]
        print(f"   {family:32s}{'   '.join(shown)}", flush=True)


def walk(matcher: mw.GrammarMatcher, bitmask: Any, rng: random.Random) -> None:
    for _ in range(NUM_TOKENS):
        if matcher.is_terminated():
            return
        matcher.fill_next_token_bitmask(bitmask)
        word = rng.choice(bitmask[0].nonzero()[0].tolist())
        bits = [bit for bit in range(32) if int(bitmask[0][word]) >> bit & 1]
        matcher.accept_token(word * 32 + rng.choice(bits))


def report_churn(known: Vocabulary, num_requests: int) -> None:
    rng, compiler = random.Random(1), known.compiler(cache_limit_bytes=CACHE_BYTES)
    # As texts: full collections are part of what is measured, and must not have the pool to go through.
    pool = [json.dumps(tool) for seed in range(30) for tool in tool_sets.tool_set(64, seed)]
    gc.collect()
    gc.freeze()
    start, most, times = resident_bytes(), 0, list[float]()
    for i in range(1, num_requests + 1):
        if rng.random() < 0.3:
            pool[rng.randrange(len(pool))] = json.dumps(tool_sets.tool_set(1, 10**6 + i)[0])
        count = rng.choice(NUMS_OF_TOOLS)
        at = rng.randrange(len(pool) - count)
        family = rng.choice(CHURNING)
        tools = [json.loads(tool) for tool in pool[at : at + count]]
        matcher, ms = first_mask(compiler, known.bitmask, family, tools, tool_choice="required")
        times.append(ms)
        walk(matcher, known.bitmask, rng)
        if i % 20 == 0:
            most = max(most, compiler.get_cache_size_bytes())
        if i % max(1, num_requests // 6) == 0:
            rules = compiler.tokenizer_info.kernel_vocabulary.rule_memory_bytes
            grown = (resident_bytes() - start) >> 20
            print(
                f"after {i:6,} requests: p50 {statistics.median(times):5.2f} ms, worst {max(times):6.1f}; cache at most"
                f" {most / 2**20:5.1f} MiB, all rules {rules / 2**20:5.1f}; grown by {grown} MiB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(model_families()), choices=model_families())
    parser.add_argument("--tools", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--marks", default="tokens", choices=["tokens", "text"])
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--churn", type=int, metavar="REQUESTS", help="measure so many requests of changing tools")
    arguments = parser.parse_args()
    name, info = load()
    known = Vocabulary(info, arguments.marks)
    print(f"vocabulary: {name}, {info.vocab_size:,} tokens, marks as {arguments.marks}")
    if arguments.churn:
        report_churn(known, arguments.churn)
    else:
        report_families(known, arguments.families, arguments.tools, arguments.repeats, arguments.max_tokens)


if __name__ == "__main__":
    main()
