"""A short valid way to go on, as text and as tokens.

    >>> # after `{"age": ` of {"age": integer}: `0}`, and its tokens

The kernel goes to where the fewest bytes are left (`budget/short_end.h`): a shortest text, but for items in any order
and products of large automata, where it is a short one. The text is cut into the longest tokens there are. Where a
token budget rules the next of them out, a token that it allows is taken instead, and the text sought from there, so
that what is found fits.

Cost: some microseconds a byte; no mask, unless a budget is nearly used up.
Tested by tests/report/test_rejection.py and tests/exhaustive/test_short_ends.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maskwright import _kernel
from maskwright.errors import LimitError
from maskwright.tokenizer import TokenizerInfo

MAX_CONTINUATION = 4096  # bytes
_MAX_TRIED = 64  # tokens of a mask


class Continuation(NamedTuple):
    """An end of an output: its text, and its tokens, if the vocabulary can spell it."""

    text: bytes
    token_ids: tuple[int, ...] | None


def find_continuation(matcher: _kernel.Matcher, info: TokenizerInfo) -> Continuation | None:
    """Return what completes the output from where a matcher stands; None if nothing is found within
    `MAX_CONTINUATION` bytes, or it takes too long to find out. The matcher does not move.
    """
    try:
        end = _kernel.short_end(matcher, MAX_CONTINUATION)
    except LimitError:  # what else there is to say of the place still holds
        return None
    if end is None:
        return None
    try:
        ids = _as_tokens(_kernel.Matcher(matcher), end, info)
    except LimitError:
        ids = None
    if ids is None:
        return Continuation(b"".join(_text(each, info) for each in end), None)
    return Continuation(info.decode(ids), tuple(ids))


def _as_tokens(matcher: _kernel.Matcher, end: list[int | bytes], info: TokenizerInfo) -> list[int] | None:
    """Accept tokens up to the end of the output, those of `end` where they are allowed; None if it takes too many."""
    ids: list[int] = []
    while not matcher.is_completed():
        token_id = _next_token(matcher, end, info)
        if token_id is None or len(ids) == MAX_CONTINUATION:
            return None
        ids.append(token_id)
        end = _without(end, token_id, info) or _kernel.short_end(matcher, MAX_CONTINUATION) or []
    return ids


def _next_token(matcher: _kernel.Matcher, end: list[int | bytes], info: TokenizerInfo) -> int | None:
    """Accept the longest token that `end` begins with; any that is allowed, where a budget rules that out."""
    first = end[0] if end else b""
    token_id = first if isinstance(first, int) else info.kernel_vocabulary.longest_token(first)
    if token_id is not None and matcher.accept_token(token_id):
        return token_id
    mask = np.zeros((info.vocab_size + 31) // 32, np.int32)
    matcher.fill_next_token_bitmask(mask)
    allowed = [i for i in first_allowed(mask, _MAX_TRIED) if i not in info.stop_token_ids]
    if not allowed:
        return None
    plainest = min(allowed, key=lambda i: _oddness(info.decode([i])))
    return plainest if matcher.accept_token(plainest) else None


def _without(end: list[int | bytes], token_id: int, info: TokenizerInfo) -> list[int | bytes] | None:
    """What of `end` is left behind its first token; None if it does not begin with that, or is all of it."""
    first, rest = (end[0], end[1:]) if end else (b"", [])
    if isinstance(first, int):
        return rest if first == token_id else None
    text = info.decode([token_id])
    if not text or not first.startswith(text):
        return None
    return [first[len(text) :], *rest] if len(first) > len(text) else rest


def _text(piece: int | bytes, info: TokenizerInfo) -> bytes:
    return piece if isinstance(piece, bytes) else info.decode([piece])


def first_allowed(mask: np.ndarray[Any, np.dtype[np.int32]], most: int) -> list[int]:
    """The lowest token ids of a mask, at most so many."""
    words = np.flatnonzero(mask)[:most]
    bits = np.unpackbits(mask[words].view(np.uint8), bitorder="little").reshape(-1, 32)
    return [int(words[row]) * 32 + int(bit) for row, bit in np.argwhere(bits)[:most]]


def _oddness(text: bytes) -> tuple[int, int]:
    """How far a token is from what a person would write: special tokens and control characters last."""
    if not text:
        return 3, 0
    plain = all(0x20 < byte < 0x7F for byte in text)
    return (0 if plain else 1 if text.isascii() and text.decode().isprintable() else 2), len(text)
