"""Samples are distributed as the enumeration of all outputs says; bounds, limits and errors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import maskwright as mw
from maskwright.lm import load_embedded_model
from maskwright.sampling import Sample, StructureSampler
from maskwright.sampling.trie import Trie

TOKENS = [b"a", b"b", b"ab", b"c", b"</s>"]
STOP = 4
INFO = mw.TokenizerInfo.from_vocab(TOKENS, stop_token_ids=[STOP], special_token_ids=[STOP])
PATTERNS = ["(ab|b)*c?|a{1,3}", "a(b|c)|bc{0,3}a|c", "(a|b){0,3}"]
MAX_TOKENS = 5

Output = tuple[int, ...]


def logits_of(token_ids: Sequence[int]) -> Any:
    """The logits of a model that has made up its mind at random, for each text anew."""
    return np.random.default_rng([7, *token_ids]).normal(scale=2, size=len(TOKENS))


def compiled_of(pattern: str) -> mw.CompiledGrammar:
    return mw.GrammarCompiler(INFO).compile_regex(pattern)


def probabilities(
    pattern: str, *, prompt: Sequence[int] = (), temperature: float = 1.0, free_end: bool = False
) -> dict[Output, float]:
    """The probability of each valid output, not normalised."""
    found: dict[Output, float] = {}
    row = mw.allocate_token_bitmask(1, len(TOKENS))

    def visit(matcher: mw.GrammarMatcher, ids: Output, p: float) -> None:
        matcher.fill_next_token_bitmask(row)
        allowed = [token for token in range(len(TOKENS)) if int(row[0, 0]) >> token & 1]
        if free_end and allowed == [STOP]:
            found[ids] = p
            return
        powers = np.exp(logits_of([*prompt, *ids]) / temperature)
        for token in allowed:
            after, q = matcher.fork(), p * powers[token] / powers.sum()
            after.accept_token(token)
            if after.is_terminated():
                found[ids] = q
            else:
                visit(after, (*ids, token), q)

    visit(mw.GrammarMatcher(compiled_of(pattern), max_tokens=MAX_TOKENS), (), 1.0)
    return found


def distance(samples: Iterable[Sample], expected: Mapping[Output, float]) -> float:
    """The total variation between samples and what they should be drawn from."""
    counts = Counter(sample.token_ids for sample in samples)
    assert set(counts) <= set(expected)
    n, total = sum(counts.values()), sum(expected.values())
    return 0.5 * sum(abs(counts[output] / n - p / total) for output, p in expected.items())


def expected_distance(expected: Mapping[Output, float], n: int) -> float:
    """What it is on average for so many independent samples, at most."""
    total = sum(expected.values())
    return 0.5 * sum(math.sqrt(p / total * (1 - p / total) / n) for p in expected.values())


def faithful(found: StructureSampler, expected: Mapping[Output, float], n: int = 3000) -> bool:
    return distance(found.sample(n), expected) < 1.3 * expected_distance(expected, n)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_samples_are_the_models_own_given_that_they_are_valid(pattern: str) -> None:
    expected = probabilities(pattern)
    sampler = StructureSampler(compiled_of(pattern), logits_of, max_tokens=MAX_TOKENS, seed=1)
    assert faithful(sampler, expected)
    for sample in sampler.sample(50):
        assert sample.log_probability == pytest.approx(math.log(expected[sample.token_ids]))
        assert sample.text == b"".join(TOKENS[token] for token in sample.token_ids).decode()


def test_masks_alone_are_not_faithful() -> None:
    """Otherwise the tests above would show nothing."""
    expected = probabilities(PATTERNS[0])
    sampler = StructureSampler(compiled_of(PATTERNS[0]), logits_of, max_tokens=MAX_TOKENS, seed=1)
    assert distance(sampler.masked(4000), expected) > 0.3


@pytest.mark.parametrize("pattern", PATTERNS)
def test_weights_correct_what_masks_do(pattern: str) -> None:
    expected = probabilities(pattern)
    sampler = StructureSampler(compiled_of(pattern), logits_of, max_tokens=MAX_TOKENS, seed=2)
    samples = sampler.masked(6000)
    assert np.exp([sample.log_weight for sample in samples]).mean() == pytest.approx(sum(expected.values()), rel=0.2)
    assert distance(sampler.resampled(4000, 6000), expected) < 0.08


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_bound_falls_to_the_probability_of_a_valid_output(pattern: str) -> None:
    expected = probabilities(pattern)
    sampler = StructureSampler(compiled_of(pattern), logits_of, max_tokens=MAX_TOKENS, seed=3, temperature=20.0)
    flat = sum(probabilities(pattern, temperature=20.0).values())
    bounds = []
    for _ in range(10):
        sampler.masked(800)
        bounds.append(sampler.stats().valid_probability)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == pytest.approx(flat, rel=5e-3)
    assert flat != pytest.approx(sum(expected.values()))


def test_options_say_which_distribution_it_is() -> None:
    pattern, prompt = PATTERNS[1], (3, 1)
    expected = probabilities(pattern, prompt=prompt, temperature=0.5, free_end=True)
    sampler = StructureSampler(
        compiled_of(pattern), logits_of, prompt, max_tokens=MAX_TOKENS, temperature=0.5, free_end=True, seed=4
    )
    assert faithful(sampler, expected)
    assert sampler.sample()[0].log_probability <= 0


def test_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, expected = compiled_of(PATTERNS[0]), probabilities(PATTERNS[0])
    usual = StructureSampler(compiled, logits_of, max_tokens=MAX_TOKENS, seed=5)
    without_memory = StructureSampler(compiled, logits_of, max_tokens=MAX_TOKENS, seed=5, memory_bytes=0)
    assert usual.sample(300) == without_memory.sample(300)
    assert without_memory.stats().num_model_calls > usual.stats().num_model_calls

    starts = []
    clear = Trie.clear

    def counted(trie: Trie) -> None:
        starts.append(trie)
        clear(trie)

    monkeypatch.setattr(Trie, "clear", counted)
    monkeypatch.setattr("maskwright.sampling.sampler._MAX_BEGINNINGS", 20)
    assert faithful(StructureSampler(compiled, logits_of, max_tokens=MAX_TOKENS, seed=6), expected)
    assert len(starts) > 10


def test_a_model_that_fails_at_times_leaves_the_samples_faithful() -> None:
    calls, is_broken = 0, True

    def failing(token_ids: Sequence[int]) -> Any:
        nonlocal calls
        calls += 1
        if is_broken and calls % 3 == 0:
            raise ConnectionError("try again")
        return logits_of(token_ids)

    expected = probabilities(PATTERNS[0])
    sampler = StructureSampler(compiled_of(PATTERNS[0]), failing, max_tokens=MAX_TOKENS, seed=7, memory_bytes=0)
    for _ in range(200):
        with suppress(ConnectionError):
            sampler.sample()
    assert sampler.stats().num_samples < 150
    is_broken = False  # from now on; while it was, short outputs were too many, as few calls fail for these
    assert faithful(sampler, expected)


def test_the_best_of_many_is_the_likeliest() -> None:
    expected = probabilities(PATTERNS[2])
    sampler = StructureSampler(compiled_of(PATTERNS[2]), logits_of, max_tokens=MAX_TOKENS, seed=8)
    assert sampler.best_of(1000).token_ids == max(expected, key=lambda output: expected[output])


def test_the_embedded_model_writes_objects() -> None:
    model = load_embedded_model()
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}, "count": {"type": "integer"}},
        "required": ["city", "count"],
        "additionalProperties": False,
    }
    compiled = mw.GrammarCompiler(model.tokenizer_info).compile_json_schema(schema)
    prompt = model.encode("Write an order as JSON.\n")
    sampler = StructureSampler(compiled, model.logits, prompt, max_tokens=40, seed=1)
    for sample in (*sampler.sample(2), *sampler.masked(2)):
        assert set(json.loads(sample.text)) == {"city", "count"}
    stats = sampler.stats()
    assert stats.num_samples == 4 <= stats.num_walks
    assert 0 < stats.valid_probability < 1


def test_the_same_seed_gives_the_same() -> None:
    first, second = (StructureSampler(compiled_of("a*"), logits_of, max_tokens=9, seed=9) for _ in range(2))
    assert first.sample(20) == second.sample(20)


class Logits:
    """A tensor, as far as it is looked at."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def data_ptr(self) -> int:
        return 0

    def detach(self) -> Logits:
        return self

    float = cpu = detach

    def numpy(self) -> Any:
        return self.row


