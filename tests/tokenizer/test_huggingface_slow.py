"""Slow tokenizers of transformers: over SentencePiece, byte-level BPE in Python, word pieces, bytes, mistral-common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.text_decoders import byte_level_map

transformers = pytest.importorskip("transformers")


class Slow(transformers.PreTrainedTokenizer):  # type: ignore[misc]
    """A slow tokenizer over a given vocabulary: what remote code usually looks like."""

    def __init__(self, vocab: dict[str, int], **kwargs: Any) -> None:
        self.encoder = vocab
        self.texts = {i: token for token, i in vocab.items()}
        super().__init__(**kwargs)

    @property
    def vocab_size(self) -> int:
        return len(self.encoder)

    def get_vocab(self) -> dict[str, int]:
        return {**self.encoder, **self.added_tokens_encoder}

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int | None:
        return self.encoder.get(token, self.encoder.get("<unk>"))

    def _convert_id_to_token(self, index: int) -> str | None:
        return self.texts.get(index, "<unk>")


class ByteLevel(Slow):
    """GPT-2's way: a map between bytes and characters."""

    byte_decoder = byte_level_map()

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        characters = {byte: c for c, byte in self.byte_decoder.items()}
        return [characters[byte] for byte in text.encode()]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return bytes([self.byte_decoder[c] for c in "".join(tokens)]).decode("utf-8", "replace")


class Pieces(Slow):
    """SentencePiece's way, without a SentencePiece model at hand."""

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return "".join(tokens).replace("▁", " ").strip()


class WordPieces(Slow):
    """BERT's way."""

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return " ".join(tokens).replace(" ##", "").strip()


class OwnTokensOnly(Slow):
    """A tokenizer that cannot be asked about tokens it does not know."""

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return " ".join(str(self.encoder[token]) for token in tokens)


def byte_level() -> ByteLevel:
    vocab = {c: i for i, c in enumerate(byte_level_map())} | {"ĠcafÃ©": 256, "</s>": 257, "<unk>": 258, "far": 300}
    it = ByteLevel(vocab, eos_token="</s>", unk_token="<unk>")
    it.add_tokens(["<think> é"])
    return it


def test_byte_level_in_python() -> None:
    it = byte_level()
    found = TokenizerInfo.from_huggingface(it)
    assert found.token_bytes[256:260] == (" café".encode(), b"</s>", b"<unk>", b"")
    assert (found.token_bytes[299:], found.vocab_size) == ((b"", b"far"), 301)
    assert found.token_bytes[it.convert_tokens_to_ids("<think> é")] == "<think> é".encode()
    assert (found.special_token_ids, found.stop_token_ids) == ((257, 258), (257,))


def test_byte_level_round_trip(text: str) -> None:
    it = byte_level()
    ids = it.convert_tokens_to_ids(it._tokenize(text))
    assert TokenizerInfo.from_huggingface(it).decode(ids) == text.encode()


def test_pieces_in_python() -> None:
    found = TokenizerInfo.from_huggingface(Pieces({"▁a": 0, "b": 1, "</s>": 2}, eos_token="</s>"), vocab_size=8)
    assert (found.token_bytes, found.drops_leading_space) == ((b" a", b"b", b"</s>"), True)


def test_word_pieces_in_python() -> None:
    found = TokenizerInfo.from_huggingface(WordPieces({"a": 0, "##b": 1, "</s>": 2}, eos_token="</s>"))
    assert found.token_bytes[:2] == (b" a", b"b")
    assert found.drops_leading_space


@pytest.mark.parametrize("kind", [Slow, OwnTokensOnly])
def test_refuses_what_it_does_not_know(kind: type[Slow]) -> None:
    with pytest.raises(TokenizerError, match=f"slow tokenizer {kind.__name__} joins its tokens in an unknown way"):
        TokenizerInfo.from_huggingface(kind({"a": 0, "</s>": 1}, eos_token="</s>"))


def test_refuses_a_token_that_is_no_text() -> None:
    with pytest.raises(TokenizerError, match="not valid text"):
        TokenizerInfo.from_huggingface(Pieces({"\ud800": 0, "</s>": 1}, eos_token="</s>"))


def test_plain_bytes(text: str) -> None:
    it = transformers.ByT5Tokenizer()
    found = TokenizerInfo.from_huggingface(it)
    assert found.decode(it(text)["input_ids"]) == text.encode()
    assert found.stop_token_ids == (it.eos_token_id,)


@pytest.fixture(scope="module")
def model_file() -> str:
    mistral_common = pytest.importorskip("mistral_common")
    pytest.importorskip("sentencepiece")
    return str(Path(mistral_common.__file__).parent / "data" / "tokenizer.model.v1")


def test_over_sentencepiece(model_file: str, text: str) -> None:
    it = transformers.BertGenerationTokenizer(vocab_file=model_file)
    found = TokenizerInfo.from_huggingface(it)
    assert found.drops_leading_space
    assert found.stop_token_ids == (2,)
    assert found.decode(it.sp_model.encode(text)) == b" " + text.replace("▁", " ").encode()


def test_over_sentencepiece_with_an_added_token(model_file: str) -> None:
    it = transformers.BertGenerationTokenizer(vocab_file=model_file)
    it.add_tokens(["<tool call>"])
    found = TokenizerInfo.from_huggingface(it)
    plain = TokenizerInfo.from_sentencepiece(model_file)
    assert found.token_bytes[:32000] == plain.token_bytes
    assert found.token_bytes[it.convert_tokens_to_ids("<tool call>")] == b"<tool call>"


def test_over_mistral_common() -> None:
    mistral_common = pytest.importorskip("mistral_common")
    backend = getattr(transformers, "MistralCommonBackend", None)
    if backend is None:
        pytest.skip("this version of transformers has no MistralCommonBackend")
    path = Path(mistral_common.__file__).parent / "data" / "tekken_240718.json"
    found = TokenizerInfo.from_huggingface(backend(str(path)))
    assert (found.vocab_size, found.stop_token_ids, len(found.special_token_ids)) == (131072, (2,), 1000)
