"""mlx-lm with drafts from the grammar: fewer steps of the model, and the same outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

mx = pytest.importorskip("mlx.core", reason="MLX is not installed: make engines")
mlx_lm = pytest.importorskip("mlx_lm", reason="mlx-lm is not installed: make engines")

from engines.records import PROMPT, SCHEMA  # noqa: E402
from maskwright import ArgumentError, CompiledGrammar, GrammarCompiler  # noqa: E402
from maskwright.engine import GrammarDrafts  # noqa: E402
from maskwright.integrations.mlx import GrammarDraftModel, GrammarLogitsProcessor  # noqa: E402


class CountedModel:
    """A small model with random weights, of float32; counts its steps behind the prompt."""

    def __init__(self) -> None:
        from mlx_lm.models.llama import Model, ModelArgs

        mx.random.seed(0)
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
        self._model = Model(ModelArgs(model_type="llama", rms_norm_eps=1e-5, vocab_size=49_152, **sizes))
        self.layers = self._model.layers
        self.num_steps = 0

    def __call__(self, inputs: Any, cache: Any, **options: Any) -> Any:
        self.num_steps += 1
        return self._model(inputs, cache=cache, **options)


@pytest.fixture(scope="module")
def tokenizer(smollm2: Path) -> Any:
    return mlx_lm.tokenizer_utils.load(smollm2)


@pytest.fixture(scope="module")
def model() -> CountedModel:
    return CountedModel()


@pytest.fixture(scope="module")
def record(tokenizer: Any) -> CompiledGrammar:
    return GrammarCompiler(tokenizer).compile_json_schema(SCHEMA, any_whitespace=False)


def generate(model: Any, tokenizer: Any, compiled: CompiledGrammar, drafts: Any = None, **options: Any) -> Any:
    """Return the text and the number of the model's steps, those over the prompt included."""
    max_tokens = options.pop("max_tokens", 40)
    if drafts is not None:
        options = {"draft_model": GrammarDraftModel(drafts, compiled), "num_draft_tokens": 4, **options}
    before, processor = model.num_steps, GrammarLogitsProcessor(compiled, max_tokens=max_tokens)
    prompt = options.pop("prompt", PROMPT)
    processors = [processor]
    text = mlx_lm.generate(model, tokenizer, prompt, max_tokens=max_tokens, logits_processors=processors, **options)
    return text, model.num_steps - before


def test_outputs_take_fewer_steps_the_more_was_learnt(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    text, usual = generate(model, tokenizer, record)
    assert list(json.loads(text)) == SCHEMA["required"]
    drafts = GrammarDrafts()
    runs = [generate(model, tokenizer, record, drafts) for _ in range(4)]
    steps = [each for _, each in runs]
    assert [each for each, _ in runs] == [text] * 4
    assert steps[0] < usual  # what is forced
    assert steps[3] < steps[0]  # and what is likely


@pytest.mark.parametrize("prompt", ["x", "A city. " * 20], ids=["one token", "read in parts"])
def test_prompts_of_all_lengths(model: Any, tokenizer: Any, record: CompiledGrammar, prompt: str) -> None:
    text, usual = generate(model, tokenizer, record, prompt=prompt, prefill_step_size=16)
    drafts = GrammarDrafts()
    for _ in range(2):
        drafted, steps = generate(model, tokenizer, record, drafts, prompt=prompt, prefill_step_size=16)
        assert drafted == text
    assert steps < usual


def test_nothing_of_the_prompt_is_learnt(model: Any, tokenizer: Any) -> None:
    compiled = GrammarCompiler(tokenizer).compile_regex("[a-z ]{1,40}")
    drafts = GrammarDrafts()
    generate(model, tokenizer, compiled, drafts, prompt="all of this is allowed", max_tokens=4)
    assert sum(sum(each.values()) for each in drafts._known(compiled).places.values()) <= 4


def test_only_what_the_model_confirmed_is_learnt(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    drafts = GrammarDrafts()
    text, _ = generate(model, tokenizer, record, drafts)
    info = record.tokenizer_info
    counts = [each for place in drafts._known(record).places.values() for each in place.items()]
    learnt = [info.token_bytes[token].decode() for token, _ in counts if token not in info.stop_token_ids]
    assert {count for _, count in counts} == {1}
    assert "".join(learnt) in text
    assert len("".join(learnt)) > len(text) // 2


def test_sampled_outputs_are_complete(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    mx.random.seed(0)
    drafts, sampler = GrammarDrafts(), mlx_lm.sample_utils.make_sampler(temp=1.5, top_p=0.95)
    for max_tokens in (20, 24, 40):
        text, _ = generate(model, tokenizer, record, drafts, sampler=sampler, max_tokens=max_tokens)
        assert list(json.loads(text)) == SCHEMA["required"]


def test_a_chat_whose_caches_are_kept(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    from mlx_lm.models.cache import make_prompt_cache

    drafts = GrammarDrafts()
    kept = make_prompt_cache(model) + GrammarDraftModel(drafts, record).make_cache()
    for prompt in (PROMPT, " and Tokyo as JSON: "):
        text, steps = generate(model, tokenizer, record, drafts, prompt=prompt, prompt_cache=kept)
        assert list(json.loads(text)) == SCHEMA["required"]
        assert steps < len(tokenizer.encode(text))


def test_arguments_of_the_wrong_type(record: CompiledGrammar) -> None:
    with pytest.raises(ArgumentError, match="drafts must be a GrammarDrafts, not int"):
        GrammarDraftModel(8, record)
    with pytest.raises(ArgumentError, match="compiled must be a CompiledGrammar, not dict"):
        GrammarDraftModel(GrammarDrafts(), SCHEMA)
