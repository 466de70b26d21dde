"""mistral-common's own tokenizers: tekken with 131k tokens, SentencePiece with 32k. The files come with the package."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.tokenizer import TokenizerInfo

mistral = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
MistralTokenizer = mistral.MistralTokenizer


@pytest.fixture(scope="module")
def tekken() -> Any:
    return MistralTokenizer.v3(is_tekken=True)


@pytest.fixture(scope="module")
def tekken_info(tekken: Any) -> TokenizerInfo:
    return TokenizerInfo.from_mistral(tekken)


@pytest.fixture(scope="module", params=["v1", "v3", "v7"])
def pieces(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip("sentencepiece")
    return getattr(MistralTokenizer, request.param)()


def test_tekken_ids_are_ranks_behind_the_special_tokens(tekken_info: TokenizerInfo) -> None:
    it = tekken_info
    assert it.vocab_size == len(it.token_bytes) == 131072
    assert it.special_token_ids == tuple(range(1000))
    assert it.token_bytes[1000 : 1000 + 256] == tuple(bytes([byte]) for byte in range(256))
    assert (it.stop_token_ids, it.token_bytes[2], it.drops_leading_space) == ((2,), b"</s>", False)


def test_tekken_tokens_with_one_printed_text_keep_their_bytes(tekken: Any, tekken_info: TokenizerInfo) -> None:
    inner = tekken.instruct_tokenizer.tokenizer
    assert inner.id_to_piece(1000 + 0x80) == inner.id_to_piece(1000 + 0x81)
    assert len(set(tekken_info.token_bytes[1000:])) == 131072 - 1000


def test_tekken_round_trip(tekken: Any, tekken_info: TokenizerInfo, text: str) -> None:
    inner = tekken.instruct_tokenizer.tokenizer
    assert tekken_info.decode(inner.encode(text, bos=True, eos=True)) == text.encode()


def test_the_inner_tokenizer_is_taken_too(tekken: Any, tekken_info: TokenizerInfo) -> None:
    inner = TokenizerInfo.from_mistral(tekken.instruct_tokenizer.tokenizer, vocab_size=131136, stop_token_ids=[2, 0])
    assert inner.token_bytes == tekken_info.token_bytes
    assert (inner.vocab_size, inner.stop_token_ids) == (131136, (0, 2))


def test_sentencepiece(pieces: Any) -> None:
    it = TokenizerInfo.from_mistral(pieces)
    assert it.vocab_size in (32000, 32768)
    assert (it.stop_token_ids, it.token_bytes[2], it.drops_leading_space) == ((2,), b"</s>", True)
    assert {bytes([byte]) for byte in range(256)} <= set(it.token_bytes)
    assert it == TokenizerInfo.from_mistral(pieces.instruct_tokenizer.tokenizer)


def test_sentencepiece_round_trip(pieces: Any, text: str) -> None:
    it = TokenizerInfo.from_mistral(pieces)
    ids = pieces.instruct_tokenizer.tokenizer.encode(text, bos=True, eos=True)
    assert it.decode(ids) == b" " + text.replace("▁", " ").encode()