def test_logits_may_be_tensors_and_wider_than_the_vocabulary() -> None:
    def wide(token_ids: Sequence[int]) -> Any:
        return Logits(np.append(logits_of(token_ids), [0.0, 9.0]).astype(np.float32))

    sampler = StructureSampler(compiled_of("a|b"), wide, max_tokens=3, seed=1)
    sampler.sample(20)
    padding = np.exp(9.0) + 1
    first = np.exp(logits_of(()))
    assert sampler.stats().valid_probability < (first[0] + first[1]) / (first.sum() + padding) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("next_logits", "message"),
    [
        (lambda ids: np.zeros(3), r"shape \(3,\)"),
        (lambda ids: np.zeros((1, 5)), r"shape \(1, 5\)"),
        (lambda ids: np.full(5, np.nan), "NaN"),
        (lambda ids: np.full(5, -np.inf), "no token any probability"),
        (lambda ids: np.full(5, np.inf), "infinite"),
    ],
)
def test_logits_of_another_form(next_logits: Callable[[Sequence[int]], Any], message: str) -> None:
    sampler = StructureSampler(compiled_of("a"), next_logits)
    for draw in (sampler.sample, sampler.masked):
        with pytest.raises(mw.BitmaskError, match=message):
            draw()


def test_nothing_valid_is_likely() -> None:
    def never(token_ids: Sequence[int]) -> Any:
        return np.array([0, 0, 0, -np.inf, 0])

    sampler = StructureSampler(compiled_of("a+c"), never, max_tokens=3)
    for draw in (sampler.sample, sampler.masked):
        with pytest.raises(mw.UnsatisfiableError, match="no valid output any probability"):
            draw()


