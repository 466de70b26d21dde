"""A shortest valid way to go on: the fewest tokens that complete an output.

    >>> # after `{"age": ` of {"age": integer}: the tokens of `0}`

The masks of a token budget leave only tokens after which the rest still fits, so the smallest budget that takes the
output so far leads to a shortest end. A budget counts the output so far as well, and a matcher cannot begin with less
than the shortest output has: so the text so far is fed in as many pieces as it takes to leave the number wanted.
Where exact budgets would take too long, those by bounds are asked, and where they do not help, or the grammar
remembers text and so has no budgets, a byte is chosen at a time, as `greedy` says: such ends are short, not shortest.

Cost: two matchers for each doubling of the number of tokens. Tested by tests/report/test_rejection.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from maskwright import _kernel
from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.tokenizer import TokenizerInfo

MAX_CONTINUATION = 256  # bytes or tokens
_ORDER = (b"\"'}])>", b"0123456789", b"abcdefghijklmnopqrstuvwxyz", b",;:.", b" \n", b"{[(<")
_RANK = {byte: rank for rank, group in enumerate(_ORDER) for byte in group}
_LAST_RANK = len(_ORDER)
_MAX_TRIED = 64  # tokens of a mask

History: TypeAlias = "Sequence[int | bytes]"  # token ids, and text that was accepted as such


class Continuation(NamedTuple):
    """An end of an output: its text, and its tokens, if it was found by tokens."""

    text: bytes
    token_ids: tuple[int, ...] | None


class Continuations:
    """Finds ends of outputs of one grammar."""

    def __init__(self, grammar: _kernel.CompiledGrammar, info: TokenizerInfo) -> None:
        self._grammar, self._info = grammar, info
        self._by_bounds = False  # once exact budgets have taken too long
        self._least: int | None = None  # tokens of the shortest output; 0 if that takes too long to tell

    def find(self, matcher: _kernel.Matcher, history: History) -> Continuation | None:
        """Return what completes the output that this history led to, where the matcher stands; None if nothing is found
        within `MAX_CONTINUATION`. The matcher does not move.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        if matcher.is_completed():
            return Continuation(b"", ())
        pieces = _pieces(history)
        try:
            found = self._by_budgets(pieces)
        except LimitError:
            if self._by_bounds:
                return greedy(matcher)
            self._by_bounds, self._least = True, None
            return self.find(matcher, history)
        return greedy(matcher) if found is None else found

    def _by_budgets(self, pieces: list[int | bytes]) -> Continuation | None:
        for num_tokens in _doublings():
            found = None if self._after(pieces, num_tokens) is None else self._shortest(pieces, num_tokens)
            if found is not None:
                return found
        return None

    def _shortest(self, pieces: list[int | bytes], enough: int) -> Continuation | None:
        too_few = enough // 2
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._after(pieces, middle) is None:
                too_few = middle
            else:
                enough = middle
        matcher = self._after(pieces, enough)
        return None if matcher is None else self._written(matcher)

    def _after(self, pieces: list[int | bytes], num_tokens: int) -> _kernel.Matcher | None:
        """A matcher after the output so far that has this many tokens left; None if no end has so few."""
        least = self._least_tokens()
        if not least:
            return None
        total = max(least, num_tokens + len(_joined(pieces, 1)))
        fed = _joined(pieces, total - num_tokens)
        if len(fed) != total - num_tokens:
            return None  # even byte by byte, more would be left: the shortest output would be shorter than it is
        matcher = self._matcher(total)
        if matcher is None:
            return None
        for piece in fed:
            if not (matcher.accept_token(piece) if isinstance(piece, int) else matcher.accept_bytes(piece)):
                return None
        return matcher

    def _matcher(self, max_tokens: int) -> _kernel.Matcher | None:
        """A matcher with this budget; None if no output fits, or none by the bounds."""
        try:
            return _kernel.Matcher(self._grammar, list(self._info.stop_token_ids), False, max_tokens, self._by_bounds)
        except UnsatisfiableError:
            return None
        except LimitError:
            if self._by_bounds:
                return None
            raise

    def _least_tokens(self) -> int:
        if self._least is None:
            self._least = 0
            for enough in _doublings():
                if self._matcher(enough) is not None:
                    too_few = enough // 2
                    while enough - too_few > 1:
                        middle = (too_few + enough) // 2
                        too_few, enough = (middle, enough) if self._matcher(middle) is None else (too_few, middle)
                    self._least = enough
                    break
        return self._least

    def _written(self, matcher: _kernel.Matcher) -> Continuation | None:
        """The first tokens that are allowed, up to the end, those of plain text before others."""
        text, ids = b"", list[int]()
        mask = np.zeros((self._info.vocab_size + 31) // 32, np.int32)
        while not matcher.is_completed():
            matcher.fill_next_token_bitmask(mask)
            allowed = first_allowed(mask, _MAX_TRIED)
            if not allowed:
                return None
            token_id = min(allowed, key=lambda i: _oddness(self._info.decode([i])))
            matcher.accept_token(token_id)
            ids.append(token_id)
            text += self._info.decode([token_id])
        return Continuation(text, tuple(ids))


def first_allowed(mask: np.ndarray[Any, np.dtype[np.int32]], most: int) -> list[int]:
    """The lowest token ids of a mask, at most so many."""
    words = np.flatnonzero(mask)[:most]
    bits = np.unpackbits(mask[words].view(np.uint8), bitorder="little").reshape(-1, 32)
    return [int(words[row]) * 32 + int(bit) for row, bit in np.argwhere(bits)[:most]]


def greedy(matcher: _kernel.Matcher) -> Continuation | None:
    """A short text that completes the output, a byte at a time: bytes that close something, and those that it has
    written less often, before others. None where no text does, or none is found within `MAX_CONTINUATION` bytes.
    """
    twin = _kernel.Matcher(matcher)
    text = bytearray()
    uses: Counter[int] = Counter()
    while not twin.is_completed():
        if len(text) > MAX_CONTINUATION:
            return None
        step = twin.forced_bytes()
        if step:
            if not twin.accept_bytes(step):
                return None
        else:
            byte = _accepted(twin, uses)
            if byte is None:
                return None
            uses[byte] += 1
            step = bytes((byte,))
        text += step
    return Continuation(bytes(text), None)


def _accepted(matcher: _kernel.Matcher, uses: Counter[int]) -> int | None:
    """Accept the byte that is preferred among those that are allowed."""
    for byte in sorted(range(256), key=lambda b: (_RANK.get(b, _LAST_RANK) + _LAST_RANK * uses[b], b)):
        if matcher.accept_bytes(bytes((byte,))):
            return byte
    return None


def _doublings() -> list[int]:
    return [1 << i for i in range(MAX_CONTINUATION.bit_length())]


def _pieces(history: History) -> list[int | bytes]:
    """The history, with no empty text and no texts side by side."""
    pieces: list[int | bytes] = []
    for each in history:
        if isinstance(each, bytes) and pieces and isinstance(pieces[-1], bytes):
            pieces[-1] += each
        elif each != b"":
            pieces.append(each)
    return pieces


def _joined(pieces: list[int | bytes], wanted: int) -> list[int | bytes]:
    """The same in `wanted` pieces: texts are split as far as that takes. It may be fewer, and more if tokens are."""
    out: list[int | bytes] = []
    spare = wanted - len(pieces)
    for piece in pieces:
        cut = min(spare, len(piece) - 1) if isinstance(piece, bytes) and spare > 0 else 0
        if isinstance(piece, bytes) and cut:
            whole = len(piece) - cut
            out += [piece[:whole], *(piece[i : i + 1] for i in range(whole, len(piece)))]
            spare -= cut
        else:
            out.append(piece)
    return out


def _oddness(text: bytes) -> tuple[int, int]:
    """How far a token is from what a person would write: special tokens and control characters last."""
    if not text:
        return 3, 0
    plain = all(0x20 < byte < 0x7F for byte in text)
    return (0 if plain else 1 if text.isascii() and text.decode().isprintable() else 2), len(text)
