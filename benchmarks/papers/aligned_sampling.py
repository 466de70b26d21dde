"""How far are samples from the model's own distribution over the valid outputs, and what does each cost?

    python benchmarks/papers/aligned_sampling.py                   the embedded model
    python benchmarks/papers/aligned_sampling.py --model FOLDER    a model of transformers

The question of Park et al., "Grammar-Aligned Decoding" (2024). For languages whose token sequences can all be
enumerated, the true conditional distribution is computed, and beside it the total variation (0: the same, 1: nothing in
common) of so many samples to it, for
    faithful    StructureSampler.sample
    masked      what masks alone give
    resampled   as many, drawn by weight of ten times as many masked ones
    chance      what is expected of independent samples of the true distribution itself: no method is nearer
`calls` are calls of the model for a sample: for all of them, and for the first alone, when nothing is known yet.
Then objects of a schema that cannot be enumerated: calls, seconds, and the mean log-probability of the outputs.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

import maskwright as mw
from maskwright.engine.models import CausalModel
from maskwright.engine.models.embedded import EmbeddedCausalModel
from maskwright.sampling import CachedModel, Sample, StructureSampler

LANGUAGES = (
    ("The answer is", "( yes| no| maybe)[.!]"),
    ('{"size": ', '"(s|m|l|xl|xxl)"'),
    ("The year was", " (1[89]|20)[0-9]{2}"),
)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
PROMPT = "A person as JSON, with name and age: "
MAX_TOKENS = 48

Output = tuple[int, ...]


class Enumerated:
    """All valid outputs of a language with their probabilities, each beginning asked for once."""

    def __init__(self, compiled: mw.CompiledGrammar, model: CausalModel, prompt: Sequence[int]) -> None:
        self.found: dict[Output, float] = {}
        self._next_logits, self._prompt = CachedModel(model), prompt
        self._num_tokens = compiled.tokenizer_info.vocab_size
        self._row = mw.allocate_token_bitmask(1, self._num_tokens)
        self._visit(mw.GrammarMatcher(compiled), (), 1.0)
        self.total = sum(self.found.values())

    def _visit(self, matcher: mw.GrammarMatcher, ids: Output, p: float) -> None:
        matcher.fill_next_token_bitmask(self._row)
        bits = np.unpackbits(self._row[0].view(np.uint8), bitorder="little")[: self._num_tokens]
        logits = np.asarray(self._next_logits([*self._prompt, *ids]), np.float64)
        powers = np.exp(logits - logits.max())
        for token in bits.nonzero()[0].tolist():
            after, q = matcher.fork(), p * float(powers[token] / powers.sum())
            after.accept_token(token)
            if after.is_terminated():
                self.found[ids] = q
            else:
                self._visit(after, (*ids, token), q)

    def distance(self, outputs: Iterable[Output]) -> float:
        counts = Counter(outputs)
        n = sum(counts.values())
        return 0.5 * sum(abs(counts[output] / n - p / self.total) for output, p in self.found.items())

    def chance(self, n: int) -> float:
        shares = np.array(list(self.found.values())) / self.total
        return 0.5 * float(np.sqrt(2 / math.pi * shares * (1 - shares) / n).sum())


def outputs_of(samples: Iterable[Sample]) -> list[Output]:
    return [sample.token_ids for sample in samples]


def report_languages(model: CausalModel, num_samples: int) -> None:
    compiler = mw.GrammarCompiler(model.tokenizer_info)
    print(f"{model.model_name}; total variation at {num_samples:,} samples, calls of the model for a sample")
    for text, pattern in LANGUAGES:
        compiled, prompt = compiler.compile_regex(pattern), model.encode(text)
        true = Enumerated(compiled, model, prompt)
        print(f"   {text!r} {pattern!r}: {len(true.found):,} outputs, valid with probability {true.total:.2e}")
        print(f"      chance     {true.chance(num_samples):.4f}")
        for name in ("faithful", "masked", "resampled"):
            sampler = StructureSampler(compiled, model, prompt, seed=1)
            first = first_calls(sampler, name)
            samples = take(sampler, name, num_samples)
            calls = sampler.stats().num_model_calls / num_samples
            print(f"      {name:10s} {true.distance(outputs_of(samples)):.4f}   calls {calls:.3f}, first {first}")


def first_calls(sampler: StructureSampler, name: str) -> str:
    if name == "resampled":
        return "-"
    take(sampler, name, 1)
    return str(sampler.stats().num_model_calls)


def take(sampler: StructureSampler, name: str, count: int) -> list[Sample]:
    if name == "resampled":
        return sampler.resampled(count, 10 * count)
    return sampler.masked(count) if name == "masked" else sampler.sample(count)


def report_objects(model: CausalModel, num_samples: int) -> None:
    compiled = mw.GrammarCompiler(model.tokenizer_info).compile_json_schema(SCHEMA)
    prompt = model.encode(PROMPT)
    print(f"   objects by schema, at most {MAX_TOKENS} tokens, {num_samples} samples")
    for name in ("faithful", "masked"):
        sampler = StructureSampler(compiled, model, prompt, max_tokens=MAX_TOKENS, seed=1, max_attempts=100_000)
        begin = time.perf_counter()
        samples = take(sampler, name, num_samples)
        seconds = time.perf_counter() - begin
        calls = sampler.stats().num_model_calls / num_samples
        mean = math.fsum(sample.log_probability for sample in samples) / num_samples
        cost = f"calls {calls:.0f}, {seconds / num_samples:.2f} s each"
        print(f"      {name:10s} log p {mean:.2f}, {cost}: {samples[0].text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="FOLDER", help="a folder that transformers loads")
    parser.add_argument("--samples", type=int, default=10_000, help="for languages that are enumerated")
    parser.add_argument("--objects", type=int, default=50)
    arguments = parser.parse_args()
    model: CausalModel = EmbeddedCausalModel()
    if arguments.model is not None:
        from maskwright.engine.models.transformers import TransformersModel

        model = TransformersModel.load(arguments.model, num_slots=1)
    report_languages(model, arguments.samples)
    report_objects(model, arguments.objects)


if __name__ == "__main__":
    main()
