"""ONNX Runtime GenAI with a real model: one prompt and batches, greedy and sampled, and what mistakes get."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

og = pytest.importorskip("onnxruntime_genai", reason="ONNX Runtime GenAI is not installed: make engines")
transformers = pytest.importorskip("transformers")

from maskwright import (  # noqa: E402
    ArgumentError,
    BitmaskError,
    GrammarCompiler,
    MatcherError,
    OptionError,
    TokenizerInfo,
    UnsatisfiableError,
)
from maskwright.integrations.onnxruntime_genai import generate  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}


class Loaded:
    def __init__(self, folder: Path) -> None:
        self.model = og.Model(str(folder))
        self.tokenizer = og.Tokenizer(self.model)
        self.compiler = GrammarCompiler(transformers.AutoTokenizer.from_pretrained(folder))
        self.record = self.compiler.compile_json_schema(SCHEMA)

    def generator(self, *prompts: str, max_length: int = 100, **options: Any) -> Any:
        params = og.GeneratorParams(self.model)
        params.set_search_options(max_length=max_length, batch_size=len(prompts), **options)
        generator = og.Generator(self.model, params)
        generator.append_tokens(self.tokenizer.encode_batch(list(prompts)))
        return generator

    def texts(self, *prompts: str, compiled: Any, max_tokens: int | None = 40, **options: Any) -> list[str]:
        columns = list(generate(self.generator(*prompts, **options), compiled, max_tokens=max_tokens))
        rows = zip(*columns, strict=True)
        return [self.tokenizer.decode([token for token in row if token is not None]) for row in rows]


@pytest.fixture(scope="module")
def loaded(smollm2_onnx: Path) -> Loaded:
    return Loaded(smollm2_onnx)


def check_record(text: str) -> None:
    assert list(json.loads(text)) == ["city", "population"]


@pytest.mark.parametrize("max_tokens", [12, 15, 24, 60])
@pytest.mark.parametrize("options", [{}, {"do_sample": True, "temperature": 1.3, "top_k": 40, "random_seed": 1}])
def test_outputs_are_complete(loaded: Loaded, max_tokens: int, options: Any) -> None:
    [text] = loaded.texts("A city as JSON:", compiled=loaded.record, max_tokens=max_tokens, **options)
    check_record(text)


def test_a_temperature_of_zero(loaded: Loaded) -> None:
    sampled = loaded.texts("A city as JSON:", compiled=loaded.record, do_sample=True, temperature=0.0)
    assert sampled == loaded.texts("A city as JSON:", compiled=loaded.record)


def test_batches(loaded: Loaded) -> None:
    prompts = ("A city as JSON:", "Yes or no?", "Hi")
    yes, date = loaded.compiler.compile_regex("(yes|no)"), loaded.compiler.compile_regex("[12][0-9]{3}-[01][0-9]")
    first, second, third = loaded.texts(*prompts, compiled=[loaded.record, yes, date])
    check_record(first)
    assert second in ("yes", "no")
    assert re.fullmatch("[12][0-9]{3}-[01][0-9]", third)
    for text in loaded.texts(*prompts, compiled=loaded.record, do_sample=True, random_seed=3):
        check_record(text)


def test_what_mistakes_get(loaded: Loaded) -> None:
    with pytest.raises(MatcherError, match=r"stopped after \d+ new tokens, before the output was complete"):
        loaded.texts("A city as JSON:", compiled=loaded.record, max_tokens=None, max_length=12)
    with pytest.raises(UnsatisfiableError, match="the shortest output needs"):
        loaded.texts("A", compiled=loaded.record, max_tokens=4)
    with pytest.raises(BitmaskError, match="there are 2 grammars, but the batch has 3 rows"):
        loaded.texts("A", "B", "C", compiled=[loaded.record, loaded.record])
    with pytest.raises(ArgumentError, match=r"generator must be an onnxruntime_genai\.Generator, not onnx"):
        generate(loaded.model, loaded.record)
    with pytest.raises(ArgumentError, match="compiled must be a CompiledGrammar, not dict"):
        generate(loaded.generator("A"), SCHEMA)
    with pytest.raises(ArgumentError, match="hint: use max_tokens"):
        generate(loaded.generator("A"), loaded.record, max_new_tokens=64)
    used = loaded.generator("A")
    list(generate(used, loaded.record, max_tokens=40))
    with pytest.raises(MatcherError, match=r"has ended its output[\s\S]*make another Generator"):
        generate(used, loaded.record, max_tokens=40)
    other = TokenizerInfo.from_vocab([b"a"] * 32_000, stop_token_ids=[2])
    with pytest.raises(BitmaskError, match="49152 logits, but the grammar's tokenizer has 32000 ids"):
        loaded.texts("A", compiled=GrammarCompiler(other).compile_regex("a"))


def test_beams_are_refused(loaded: Loaded) -> None:
    with pytest.raises(MatcherError, match=r"row 0: token \d+ at output position 1 is not allowed[\s\S]*num_beams=1"):
        list(generate(loaded.generator("A city as JSON:", num_beams=2), loaded.record, max_tokens=20))


def test_a_generator_that_drafts_is_refused(loaded: Loaded) -> None:
    params = og.GeneratorParams(loaded.model)
    params.set_search_options(max_length=100)
    params.set_speculative_options(ngram_size=2)
    generator = og.Generator(loaded.model, params)
    generator.append_tokens(loaded.tokenizer.encode("A city as JSON:"))
    with pytest.raises(OptionError, match=r"drafts tokens[\s\S]*ngram_size=0"):
        generate(generator, loaded.record, max_tokens=20)


def test_options_beside_the_grammar(loaded: Loaded) -> None:
    options = {"min_length": 30, "repetition_penalty": 1.5, "top_p": 0.9, "do_sample": True, "random_seed": 1}
    [text] = loaded.texts("A city as JSON:", compiled=loaded.record, **options)
    check_record(text)
