"""Plain vocabularies: lists, dicts, and strings of vocabulary files, which are no texts."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import TokenizerError, TokenizerInfo

LETTERS = ["a", "b", "c", "d"]


def info_of(tokens: Any) -> TokenizerInfo:
    return TokenizerInfo.from_vocab(tokens, stop_token_ids=[])


@pytest.mark.parametrize("tokens", [{"b": 1, "a": 0}, {b"b": 1, b"a": 0}])
def test_a_dict_gives_the_ids(tokens: Any) -> None:
    assert info_of(tokens).token_bytes == (b"a", b"b")


def test_ids_that_a_dict_leaves_out_have_no_text() -> None:
    info = info_of({"c": 3, "a": 0})
    assert info.token_bytes == (b"a", b"", b"", b"c")
    assert info.vocab_size == 4


@pytest.mark.parametrize(
    ("tokens", "message", "hint"),
    [
        ({"a": 0, "b": 1, "c": 1}, "id 1 has two texts, 'b' and 'c'", "give each id one text"),
        ({"a": -1}, "the entry 'a': '-1' is not a text and its id", "integers from 0 on"),
        ({"a": 0.5}, "the entry 'a': '0.5'", "integers"),
        ({"a": True}, "the entry 'a': 'True'", "integers"),
        ({0: "a"}, "the entry '0': 'a'", "{text: id for id, text in vocab.items()}"),
        ({"a": 1 << 40}, "too large", "far too large"),
        (None, "not NoneType", "pass list(...) of the texts"),
        (iter(LETTERS), "not list_iterator", "pass list(...) of the texts"),
        ([b"a", None], "token 1 is of type NoneType", "pass b''"),
    ],
)
def test_what_is_no_vocabulary_is_refused(tokens: Any, message: str, hint: str) -> None:
    with pytest.raises(TokenizerError) as caught:
        info_of(tokens)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("tokens", "kind", "hint"),
    [
        ([*LETTERS, "Ġthe", "Ġof"], "2 of 6 tokens begin with 'Ġ', as in vocabulary files of byte-level BPE", "face"),
        ([*LETTERS, "▁the"], "SentencePiece", "from_sentencepiece(processor)"),
        ([*LETTERS, "##ing"], "WordPiece", "from_huggingface(tokenizer)"),
        ({"a": 0, "Ġa": 1}, "byte-level BPE", "pass the text of every id as it stands in an output"),
        ([*LETTERS, "Ġthe".encode()], "byte-level BPE", "from_huggingface"),  # encoded, it is no better
        ([*map(chr, range(128)), *["\ufffd"] * 128], "128 of 256 tokens hold U\\+FFFD", "bytes of every id"),
        ([f"<0x{byte:02X}>".encode() for byte in range(256)] + LETTERS * 9999, "single bytes", "for <0x0A>"),
    ],
)
def test_strings_of_vocabulary_files_are_refused(tokens: Any, kind: str, hint: str) -> None:
    with pytest.raises(TokenizerError, match=kind) as caught:
        info_of(tokens)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "tokens",
    [
        [*LETTERS, *(f"<0x{byte:02X}>" for byte in range(255))],
        [*map(chr, range(256)), "\ufffd", "\ufffd\ufffd"],
        [bytes([byte]) for byte in range(256)],
        [*LETTERS, " the", "Ġ"],  # spaces are written as such
        [*LETTERS * 10, "Ġ"],  # a letter of Maltese
        [*LETTERS, "#", "##", "## "],
    ],
)
def test_texts_are_taken_as_they_are(tokens: Any) -> None:
    assert len(info_of(tokens).token_bytes) == len(tokens)
