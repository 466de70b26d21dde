"""SentencePiece models: small ones trained here, with and without dummy prefix and byte fallback, and Mistral's 32k."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizer import TokenizerInfo

sentencepiece = pytest.importorskip("sentencepiece")


def train(**options: Any) -> Any:
    """Train a model of 400 pieces on words made up of a few syllables."""
    chance = random.Random(7)
    syllables = ["ka", "to", "mi", "ren", "sou", "ly", "{", '"', ":", "é", "1"]
    lines = [" ".join("".join(chance.choices(syllables, k=3)) for _ in range(12)) for _ in range(200)]
    model = io.BytesIO()
    defaults: dict[str, Any] = {
        "vocab_size": 400,
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "user_defined_symbols": ["<tool>", "▁▁"],
        "control_symbols": ["<ctl>"],
        "hard_vocab_limit": False,
        "minloglevel": 2,
    }
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **(defaults | options))
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def model(request: pytest.FixtureRequest) -> Any:
    return train(model_type=request.param)


def test_kinds_of_pieces(model: Any) -> None:
    it = TokenizerInfo.from_sentencepiece(model)
    ids = {model.id_to_piece(i): i for i in range(len(model))}
    assert {model.id_to_piece(i) for i in it.special_token_ids} == {"<unk>", "<s>", "</s>", "<ctl>"}
    assert it.stop_token_ids == (ids["</s>"],)
    assert it.token_bytes[ids["<0x0A>"]] == b"\n"
    assert it.token_bytes[ids["<0xFF>"]] == b"\xff"
    assert it.token_bytes[ids["<tool>"]] == b"<tool>"
    assert it.token_bytes[ids["▁▁"]] == b"  "
    assert it.vocab_size == len(model)


def test_round_trip_with_a_leading_space(model: Any, text: str) -> None:
    it = TokenizerInfo.from_sentencepiece(model)
    assert it.drops_leading_space
    assert it.decode(model.encode(text)) == b" " + text.replace("▁", " ").encode()


def test_without_dummy_prefix(text: str) -> None:
    model = train(add_dummy_prefix=False)
    it = TokenizerInfo.from_sentencepiece(model)
    assert not it.drops_leading_space
    assert it.decode(model.encode(text)) == text.replace("▁", " ").encode()


def test_without_byte_fallback_a_byte_piece_is_text() -> None:
    model = train(byte_fallback=False, user_defined_symbols=["<0x0A>"])
    assert b"<0x0A>" in TokenizerInfo.from_sentencepiece(model).token_bytes


def test_from_a_file(tmp_path: Path, model: Any) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model.serialized_model_proto())
    it = TokenizerInfo.from_sentencepiece(model)
    assert TokenizerInfo.from_sentencepiece(path) == it == TokenizerInfo.from_sentencepiece(str(path))


def test_refuses_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="no SentencePiece model file at"):
        TokenizerInfo.from_sentencepiece(tmp_path / "missing.model")
    path = tmp_path / "broken.model"
    path.write_bytes(b"no model")
    with pytest.raises(TokenizerError, match=r"broken\.model' is not a SentencePiece model"):
        TokenizerInfo.from_sentencepiece(path)


def test_a_model_without_an_end_needs_stop_tokens() -> None:
    model = train(eos_id=-1)
    with pytest.raises(TokenizerError, match="does not say which token ends the output"):
        TokenizerInfo.from_sentencepiece(model)
    assert TokenizerInfo.from_sentencepiece(model, stop_token_ids=[5], vocab_size=512).stop_token_ids == (5,)
