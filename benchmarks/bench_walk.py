"""What does a mask cost when nothing is known yet, and what when all is?

    python benchmarks/bench_walk.py --repetitions 9

For each place in a grammar, three times in microseconds around the Python call of `fill_next_token_bitmask`:
    cold    on a tokenizer that has seen no grammar: states, their masks and the configuration's mask are made
    shared  in another grammar on the same tokenizer, inside an array: only the configuration's mask is made
    warm    again in the first grammar: the mask is copied out
and the same for `accept_token`, per token of a document: the first matcher to read it, and later ones.
Every repetition builds the vocabulary anew, which is not counted. Min and median over the repetitions.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from vocabulary import Longest, load

import maskwright as mw

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
PLACES = {  # name: (schema, text before the mask)
    "string": ({"type": "string"}, '"'),
    "string, maxLength 1000": ({"type": "string", "maxLength": 1000}, '"'),
    "string, maxLength 20": ({"type": "string", "maxLength": 20}, '"'),
    "string, maxLength 5": ({"type": "string", "maxLength": 5}, '"'),
    "object start": (PERSON, ""),
    "name, no others": ({**PERSON, "additionalProperties": False}, '{"'),
    "name, or any other": (PERSON, '{"'),
    "number": ({"type": "number"}, "1"),
    "pattern ^[a-z]+-[0-9]+$": ({"type": "string", "pattern": "^[a-z]+-[0-9]+$"}, '"'),
    "any value": ({}, ""),
}
DOCUMENT = [{"name": "Ada Lovelace", "age": 36, "notes": "Wrote the first program."}] * 4
WARM_CALLS = 200


def microseconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e6


class Place:
    """One place in one schema, on a vocabulary of its own."""

    def __init__(self, info: mw.TokenizerInfo, schema: Any, before: str) -> None:
        self.compiler = mw.GrammarCompiler(dataclasses.replace(info))
        self.bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
        self.schema, self.before = schema, before

    def matcher(self, schema: Any, before: str) -> mw.GrammarMatcher:
        matcher = mw.GrammarMatcher(self.compiler.compile_json_schema(schema))
        assert matcher.accept_string(before), before
        return matcher

    def measure(self) -> tuple[float, float, float]:
        matcher = self.matcher(self.schema, self.before)
        cold = microseconds(lambda: matcher.fill_next_token_bitmask(self.bitmask))
        other = self.matcher({"type": "array", "items": self.schema}, "[" + self.before)
        shared = microseconds(lambda: other.fill_next_token_bitmask(self.bitmask))
        warm = microseconds(lambda: [matcher.fill_next_token_bitmask(self.bitmask) for _ in range(WARM_CALLS)])
        matcher.fill_next_token_bitmask(self.bitmask)
        return cold, shared, warm / WARM_CALLS

    def num_allowed(self) -> int:
        return sum((int(word) & 0xFFFFFFFF).bit_count() for word in self.bitmask[0])


def measure_accept(info: mw.TokenizerInfo, tokens: list[int]) -> tuple[float, float]:
    """Return microseconds a token: for the first matcher to come along, and for the later ones."""
    compiler = mw.GrammarCompiler(dataclasses.replace(info))
    grammar = compiler.compile_json_schema({"type": "array", "items": PERSON})
    first = mw.GrammarMatcher(grammar)
    cold = microseconds(lambda: [first.accept_token(t) for t in tokens])
    assert first.is_completed()
    later = [mw.GrammarMatcher(grammar) for _ in range(WARM_CALLS)]
    warm = microseconds(lambda: [matcher.accept_token(t) for matcher in later for t in tokens])
    return cold / len(tokens), warm / len(tokens) / WARM_CALLS


def row(name: str, allowed: str, columns: Sequence[Sequence[float]]) -> str:
    cells = [f"{min(c):9.2f} {statistics.median(c):9.2f}" for c in columns]
    return f"{name:26s} {allowed:>8s}  " + "   ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = range(parser.parse_args().repetitions)
    name, info = load()
    nodes = dataclasses.replace(info).kernel_vocabulary
    print(f"vocabulary: {name}, {info.vocab_size:,} tokens, {nodes.num_nodes:,} trie nodes, "
          f"built in {nodes.build_us / 1000:.0f} ms, {nodes.memory_bytes / 2**20:.0f} MiB")  # fmt: skip
    print(f"{'us, min and median':26s} {'allowed':>8s}  {'cold':>19s}   {'shared':>19s}   {'warm':>19s}")
    for label, (schema, before) in PLACES.items():
        times = []
        for _ in repetitions:
            place = Place(info, schema, before)
            times.append(place.measure())
        print(row(label, f"{place.num_allowed():,}", list(zip(*times, strict=True))))
    tokens = Longest(info).encode(json.dumps(DOCUMENT).encode())
    cold, warm = zip(*[measure_accept(info, tokens) for _ in repetitions], strict=True)
    print(row("accept, first matcher", "", [cold]))
    print(row("accept, later matchers", "", [warm]))


if __name__ == "__main__":
    main()
