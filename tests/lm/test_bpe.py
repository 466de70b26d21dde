"""Byte-pair encoding: reversible on every text, deterministic, merges by frequency."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.lm.bpe import BytePairEncoding

TEXTS = ['{"name": "Zoé", "age": 31}', "a name, a name and another name", "low lower lowest"] * 3


@pytest.fixture(scope="module")
def bpe() -> BytePairEncoding:
    return BytePairEncoding.train(TEXTS, num_merges=60)


@given(st.text())
def test_encoding_is_reversible(text: str) -> None:
    bpe = BytePairEncoding([(97, 98), (256, 99)])
    assert b"".join(bpe.token_bytes[i] for i in bpe.encode(text)) == text.encode("utf-8", "replace")


def test_every_byte_is_a_token_and_merges_follow(bpe: BytePairEncoding) -> None:
    assert bpe.token_bytes[:256] == [bytes((b,)) for b in range(256)]
    assert len(set(bpe.token_bytes)) == len(bpe.token_bytes)
    assert all(len(token) > 1 for token in bpe.token_bytes[256:])


def test_frequent_words_become_one_token(bpe: BytePairEncoding) -> None:
    assert [bpe.token_bytes[i] for i in bpe.encode(" name")] == [b" name"]


def test_training_is_deterministic(bpe: BytePairEncoding) -> None:
    assert BytePairEncoding.train(TEXTS, num_merges=60).token_bytes == bpe.token_bytes


def test_training_stops_when_no_pair_occurs_twice() -> None:
    assert len(BytePairEncoding.train(["abcdef"], num_merges=10).token_bytes) == 256


def test_a_pair_that_overlaps_itself_is_merged_from_the_left() -> None:
    bpe = BytePairEncoding.train(["aaaaa aaaaa"], num_merges=1)
    assert [bpe.token_bytes[i] for i in bpe.encode("aaaaa")] == [b"aa", b"aa", b"a"]


def test_trained_pieces_encode_as_the_merges_say(bpe: BytePairEncoding) -> None:
    text = TEXTS[0] + TEXTS[1]
    remembered = bpe.encode(text)
    bpe._pieces.clear()
    assert bpe.encode(text) == remembered


def test_pieces_can_be_read_in_two_parts(bpe: BytePairEncoding) -> None:
    parts = [bpe.token_bytes[i] for i in bpe.encode(" name", split=lambda: True)]
    assert parts[0] == b" "
    assert b"".join(parts) == b" name"
