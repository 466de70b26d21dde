"""A compiler takes a tokenizer of any library that is known: its masks are those of the `TokenizerInfo`."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import ArgumentError, GrammarCompiler, TokenizerError, TokenizerInfo
from maskwright.tokenizer import info_of


def test_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    inner = pytest.importorskip("tokenizers")
    backend = inner.Tokenizer(inner.models.BPE({"a": 0, "b": 1, "</s>": 2}, []))
    backend.decoder = inner.decoders.ByteLevel()
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>")
    assert GrammarCompiler(wrapped).tokenizer_info == TokenizerInfo.from_huggingface(wrapped)
    with pytest.raises(TokenizerError, match="does not say which token ends"):
        GrammarCompiler(backend)


def test_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("small", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 256})
    assert info_of(encoding) == TokenizerInfo.from_tiktoken(encoding)


def test_mistral_and_sentencepiece() -> None:
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    pytest.importorskip("sentencepiece")
    tokenizer = mistral.MistralTokenizer.v1()
    assert info_of(tokenizer) == TokenizerInfo.from_mistral(tokenizer)
    processor = tokenizer.instruct_tokenizer.tokenizer._model
    assert info_of(processor) == TokenizerInfo.from_sentencepiece(processor)


class _Processor:
    """As processors of pictures and text are, a tokenizer inside it."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("gpt2", "AutoTokenizer.from_pretrained(name)"),
        (["a", "b"], "TokenizerInfo.from_vocab(tokens, stop_token_ids=[...])"),
        ({"a": 0}, "TokenizerInfo.from_vocab(tokens, stop_token_ids=[...])"),
        (None, "from_huggingface, from_tiktoken"),
        (_Processor(None), "from_huggingface, from_tiktoken"),
    ],
)
def test_what_is_not_a_tokenizer(given: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match="must be a TokenizerInfo or a tokenizer") as caught:
        GrammarCompiler(given)
    assert hint in str(caught.value)


def test_what_holds_a_tokenizer_says_so() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("small", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<|endoftext|>": 1})
    with pytest.raises(ArgumentError, match="pass its tokenizer attribute"):
        info_of(_Processor(encoding))
