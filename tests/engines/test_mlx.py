"""mlx-lm with a real model, on the CPU: generate, streams, batches, drafts, and what mistakes get."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

mx = pytest.importorskip("mlx.core", reason="MLX is not installed: make engines")
mlx_lm = pytest.importorskip("mlx_lm", reason="mlx-lm is not installed: make engines")

from maskwright import (  # noqa: E402
    ArgumentError,
    BitmaskError,
    CompiledGrammar,
    GrammarCompiler,
    MatcherError,
    TokenizerInfo,
    UnsatisfiableError,
)
from maskwright.integrations.mlx import GrammarLogitsProcessor  # noqa: E402
from maskwright.tokenizer import info_of  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def real(smollm2: Path) -> Any:
    """SmolLM2 and its tokenizer; a token takes half a second on a CPU."""
    return mlx_lm.load(str(smollm2))


@pytest.fixture(scope="module")
def loaded(real: Any) -> Any:
    """A small model with random weights, and the same tokenizer."""
    from mlx_lm.models.llama import Model, ModelArgs

    mx.random.seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    return Model(ModelArgs(model_type="llama", rms_norm_eps=1e-5, vocab_size=49_152, **sizes)), real[1]


@pytest.fixture(scope="module")
def compiler(real: Any) -> GrammarCompiler:
    return GrammarCompiler(real[1])


@pytest.fixture(scope="module")
def record(compiler: GrammarCompiler) -> CompiledGrammar:
    return compiler.compile_json_schema(SCHEMA)


def check_record(text: str) -> None:
    assert list(json.loads(text)) == ["city", "population"]


def sampler(temperature: float) -> Any:
    mx.random.seed(0)
    return mlx_lm.sample_utils.make_sampler(temp=temperature, top_p=0.95)


def test_the_wrappers_stop_tokens_are_those_of_the_grammar(loaded: Any) -> None:
    tokenizer = loaded[1]
    info = info_of(tokenizer)
    assert info == TokenizerInfo.from_huggingface(tokenizer)
    assert set(info.stop_token_ids) == set(tokenizer.eos_token_ids)
    assert info.token_bytes == TokenizerInfo.from_huggingface(tokenizer._tokenizer).token_bytes


@pytest.mark.parametrize("max_tokens", [15, 24, 60])
@pytest.mark.parametrize("temperature", [0, 1.2])
def test_outputs_are_complete(loaded: Any, record: CompiledGrammar, max_tokens: int, temperature: float) -> None:
    processor = GrammarLogitsProcessor(record, max_tokens=max_tokens)
    for _ in range(2):
        *_, last = responses = list(
            mlx_lm.stream_generate(
                *loaded,
                "A city as JSON: ",
                max_tokens=max_tokens,
                logits_processors=[processor],
                sampler=sampler(temperature),
            )
        )
        check_record("".join(response.text for response in responses))
        assert last.finish_reason == "stop"


def test_a_real_model(real: Any, record: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(record, max_tokens=16)
    check_record(mlx_lm.generate(*real, "Paris as JSON: ", max_tokens=16, logits_processors=[processor]))


def test_prompts_longer_than_a_prefill_step(loaded: Any, record: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(record, max_tokens=30)
    prompt = "A city. " * 40
    out = mlx_lm.generate(*loaded, prompt, max_tokens=30, logits_processors=[processor], prefill_step_size=16)
    check_record(out)


def test_one_processor_for_a_batch(loaded: Any, record: CompiledGrammar) -> None:
    model, tokenizer = loaded
    prompts = [tokenizer.encode(prompt) for prompt in ("A city: ", "Paris", "Paris", "A longer prompt: Rome")]
    processors = [GrammarLogitsProcessor(record, max_tokens=30)]
    options = {"max_tokens": 30, "logits_processors": processors, "sampler": sampler(1.0)}
    for text in mlx_lm.batch_generate(model, tokenizer, prompts, **options).texts:
        check_record(text)


def test_a_batch_with_a_grammar_each(loaded: Any, compiler: GrammarCompiler, record: CompiledGrammar) -> None:
    from mlx_lm.generate import BatchGenerator

    model, tokenizer = loaded
    date = compiler.compile_regex("[12][0-9]{3}-[01][0-9]")
    processors = [[GrammarLogitsProcessor(each, max_tokens=30)] for each in (record, date)]
    stops = [[token] for token in tokenizer.eos_token_ids]
    batch = BatchGenerator(model, max_tokens=30, stop_tokens=stops)
    first, second = batch.insert([tokenizer.encode("A city: "), tokenizer.encode("A")], logits_processors=processors)
    tokens: dict[int, list[int]] = {first: [], second: []}
    while responses := batch.next_generated():
        for response in responses:
            tokens[response.uid] += [response.token] if response.finish_reason != "stop" else []
    check_record(tokenizer.decode(tokens[first]))
    assert re.fullmatch("[12][0-9]{3}-[01][0-9]", tokenizer.decode(tokens[second]))


def test_a_draft_model(loaded: Any, compiler: GrammarCompiler) -> None:
    model, tokenizer = loaded
    pattern = "(one|two|three)( (one|two|three)){8}"
    processor = GrammarLogitsProcessor(compiler.compile_regex(pattern), max_tokens=40)
    out = mlx_lm.generate(
        model, tokenizer, "one two one two", draft_model=model, logits_processors=[processor], max_tokens=40
    )
    assert re.fullmatch(pattern, out)


@pytest.mark.parametrize("num_draft_tokens", [2, 3, 4, 5])
@pytest.mark.parametrize("num_words", [1, 2, 3])
def test_an_output_that_ends_within_a_draft(
    loaded: Any, compiler: GrammarCompiler, num_draft_tokens: int, num_words: int
) -> None:
    model, tokenizer = loaded
    pattern = f"(one)( (two)){{{num_words}}}"
    processor = GrammarLogitsProcessor(compiler.compile_regex(pattern), max_tokens=20)
    options = {"draft_model": model, "num_draft_tokens": num_draft_tokens, "max_tokens": 20}
    assert re.fullmatch(pattern, mlx_lm.generate(model, tokenizer, "one", logits_processors=[processor], **options))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("width", [49_152, 49_408])
def test_padded_logits_of_each_type(record: CompiledGrammar, dtype: str, width: int) -> None:
    logits = mx.zeros((1, width), dtype=getattr(mx, dtype))
    masked = GrammarLogitsProcessor(record)(mx.array([1, 2]), logits)
    assert masked.dtype == logits.dtype
    allowed = [record.tokenizer_info.token_bytes[i] for i in mx.argpartition(-masked[0], 9)[:9].tolist()]
    finite = int(mx.isfinite(masked).sum().item())
    assert 1 <= finite < 10
    assert b"{" in allowed


def test_what_mistakes_get(loaded: Any, compiler: GrammarCompiler, record: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(record)
    with pytest.raises(BitmaskError, match="32000 logits, but the grammar's tokenizer has 49152 ids"):
        processor(mx.array([1]), mx.zeros((1, 32_000)))
    with pytest.raises(BitmaskError, match="128256 logits"):
        processor(mx.array([1]), mx.zeros((1, 128_256)))
    with pytest.raises(BitmaskError, match=r"must be \(1, vocab_size\), not \(2, 49152\)[\s\S]*for each sequence"):
        processor(mx.array([1]), mx.zeros((2, 49_152)))
    with pytest.raises(ArgumentError, match=r"tokens must be an mlx\.core\.array, not list"):
        processor([1], mx.zeros((1, 49_152)))
    with pytest.raises(UnsatisfiableError, match="the shortest output needs"):
        GrammarLogitsProcessor(record, max_tokens=4)
    with pytest.raises(ArgumentError, match="hint: use max_tokens"):
        GrammarLogitsProcessor(record, max_new_tokens=4)


def test_a_processor_behind_that_undoes_the_mask(loaded: Any, record: CompiledGrammar) -> None:
    def undo(tokens: Any, logits: Any) -> Any:
        return mx.where(mx.arange(logits.shape[-1]) == 216, mx.array(0.0), mx.array(-1e9))[None]

    processors = [GrammarLogitsProcessor(record), undo]
    with pytest.raises(MatcherError, match="token 216 at output position 0 is not allowed"):
        mlx_lm.generate(*loaded, "A city", max_tokens=20, logits_processors=processors)


def test_a_stop_token_at_which_mlx_lm_does_not_stop(loaded: Any) -> None:
    compiled = GrammarCompiler(TokenizerInfo.from_huggingface(loaded[1], stop_token_ids=[7])).compile_regex("ab")
    with pytest.raises(MatcherError, match=r"does not stop at \[7\]"):
        mlx_lm.generate(*loaded, "A city", max_tokens=20, logits_processors=[GrammarLogitsProcessor(compiled)])
