"""Drafts from the grammar in assisted generation: outputs stay the same, and the model takes fewer steps.

With small models of random weights; the real one is in tests/engines/test_transformers_smollm2.py.
"""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import pytest

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.engine import GrammarDrafts
from maskwright.errors import ArgumentError, OptionError
from small_models import make_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from maskwright.integrations.transformers import GrammarLogitsProcessor, generate, stream, with_drafts  # noqa: E402

RECORD = {
    "type": "object",
    "properties": {"identifier": {"type": "integer", "maximum": 99}, "kind": {"enum": ["first", "second"]}},
    "required": ["identifier", "kind"],
    "additionalProperties": False,
}
WORDS = "(abc|ab|é){2,30}!"
PROMPT = "Give me JSON: "


@pytest.fixture(scope="module")
def record(info: TokenizerInfo) -> CompiledGrammar:
    return GrammarCompiler(info).compile_json_schema(RECORD, any_whitespace=False)


class Steps:
    """Counts how often a model is asked."""

    def __init__(self, model: Any) -> None:
        self.number = 0
        model.register_forward_hook(self._count)

    def _count(self, *_: Any) -> None:
        self.number += 1


def written(model: Any, tokenizer: Any, compiled: Any, max_new_tokens: int = 60, **options: Any) -> list[int]:
    inputs = tokenizer(PROMPT, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    processor = GrammarLogitsProcessor(compiled, max_new_tokens=max_new_tokens)
    options = {"max_new_tokens": max_new_tokens, "do_sample": False, **options}
    out = model.generate(**inputs, logits_processor=[processor], **options)
    return list(out[0, inputs["input_ids"].shape[1] :].tolist())


def test_forced_text_is_drafted_from_the_first_output_on(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    alone = written(model, tokenizer, record)
    drafting = with_drafts(model, GrammarDrafts())
    steps = Steps(model)
    assert written(drafting, tokenizer, record) == alone
    assert steps.number < 0.7 * len(alone)


def test_what_was_learnt_saves_more_steps(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    alone = written(model, tokenizer, record)
    drafting = with_drafts(model, GrammarDrafts())
    steps, taken = Steps(model), []
    for _ in range(4):
        before = steps.number
        assert written(drafting, tokenizer, record) == alone
        taken.append(steps.number - before)
    assert taken[-1] < taken[0]
    assert taken[-1] <= len(alone) // 8 + 2  # drafts of 8 tokens, all of them right, but never the stop token


def test_forced_text_is_drafted_as_outputs_wrote_it(info: TokenizerInfo) -> None:
    word = max((token for token in info.token_bytes if token.isalpha()), key=len).decode()
    compiled, drafts = GrammarCompiler(info).compile_regex(f"{word}, {word}: [0-9]"), GrammarDrafts()
    usual = drafts.propose(GrammarMatcher(compiled), with_forced=True)
    letter = info.encode(word[0])
    assert usual[:1] == info.encode(word) != letter
    drafts.learn(compiled, letter)
    drafted = drafts.propose(GrammarMatcher(compiled), with_forced=True)
    assert drafted[:1] == letter
    assert b"".join(info.token_bytes[token] for token in drafted) == b"".join(
        info.token_bytes[token] for token in usual
    )
    assert drafts.propose(GrammarMatcher(compiled)) == []


@pytest.mark.parametrize("num_tokens", [1, 3, 50])
def test_outputs_end_within_their_budget(
    tokenizer: Any, record: CompiledGrammar, info: TokenizerInfo, num_tokens: int
) -> None:
    model = make_model("llama", tokenizer)
    words = GrammarCompiler(info).compile_regex(WORDS)
    drafting = with_drafts(model, GrammarDrafts(num_tokens))
    for compiled in (words, record) * 3:
        for budget in (48, 50, 60):
            alone = written(model, tokenizer, compiled, budget)
            assert written(drafting, tokenizer, compiled, budget) == alone
            assert len(alone) <= budget


def test_samples_follow_the_grammar(tokenizer: Any, record: CompiledGrammar) -> None:
    drafting = with_drafts(make_model("llama", tokenizer), GrammarDrafts())
    for seed in range(8):
        transformers.set_seed(seed)
        text = tokenizer.decode(written(drafting, tokenizer, record, do_sample=True), skip_special_tokens=True)
        value = json.loads(text)
        assert list(value) == ["identifier", "kind"]
        assert value["kind"] in ("first", "second")


def test_without_a_grammar_prompt_lookup_drafts(tokenizer: Any, record: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    drafting = with_drafts(model, GrammarDrafts())
    inputs = tokenizer("ab ab ab ab", return_tensors="pt")
    inputs.pop("token_type_ids", None)
    options: dict[str, Any] = {"max_new_tokens": 20, "do_sample": False}
    assert drafting.generate(**inputs, **options).tolist() == model.generate(**inputs, **options).tolist()


def test_a_grammar_whose_tokenizer_cannot_encode(tokenizer: Any, info: TokenizerInfo) -> None:
    model = make_model("llama", tokenizer)
    kept = GrammarCompiler(pickle.loads(pickle.dumps(info))).compile_json_schema(RECORD)
    drafting = with_drafts(model, GrammarDrafts())
    for _ in range(3):
        assert written(drafting, tokenizer, kept) == written(model, tokenizer, kept)


def test_typed_outputs_and_streams(tokenizer: Any) -> None:
    model = make_model("llama", tokenizer)
    drafting = with_drafts(model, GrammarDrafts())
    pattern = re.compile(r"The answer is [0-9]{3}\.")
    alone = generate(model, tokenizer, PROMPT, pattern, max_new_tokens=40, do_sample=False)
    for _ in range(3):
        assert generate(drafting, tokenizer, PROMPT, pattern, max_new_tokens=40, do_sample=False) == alone
    *_, last = stream(drafting, tokenizer, PROMPT, pattern, max_new_tokens=40, do_sample=False)
    assert last == alone


def test_the_model_itself_does_not_change(tokenizer: Any, record: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    before = {**vars(model)}
    with_drafts(model, GrammarDrafts())
    assert vars(model) == before
    assert model.generation_config.prompt_lookup_num_tokens is None


def test_mistakes(tokenizer: Any, record: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    with pytest.raises(ArgumentError, match="drafts must be a GrammarDrafts"):
        with_drafts(model, 8)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="model must be a model of transformers"):
        with_drafts("SmolLM2", GrammarDrafts())
    with pytest.raises(OptionError, match="drafts are made for one prompt at a time, not for 2"):
        generate(with_drafts(model, GrammarDrafts()), tokenizer, ["a", "b"], bool, max_new_tokens=4)


def test_a_model_with_drafts_takes_others(model: Any, tokenizer: Any, record: CompiledGrammar) -> None:
    twice = with_drafts(with_drafts(model, GrammarDrafts()), GrammarDrafts())
    assert written(twice, tokenizer, record) == written(model, tokenizer, record)
