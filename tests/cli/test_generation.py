"""The sampling loop: always inside the grammar, figures that add up, a sampler that does what its options say."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from maskwright import GrammarCompiler, TokenizerInfo
from maskwright.errors import MatcherError, UnsatisfiableError
from maskwright.generation import GenerationStats, Logits, Sampler, SamplingOptions, generate
from maskwright.lm import load_embedded_model


class FlatModel:
    """All tokens alike; counts how often it is asked."""

    def __init__(self, tokens: list[bytes]) -> None:
        self.tokenizer_info = TokenizerInfo.from_vocab([*tokens, b"<end>"], stop_token_ids=[len(tokens)])
        self.num_asked = 0

    def encode(self, text: str) -> list[int]:
        return []

    def logits(self, context_ids: object) -> Logits:
        self.num_asked += 1
        return np.zeros(self.tokenizer_info.vocab_size, np.float32)


@pytest.mark.parametrize("seed", range(10))
def test_the_output_follows_the_grammar(seed: int) -> None:
    model = load_embedded_model()
    compiled = GrammarCompiler(model.tokenizer_info).compile_regex(r"[a-z]+@[a-z]+\.(com|org)")
    stats = GenerationStats()
    chunks = list(generate(model, "Mail: ", compiled, options=SamplingOptions(200, 1.3, 1.0, seed), stats=stats))
    text = b"".join(chunk.data for chunk in chunks).decode()
    assert stats.num_tokens == len(chunks)
    if stats.finish_reason == "stop":
        assert re.fullmatch(r"[a-z]+@[a-z]+\.(com|org)", text)
    else:
        assert stats.num_tokens == 200


def test_forced_tokens_do_not_ask_the_model() -> None:
    model = FlatModel([b"a", b"b", b"c"])
    stats = GenerationStats()
    compiled = GrammarCompiler(model.tokenizer_info).compile_regex("ab(a|c)")
    chunks = list(generate(model, "", compiled, options=SamplingOptions(seed=1), stats=stats))
    assert [chunk.forced for chunk in chunks] == [True, True, False]
    assert model.num_asked == 1
    assert (stats.num_tokens, stats.num_forced, len(stats.mask_us)) == (3, 3, 4)
    assert stats.forced_share == 0.75
    assert stats.finish_reason == "stop"
    assert stats.first_mask_us == stats.mask_us[0]


def test_without_a_grammar_it_is_free_and_cut_at_max_tokens() -> None:
    model = FlatModel([b"a", b"b"])
    stats = GenerationStats()
    options = SamplingOptions(max_tokens=4, seed=5)
    chunks = list(generate(model, "", options=options, stats=stats))
    assert len(chunks) == stats.num_tokens <= 4
    assert stats.mask_us == []
    assert stats.finish_reason == ("length" if stats.num_tokens == 4 else "stop")


def test_time_of_the_consumer_is_not_counted() -> None:
    model = FlatModel([b"a"])
    compiled = GrammarCompiler(model.tokenizer_info).compile_regex("a{3}")
    stats = GenerationStats()
    for _ in generate(model, "", compiled, stats=stats):
        time.sleep(0.05)
    assert 0 < stats.seconds < 0.1


def test_a_vocabulary_without_the_bytes_needed_is_a_typed_error() -> None:
    model = FlatModel([b"a"])
    compiled = GrammarCompiler(model.tokenizer_info).compile_regex("ab")
    with pytest.raises(UnsatisfiableError, match="no sequence of tokens of this vocabulary"):
        list(generate(model, "", compiled))


def test_logits_without_a_finite_one_are_a_typed_error() -> None:
    with pytest.raises(MatcherError, match="no token"):
        Sampler(SamplingOptions())(np.full(4, -np.inf, np.float32))


LOGITS = np.log(np.array([0.5, 0.0001, 0.3, 0.1999], np.float32))


def draw(options: SamplingOptions, logits: Logits, times: int) -> np.ndarray:
    sampler = Sampler(options)
    return np.bincount([sampler(logits) for _ in range(times)], minlength=logits.size) / times


def test_sampling_follows_the_probabilities() -> None:
    shares = draw(SamplingOptions(temperature=1, top_p=1, seed=0), LOGITS, 4000)
    assert shares == pytest.approx(np.exp(LOGITS), abs=0.03)


def test_top_p_keeps_the_smallest_set_that_holds_the_share() -> None:
    shares = draw(SamplingOptions(temperature=1, top_p=0.7, seed=0), LOGITS, 2000)
    assert shares == pytest.approx([0.625, 0, 0.375, 0], abs=0.04)
    assert draw(SamplingOptions(temperature=1, top_p=0.01, seed=0), LOGITS, 50)[0] == 1


def test_temperature_sharpens() -> None:
    assert draw(SamplingOptions(temperature=0, seed=0), LOGITS, 20)[0] == 1
    assert draw(SamplingOptions(temperature=1e-3, seed=0), LOGITS, 20)[0] == 1
    assert draw(SamplingOptions(temperature=100, top_p=1, seed=0), LOGITS, 4000) == pytest.approx([0.25] * 4, abs=0.04)


def test_masked_tokens_are_never_drawn() -> None:
    logits = LOGITS.copy()
    logits[[0, 2]] = -np.inf
    shares = draw(SamplingOptions(temperature=50, top_p=1, seed=0), logits, 500)
    assert shares[0] == shares[2] == 0
    assert shares[1] > 0
    with pytest.raises(MatcherError):
        Sampler(SamplingOptions())(np.full(4, -np.inf, np.float32))
