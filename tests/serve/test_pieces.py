"""Forced text: bytes that lag behind, tokens that are replaced, characters in several tokens."""

from __future__ import annotations

import maskwright as mw
from maskwright.engine import Output
from maskwright.serve.replies.pieces import Piece, PiecesReader

TOKENS = [b"a", b"b", b"ab", "é".encode()[:1], "é".encode()[1:], b"<end>"]
INFO = mw.TokenizerInfo.from_vocab(TOKENS, special_token_ids=[5], stop_token_ids=[5])
A, B, AB, E0, E1, END = range(6)


def pieces(*outputs: Output) -> list[Piece]:
    reader, made = PiecesReader(INFO), list[Piece]()
    for output in outputs:
        reader.add(output, made)
    return made


def step(ids: tuple[int, ...], data: bytes, forced: tuple[bool, ...], replaced: int = 0, last: bool = False) -> Output:
    return Output("r", ids, data, forced, num_replaced=replaced, finish_reason="stop" if last else None)


def test_runs_of_tokens() -> None:
    made = pieces(step((A,), b"a", (False,)), step((B, A), b"ba", (True, True)), step((B,), b"b", (False,)))
    assert made == [Piece("a", False), Piece("ba", True), Piece("b", False)]


def test_bytes_that_come_later() -> None:
    made = pieces(step((A, B), b"", (True, False)), step((A,), b"ab", (True,)), step((), b"a", (), last=True))
    assert made == [Piece("a", True), Piece("b", False), Piece("a", True)]


def test_tokens_that_are_replaced() -> None:
    """ "a" was sampled; what is forced begins with "b", and the tokenizer writes both as one token."""
    made = pieces(step((A,), b"a", (False,)), step((AB, A), b"ba", (True, True), replaced=1))
    assert made == [Piece("a", False), Piece("ba", True)]


def test_characters_in_two_tokens() -> None:
    assert pieces(step((E0,), "é".encode()[:1], (True,)), step((E1,), "é".encode()[1:], (False,))) == [
        Piece("é", False)
    ]
    last = step((E0,), "é".encode()[:1], (True,), last=True)
    assert pieces(last) == [Piece("\N{REPLACEMENT CHARACTER}", False)]


def test_special_tokens_have_no_text() -> None:
    assert pieces(step((A, END, B), b"ab", (False, True, False))) == [Piece("ab", False)]