def test_too_many_walks() -> None:
    def rarely(token_ids: Sequence[int]) -> Any:
        return np.array([0.0, 0, 0, -60, 0])

    sampler = StructureSampler(compiled_of("(a|b|ab)*c"), rarely, max_tokens=30, max_attempts=5, seed=1)
    with pytest.raises(mw.LimitError, match=r"5 walks in a row .*\n.*resampled") as caught:
        sampler.sample()
    assert caught.value.limit == "max_attempts"
    assert sampler.stats().num_samples == 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"temperature": 0}, mw.OptionError),
        ({"temperature": math.inf}, mw.OptionError),
        ({"temperature": "1"}, mw.ArgumentError),
        ({"max_tokens": 0}, mw.OptionError),
        ({"max_attempts": 0}, mw.OptionError),
        ({"memory_bytes": -1}, mw.OptionError),
        ({"seed": -1}, mw.OptionError),
        ({"prompt_ids": "text"}, mw.ArgumentError),
        ({"prompt_ids": [-1]}, mw.OptionError),
        ({"model": "gpt"}, mw.ArgumentError),
    ],
)
def test_wrong_arguments(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        StructureSampler(compiled_of("a"), **{"model": logits_of, **options})


def test_a_module_of_pytorch_is_sent_to_its_wrapper() -> None:
    class Module:
        def forward(self) -> None: ...

        def __call__(self) -> None: ...

    wrong: Any = Module()
    with pytest.raises(mw.ArgumentError, match="TransformersModel"):
        StructureSampler(compiled_of("a"), wrong)
    uncompiled: Any = mw.Grammar.from_regex("a")
    with pytest.raises(mw.ArgumentError, match="compile"):
        StructureSampler(uncompiled, logits_of)
