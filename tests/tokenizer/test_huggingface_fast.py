"""Tokenizers of the tokenizers library, bare and inside transformers' fast tokenizers. All are made here, small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.text_decoders import byte_level_map

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402

CORPUS = ['{"name": "value", "number": 12}', "def f(x): return x", "Größe 日本 été", "the thing that they think"] * 5


def byte_level(**options: Any) -> Any:
    """Train a byte-level BPE with one special token, and one added token that is not special."""
    it = Tokenizer(models.BPE())
    it.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, **options)
    it.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, initial_alphabet=alphabet, special_tokens=["</s>"], show_progress=False
    )
    it.train_from_iterator(CORPUS, trainer)
    it.add_tokens([AddedToken("<think> é", special=False)])
    return it


def pieces(*, prefix: bool) -> Any:
    """Make a Unigram tokenizer with byte fallback, decoded as Llama 2's (with prefix) or as Gemma's (without)."""
    words = ["▁", "a", "e", "t", "▁the", "▁▁", '"', "{", "}", ":", "日"]
    vocab = [("<unk>", 0.0), ("</s>", 0.0), *((f"<0x{b:02X}>", -9.0) for b in range(256)), *((w, -2.0) for w in words)]
    it = Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=True))
    start = [normalizers.Prepend("▁")] if prefix else []
    it.normalizer = normalizers.Sequence([*start, normalizers.Replace(" ", "▁")])
    end = [decoders.Strip(" ", 1, 0)] if prefix else []
    it.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *end])
    it.add_special_tokens(["<unk>", "</s>"])
    return it


def info(tokenizer: Any, **options: Any) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(tokenizer, **({"stop_token_ids": []} | options))


def test_byte_level_round_trip(text: str) -> None:
    it = byte_level()
    assert info(it).decode(it.encode(text).ids) == text.encode()


def test_byte_level_bytes_of_every_id() -> None:
    it = byte_level()
    found = info(it)
    characters = {byte: c for c, byte in byte_level_map().items()}
    assert all(found.token_bytes[it.token_to_id(characters[byte])] == bytes([byte]) for byte in range(256))
    assert found.vocab_size == it.get_vocab_size()


def test_added_tokens() -> None:
    it = byte_level()
    found = info(it, vocab_size=512)
    assert found.token_bytes[it.token_to_id("<think> é")] == "<think> é".encode()
    assert found.special_token_ids == (it.token_to_id("</s>"),)
    assert (found.vocab_size, len(found.token_bytes)) == (512, it.get_vocab_size())


def test_an_added_token_of_the_model_itself_is_decoded_as_the_model_does() -> None:
    it = byte_level()
    word = min(token for token in it.get_vocab() if token.startswith("Ġ") and token[1:].isascii() and len(token) > 1)
    it.add_tokens([AddedToken(word, special=False)])
    assert info(it).token_bytes[it.token_to_id(word)] == b" " + word[1:].encode()


@pytest.mark.parametrize("prefix", [True, False])
def test_pieces_round_trip(prefix: bool, text: str) -> None:
    it = pieces(prefix=prefix)
    found = info(it)
    assert found.drops_leading_space is prefix
    # The library takes the texts "▁" and "<0x0A>" for the space and the byte that they stand for.
    expected = text.replace("▁", " ").replace("<0x0A>", "\n").encode()
    assert found.decode(it.encode(text).ids) == b" " * prefix + expected


def test_pieces_share_bytes_and_special_tokens_keep_theirs() -> None:
    found = info(pieces(prefix=True))
    assert found.token_bytes.count(b"a") == 2
    assert found.special_token_ids == (0, 1)
    assert found.token_bytes[1] == b"</s>"


def test_two_ids_with_one_text_are_both_found() -> None:
    it = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("a", -2.0), ("b", -1.0)], unk_id=0))
    it.decoder = decoders.Fuse()
    assert info(it).token_bytes == (b"<unk>", b"a", b"a", b"b")


def test_gaps_are_empty_and_the_unknown_token_is_special() -> None:
    it = Tokenizer(models.WordLevel({"a": 0, "?": 3}, unk_token="?"))
    it.decoder = decoders.Fuse()
    assert info(it).token_bytes == (b"a", b"", b"", b"?")
    assert info(it).special_token_ids == (3,)


def test_word_pieces() -> None:
    it = Tokenizer(models.WordPiece({"[UNK]": 0, "play": 1, "##ing": 2, ".": 3, "now": 4}, unk_token="[UNK]"))
    it.pre_tokenizer, it.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    found, ids = info(it), it.encode("playing now.").ids
    assert found.decode(ids) == b" playing now."
    assert found.drops_leading_space
    assert it.decode(ids) == "playing now."


def test_without_a_decoder_the_pre_tokenizer_tells() -> None:
    it = byte_level()
    it.decoder = None
    assert info(it) == info(byte_level())


def test_refuses_a_tokenizer_without_decoder_and_pre_tokenizer() -> None:
    with pytest.raises(TokenizerError, match="has no decoder") as caught:
        info(Tokenizer(models.BPE({"a": 0}, [])))
    assert "tokenizer.decoder" in str(caught.value.hint)


def test_refuses_decoders_by_name() -> None:
    it = byte_level()
    it.decoder = decoders.BPEDecoder()
    with pytest.raises(TokenizerError, match="'BPEDecoder'"):
        info(it)
    it.decoder = decoders.Decoder.custom(object())
    with pytest.raises(TokenizerError, match="decoder is custom code"):
        info(it)


def test_refuses_an_id_out_of_all_bounds() -> None:
    it = Tokenizer(models.WordLevel({"a": 2**31}, unk_token="a"))
    it.decoder = decoders.Fuse()
    with pytest.raises(TokenizerError, match="too large"):
        info(it)


def test_a_bare_tokenizer_declares_no_stop_token() -> None:
    with pytest.raises(TokenizerError, match="does not say which token ends the output") as caught:
        TokenizerInfo.from_huggingface(byte_level())
    assert "0: '</s>'" in str(caught.value.hint)


def test_a_wrapper_of_the_tokenizers_library() -> None:
    characters = {c: i for i, c in enumerate(byte_level_map())}
    it = tokenizers.ByteLevelBPETokenizer(vocab=characters, merges=[])
    assert info(it).decode(it.encode("é {}").ids) == "é {}".encode()


def fast(tokenizer: Any, **options: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **options)


def test_transformers_round_trip(text: str) -> None:
    it = fast(byte_level(), eos_token="</s>")
    assert TokenizerInfo.from_huggingface(it).decode(it(text)["input_ids"]) == text.encode()


def test_transformers_names_special_and_stop_tokens() -> None:
    it = fast(byte_level(), eos_token="</s>", bos_token="<begin>", pad_token="a")
    it.add_special_tokens({"additional_special_tokens": ["<extra>"]})
    found = TokenizerInfo.from_huggingface(it)
    assert found.stop_token_ids == (it.eos_token_id,)
    assert {it.eos_token_id, it.bos_token_id, it.convert_tokens_to_ids("<extra>")} <= set(found.special_token_ids)


def test_padding_with_an_ordinary_token_leaves_it_text() -> None:
    it = fast(byte_level(), eos_token="</s>")
    it.pad_token = "a"
    assert it.pad_token_id not in TokenizerInfo.from_huggingface(it).special_token_ids


def test_transformers_without_a_stop_token() -> None:
    it = fast(byte_level())
    it.eos_token = None
    with pytest.raises(TokenizerError, match="does not say which token ends the output"):
        TokenizerInfo.from_huggingface(it)


def test_stop_tokens_of_the_generation_config(tmp_path: Path) -> None:
    it = fast(byte_level(), eos_token="</s>", name_or_path=str(tmp_path))
    for listed, stop in ([5, 3], (0, 3, 5)), (4, (0, 4)), (None, (0,)):
        (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": listed}))
        assert TokenizerInfo.from_huggingface(it).stop_token_ids == stop
    assert TokenizerInfo.from_huggingface(it, stop_token_ids=[7]).stop_token_ids == (7,)


@pytest.mark.parametrize("content", ["", "[]", "{", "\ud800"])
def test_a_broken_generation_config_is_no_stop_token(tmp_path: Path, content: str) -> None:
    (tmp_path / "generation_config.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    it = fast(byte_level(), eos_token="</s>", name_or_path=str(tmp_path))
    assert TokenizerInfo.from_huggingface(it).stop_token_ids == (0,)


def test_a_stop_token_beyond_the_tokenizer_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [0, 400]}')
    it = fast(byte_level(), eos_token="</s>", name_or_path=str(tmp_path))
    with pytest.raises(TokenizerError, match="stop token id 400") as caught:
        TokenizerInfo.from_huggingface(it)
    assert "vocab_size=" in str(caught.value.hint)
    assert TokenizerInfo.from_huggingface(it, vocab_size=512).stop_token_ids == (0, 400)


def test_names_that_no_repository_can_have_do_no_harm() -> None:
    for name in ("", "a/b/c", "..", "no/such-repository"):
        assert TokenizerInfo.from_huggingface(fast(byte_level(), eos_token="</s>", name_or_path=name)).stop_token_ids


def test_a_model_with_fewer_ids_than_the_tokenizer() -> None:
    """Ids that the model cannot generate are left out, with what is said of them."""
    it = byte_level()
    it.add_special_tokens(["<pad>"])
    num_ids = it.get_vocab_size()
    found = info(it, vocab_size=num_ids - 2, stop_token_ids=[it.token_to_id("</s>")])
    assert (found.vocab_size, len(found.token_bytes)) == (num_ids - 2, num_ids - 2)
    assert found.token_bytes == info(it).token_bytes[: num_ids - 2]
    assert found.special_token_ids == (it.token_to_id("</s>"),)
    with pytest.raises(TokenizerError, match="stop token id"):
        info(it, vocab_size=num_ids - 1, stop_token_ids=[num_ids - 1])
    with pytest.raises(TokenizerError, match="there are 3 token texts"):
        TokenizerInfo.from_vocab(["a", "b", "c"], stop_token_ids=[], vocab_size=2)


def test_a_stop_token_that_the_model_cannot_generate_is_no_stop_token() -> None:
    transformers = pytest.importorskip("transformers")
    it = byte_level()
    it.add_special_tokens(["<end>"])
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=it, eos_token="<end>")
    with pytest.raises(TokenizerError, match=r"stop tokens, \[\d+\], lie outside vocab_size"):
        TokenizerInfo.from_huggingface(wrapped, vocab_size=it.get_vocab_size() - 1)
