"""llama-cpp-python with drafts from the grammar: fewer steps of a real model, and the same outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")

from llama_cpp.llama_speculative import LlamaPromptLookupDecoding  # noqa: E402

from engines.records import PROMPT, SCHEMA  # noqa: E402
from maskwright import ArgumentError, CompiledGrammar, GrammarCompiler  # noqa: E402
from maskwright.engine import GrammarDrafts  # noqa: E402
from maskwright.integrations.llama_cpp import GrammarDraftModel, GrammarLogitsProcessor  # noqa: E402


class CountedLlama(llama_cpp.Llama):  # type: ignore[misc, unused-ignore]
    num_steps = 0

    def eval(self, tokens: Any) -> None:
        self.num_steps += 1
        super().eval(tokens)


@pytest.fixture(scope="module")
def llama(smollm2_gguf: Path) -> Any:
    options = {"n_ctx": 256, "n_threads": 1, "n_threads_batch": 1, "seed": 1, "logits_all": True, "verbose": False}
    return CountedLlama(str(smollm2_gguf), **options)


@pytest.fixture(scope="module")
def record(llama: Any) -> CompiledGrammar:
    return GrammarCompiler(llama).compile_json_schema(SCHEMA, any_whitespace=False)


def generate(llama: Any, draft_model: Any, compiled: CompiledGrammar | None, prompt: str = PROMPT) -> tuple[str, int]:
    """Return the text and the number of the model's steps."""
    llama.draft_model = draft_model
    llama.reset()
    before, options = llama.num_steps, {"max_tokens": 40, "temperature": 0}
    if compiled is None:
        return llama(prompt, **options)["choices"][0]["text"], llama.num_steps - before
    with GrammarLogitsProcessor(compiled, llama, max_tokens=40) as processor:
        text = llama(prompt, logits_processor=processor, **options)["choices"][0]["text"]
    return text, llama.num_steps - before


def test_outputs_take_fewer_steps_the_more_was_learnt(llama: Any, record: CompiledGrammar) -> None:
    text, usual = generate(llama, None, record)
    assert list(json.loads(text)) == SCHEMA["required"]
    draft_model = GrammarDraftModel(GrammarDrafts())
    runs = [generate(llama, draft_model, record) for _ in range(4)]
    steps = [each for _, each in runs]
    assert [each for each, _ in runs] == [text] * 4
    assert steps[0] < usual  # what is forced
    assert steps[3] < steps[0]  # and what is likely


def test_drafts_change_nothing_where_the_model_is_exact(llama: Any) -> None:
    """The quantized model rounds otherwise in steps over several tokens, so here its scores are replaced."""
    scores = np.random.default_rng(0).normal(size=llama.n_vocab()).astype(np.float32)
    compiled = GrammarCompiler(llama).compile_regex('(\\{"name": "[a-z]{1,8}", "kind": "(cat|dog)"\\}\\n){3}')
    outputs = []
    for draft_model in (None, GrammarDraftModel(GrammarDrafts(min_share=0.1))):
        llama.draft_model = draft_model
        for _ in range(2):
            llama.reset()
            before = llama.num_steps
            with GrammarLogitsProcessor(compiled, llama, max_tokens=60) as grammar:
                processors = llama_cpp.LogitsProcessorList([lambda _ids, _scores: scores, *grammar])
                answer = llama(PROMPT, logits_processor=processors, max_tokens=60, temperature=0)
            outputs.append((answer["choices"][0]["text"], llama.num_steps - before))
    (text, usual), _, (drafted, first), (again, second) = outputs
    assert text == drafted == again
    assert second < first < usual


def test_a_stream_is_drafted(llama: Any, record: CompiledGrammar) -> None:
    draft_model = GrammarDraftModel(GrammarDrafts())
    text, steps = generate(llama, draft_model, record)
    llama.reset()
    before = llama.num_steps
    with GrammarLogitsProcessor(record, llama, max_tokens=40) as processor:
        chunks = llama(PROMPT, logits_processor=processor, max_tokens=40, temperature=0, stream=True)
        assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == text
    assert llama.num_steps - before <= steps


@pytest.mark.parametrize("max_tokens", [19, 24])
def test_sampled_outputs_are_complete(llama: Any, record: CompiledGrammar, max_tokens: int) -> None:
    llama.draft_model = GrammarDraftModel(GrammarDrafts())
    for _ in range(3):
        with GrammarLogitsProcessor(record, llama, max_tokens=max_tokens) as processor:
            answer = llama(PROMPT, logits_processor=processor, max_tokens=max_tokens, temperature=1.5)
        assert list(json.loads(answer["choices"][0]["text"])) == SCHEMA["required"]


def test_an_output_without_a_processor_is_left_alone(llama: Any, record: CompiledGrammar) -> None:
    text, usual = generate(llama, None, None)
    draft_model = GrammarDraftModel(GrammarDrafts())
    generate(llama, draft_model, record)
    assert generate(llama, draft_model, None) == (text, usual)


def test_what_drafts_where_the_grammar_does_not(llama: Any, record: CompiledGrammar) -> None:
    prompt = "one two three four five six, one two three four five six, one two three"
    text, usual = generate(llama, None, None, prompt)
    lookup = GrammarDraftModel(GrammarDrafts(), otherwise=LlamaPromptLookupDecoding())
    assert generate(llama, lookup, None, prompt)[1] < usual
    assert text
    ids = np.array([5, 6, 7, 5, 6], dtype=np.intc)
    assert lookup(ids).tolist() == [7, 5, 6]
    assert GrammarDraftModel(GrammarDrafts())(ids).tolist() == []


def test_two_grammars_in_turn(llama: Any, record: CompiledGrammar) -> None:
    other = GrammarCompiler(llama).compile_regex("Paris is (the capital of France|a city in France)")
    expected = [generate(llama, None, each)[0] for each in (record, other)]
    draft_model = GrammarDraftModel(GrammarDrafts())
    for _ in range(2):
        assert [generate(llama, draft_model, each)[0] for each in (record, other)] == expected


def test_arguments_of_the_wrong_type() -> None:
    with pytest.raises(ArgumentError, match="drafts must be a GrammarDrafts, not int"):
        GrammarDraftModel(8)
    with pytest.raises(ArgumentError, match="otherwise must be a LlamaDraftModel, not int"):
        GrammarDraftModel(GrammarDrafts(), otherwise=8)
