"""llama-cpp-python with a real model: completions, chats, streams, draft models, and what mistakes get."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")

from maskwright import (  # noqa: E402
    ArgumentError,
    BitmaskError,
    CompiledGrammar,
    GrammarCompiler,
    MatcherError,
    OptionError,
    TokenizerError,
    TokenizerInfo,
    UnsatisfiableError,
)
from maskwright.integrations.llama_cpp import GrammarLogitsProcessor  # noqa: E402
from maskwright.tokenizer import info_of  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "user", "content": "Describe the capital of France as JSON."}]


@pytest.fixture(scope="module")
def llama(smollm2_gguf: Path) -> Any:
    return llama_cpp.Llama(str(smollm2_gguf), n_ctx=512, seed=1, verbose=False)


@pytest.fixture(scope="module")
def compiler(llama: Any) -> GrammarCompiler:
    return GrammarCompiler(llama)


@pytest.fixture(scope="module")
def record(compiler: GrammarCompiler) -> CompiledGrammar:
    return compiler.compile_json_schema(SCHEMA)


def check_record(text: str) -> None:
    assert list(json.loads(text)) == ["city", "population"]


def test_the_vocabulary_is_that_of_the_models_own_tokenizer(llama: Any, smollm2: Path) -> None:
    transformers = pytest.importorskip("transformers")
    info = TokenizerInfo.from_llama_cpp(llama)
    other = TokenizerInfo.from_huggingface(transformers.AutoTokenizer.from_pretrained(smollm2))
    assert info.token_bytes == other.token_bytes
    assert info.special_token_ids == other.special_token_ids
    assert set(other.stop_token_ids) <= set(info.stop_token_ids)
    assert info.encode('{"a": 1} é') == other.encode('{"a": 1} é')
    assert info_of(llama, vocab_size=49_408).vocab_size == 49_408
    with pytest.raises(TokenizerError, match=r"from_llama_cpp takes a llama_cpp\.Llama, not llama_cpp"):
        TokenizerInfo.from_llama_cpp(llama.tokenizer())


@pytest.mark.parametrize("max_tokens", [15, 24, 60])
@pytest.mark.parametrize("temperature", [0, 1.2])
def test_chats_end_complete(llama: Any, record: CompiledGrammar, max_tokens: int, temperature: float) -> None:
    with GrammarLogitsProcessor(record, llama, max_tokens=max_tokens) as processor:
        out = llama.create_chat_completion(
            MESSAGES, logits_processor=processor, max_tokens=max_tokens, temperature=temperature
        )
    check_record(out["choices"][0]["message"]["content"])
    assert out["choices"][0]["finish_reason"] == "stop"
    assert out["usage"]["completion_tokens"] < max_tokens


def test_one_processor_for_several_outputs_and_streams(llama: Any, record: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(record, llama, max_tokens=40)
    for prompt in ("Paris:", "Paris:", "London, a city, is"):
        check_record(llama(prompt, logits_processor=processor, max_tokens=40)["choices"][0]["text"])
    chunks = llama("Rome:", logits_processor=processor, max_tokens=40, stream=True)
    check_record("".join(chunk["choices"][0]["text"] for chunk in chunks))
    chat = list(MESSAGES)
    for _ in range(2):  # the second prompt begins with the first and its output
        answer = llama.create_chat_completion(chat, logits_processor=processor, max_tokens=40)["choices"][0]["message"]
        check_record(answer["content"])
        chat += [answer, MESSAGES[0]]
    processor.check()


def test_a_bias_does_not_switch_the_grammar_off(llama: Any, record: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(record, llama, max_tokens=40)
    for _ in range(2):
        out = llama("A city:", logits_processor=processor, max_tokens=40, logit_bias={"28": 100.0})
        check_record(out["choices"][0]["text"])
    assert len(processor) == 1


def test_a_draft_model(smollm2_gguf: Path) -> None:
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    draft = LlamaPromptLookupDecoding(num_pred_tokens=6)
    llama = llama_cpp.Llama(str(smollm2_gguf), n_ctx=512, seed=1, verbose=False, draft_model=draft, logits_all=True)
    compiled = GrammarCompiler(llama).compile_regex('(\\{"name": "[a-z]{1,8}"\\}, ){2}end')
    prompt = '{"name": "ada"}, {"name": "ada"}, {"name": "bob"}, {"name": "ada"}, '
    texts = []
    for temperature in (0, 1.0):
        with GrammarLogitsProcessor(compiled, llama, max_tokens=50) as processor:
            out = llama(prompt, logits_processor=processor, max_tokens=50, temperature=temperature)
            texts.append(out["choices"][0]["text"])
    for text in texts:
        assert re.fullmatch(r'(\{"name": "[a-z]{1,8}"\}, ){2}end', text), text


def test_too_few_tokens(llama: Any, record: CompiledGrammar) -> None:
    with pytest.raises(UnsatisfiableError, match="the shortest output needs"):
        GrammarLogitsProcessor(record, llama, max_tokens=4)


def test_a_tokenizer_of_another_model(llama: Any) -> None:
    def processor(tokens: list[bytes], **options: Any) -> None:
        info = TokenizerInfo.from_vocab(tokens, stop_token_ids=[2], special_token_ids=[2], **options)
        GrammarLogitsProcessor(GrammarCompiler(info).compile_regex("a"), llama)

    own = list(TokenizerInfo.from_llama_cpp(llama).token_bytes)
    processor(own)
    processor(own, vocab_size=50_000)
    processor(own[:49_000])
    with pytest.raises(
        BitmaskError, match=r"49152 logits, but the grammar's tokenizer has 60000 ids[\s\S]*vocab_size="
    ):
        processor([*own, *[b"x"] * (60_000 - len(own))])
    with pytest.raises(BitmaskError, match="49152 logits, but the grammar's tokenizer has 32000 ids"):
        processor(own[:32_000])
    with pytest.raises(TokenizerError, match=r"another tokenizer: token [\s\S]*hint: .*from_llama_cpp"):
        processor(own[::-1])


def test_stop_tokens_at_which_llama_cpp_does_not_stop(llama: Any) -> None:
    info = TokenizerInfo.from_llama_cpp(llama, stop_token_ids=[7])
    compiled = GrammarCompiler(info).compile_regex("a")
    with pytest.raises(TokenizerError, match=r"end with a token of \[7\], but the engine stops at \[0, 2, 4\]"):
        GrammarLogitsProcessor(compiled, llama)


def test_arguments_of_the_wrong_type(llama: Any, record: CompiledGrammar) -> None:
    with pytest.raises(ArgumentError, match=r"llama must be a llama_cpp\.Llama, not str"):
        GrammarLogitsProcessor(record, "model.gguf")
    with pytest.raises(ArgumentError, match="hint: use max_tokens"):
        GrammarLogitsProcessor(record, llama, max_new_tokens=9)
    with pytest.raises(ArgumentError, match="compiled must be a CompiledGrammar, not dict"):
        GrammarLogitsProcessor(SCHEMA, llama)


def test_an_error_within_llama_cpp_is_raised_when_the_block_ends(llama: Any, record: CompiledGrammar) -> None:
    def only_spaces(input_ids: Any, scores: Any) -> Any:  # runs behind the grammar
        scores[:] = -1e9
        scores[216] = 0
        return scores

    def nothing(input_ids: Any, scores: Any) -> Any:
        scores[:] = float("nan")
        return scores

    with (
        pytest.raises(MatcherError, match="is not allowed by the grammar"),
        GrammarLogitsProcessor(record, llama) as ours,
    ):
        llama("A city:", logits_processor=ours.extend([only_spaces]), max_tokens=20)
    before = GrammarLogitsProcessor(record, llama)
    with pytest.raises(MatcherError, match="not finite"), before:
        llama("A city:", logits_processor=llama_cpp.LogitsProcessorList([nothing, *before]), max_tokens=20)
    with pytest.raises(ZeroDivisionError), before:
        _ = 1 / 0
    assert before.error is None


def test_no_output_goes_on_without_a_mask_whatever_the_error(
    llama: Any, record: CompiledGrammar, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_another_version(chain: Any) -> Any:
        raise AttributeError("no such attribute")

    monkeypatch.setattr("maskwright.integrations.llama_cpp.processor.llama_sampler_chain_n", of_another_version)
    processor = GrammarLogitsProcessor(record, llama)
    with pytest.raises(AttributeError, match="no such attribute"), processor:
        answer = llama("A city:", logits_processor=processor, max_tokens=20)
    assert answer["choices"][0]["text"] == ""


def test_a_grammar_of_llama_cpp_beside_ours_is_an_error(llama: Any, record: CompiledGrammar) -> None:
    """Where the two leave no token, llama.cpp ends the process."""
    theirs = llama_cpp.LlamaGrammar.from_string('root ::= "x"', verbose=False)
    processor = GrammarLogitsProcessor(record, llama)
    with (
        pytest.raises(OptionError, match=r"a grammar of its own[\s\S]*leave out grammar and response_format"),
        processor,
    ):
        llama("A city:", logits_processor=processor, grammar=theirs, max_tokens=8)
    with processor:
        json.loads(llama("A city:", logits_processor=processor, max_tokens=200)["choices"][0]["text"])


def test_the_context_bounds_the_budget(llama: Any, record: CompiledGrammar) -> None:
    prompt = [*llama.tokenize(b"A city:"), *llama.tokenize(b" word", add_bos=False) * 480]
    with GrammarLogitsProcessor(record, llama, max_tokens=400) as processor:
        answer = llama(prompt, logits_processor=processor, max_tokens=400)
    json.loads(answer["choices"][0]["text"])
    assert answer["usage"]["total_tokens"] <= 512
