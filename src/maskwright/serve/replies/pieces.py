"""Which text of an output the structure forced: its bytes beside its tokens.

    [Piece('{"city": "', forced=True), Piece("Paris", forced=False), Piece('"}', forced=True)]

Bytes may lag behind their tokens, while they may begin a stop string, and tokens may be replaced by others of the same
bytes; a character whose bytes are in several tokens counts as its last byte does.
Tested by tests/serve/test_pieces.py.
"""

from __future__ import annotations

import codecs
from collections import deque
from itertools import groupby
from typing import NamedTuple

from maskwright import TokenizerInfo
from maskwright.engine import Output


class Piece(NamedTuple):
    """Text that the structure forced, or that was sampled."""

    text: str
    forced: bool


class PiecesReader:
    """Cuts one output into pieces."""

    def __init__(self, tokenizer_info: TokenizerInfo) -> None:
        self._info = tokenizer_info
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last_lengths: list[int] = []  # of the tokens, in bytes, so that some can be replaced
        self._flags: deque[bool] = deque()  # of the bytes that are still to come

    def add(self, output: Output, pieces: list[Piece]) -> None:
        """Append what is new to the pieces."""
        num_kept = len(self._last_lengths) - output.num_replaced
        num_known = sum(self._last_lengths[num_kept:])
        lengths = [len(self._info.decode([token])) for token in output.token_ids]
        self._last_lengths[num_kept:] = lengths
        flags = [flag for length, flag in zip(lengths, output.forced, strict=True) for _ in range(length)]
        self._flags.extend(flags[num_known:])
        is_last = output.finish_reason is not None
        marked = [(byte, self._flags.popleft() if self._flags else False) for byte in output.data]
        for forced, group in groupby(marked, key=lambda pair: pair[1]):
            _append(pieces, self._decoder.decode(bytes(byte for byte, _ in group)), forced)
        if is_last:
            _append(pieces, self._decoder.decode(b"", True), False)


def _append(pieces: list[Piece], text: str, forced: bool) -> None:
    if not text:
        return
    if pieces and pieces[-1].forced == forced:
        pieces[-1] = Piece(pieces[-1].text + text, forced)
    else:
        pieces.append(Piece(text, forced))
