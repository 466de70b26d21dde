"""`Explainer`: why a text or a token is not allowed, and what in the caller's structure says so.

What may come next, and a way to go on, are asked of forks of the kernel's matcher; what in the structure decides, of
`origins`. Nothing is made before it is asked for. What is made is kept with the compiled grammar. Thread-safe:
questions about one grammar wait for each other.
Tested by tests/report/test_rejection.py and test_explain.py.
"""

from __future__ import annotations

import threading
from functools import cached_property

from maskwright import _kernel
from maskwright.errors import LimitError
from maskwright.explaining.origins import Origins, origins_of
from maskwright.grammar import Grammar
from maskwright.report.continuation import Continuation, find_continuation
from maskwright.report.rejection import NOWHERE, Explanation, Origin, Reason, Rejection, expected, place_of
from maskwright.tokenizer import TokenizerInfo


class Explainer:
    """Answers questions about one compiled grammar."""

    def __init__(self, native: _kernel.CompiledGrammar, grammar: Grammar, info: TokenizerInfo) -> None:
        self._native, self._grammar, self._info = native, grammar, info
        self._lock = threading.Lock()

    def rejection(self, data: bytes) -> Rejection | None:
        """Explain why a text is rejected, from the beginning of an output; None if it is a whole output.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        matcher = _kernel.Matcher(self._native, list(self._info.stop_token_ids), False)
        offset = _accepted(matcher, data)
        if offset == len(data) and matcher.is_completed():
            return None
        end = find_continuation(matcher, self._info)
        with self._lock:
            origin = self._origin(matcher, data[offset:], end)
        line, column, found = place_of(data, offset)
        text, ids = (None, None) if end is None else end
        return Rejection(offset, line, column, found, expected(matcher), text, ids, origin)

    def explanation(self, matcher: _kernel.Matcher, asked: int | bytes) -> Explanation:
        """Explain whether a token or a text is allowed where a matcher stands, which does not move.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        twin = _kernel.Matcher(matcher)
        data = asked if isinstance(asked, bytes) else self._info.decode([asked])
        token_id = None if isinstance(asked, bytes) else asked
        is_over = matcher.is_terminated()
        allowed = twin.accept_bytes(asked) if isinstance(asked, bytes) else twin.accept_token(asked)
        if allowed and not (is_over and asked):
            with self._lock:
                origin = self._taken_by(matcher, twin, data)
            after = self._end(twin)
            return _explained(True, "allowed", token_id, data, len(data), twin, after, origin)
        if is_over:
            return Explanation(False, "terminated", token_id, data, 0, (), b"", ())
        free = self._without_budget(matcher)
        fits = _kernel.Matcher(free)
        if fits.accept_bytes(asked) if isinstance(asked, bytes) else fits.accept_token(asked):
            return _explained(False, "budget", token_id, data, 0, matcher, self._end(matcher), NOWHERE)
        reason: Reason = "structure"
        if token_id is not None and token_id in matcher.stop_token_ids:
            reason, data = "end", b""
        elif not data:
            reason = "special_token"
        offset = _accepted(free, data)
        end = self._end(free)
        with self._lock:
            origin = self._origin(free, data[offset:], end) if data else NOWHERE
        return _explained(False, reason, token_id, data, offset, free, end, origin)

    def _end(self, matcher: _kernel.Matcher) -> Continuation | None:
        return Continuation(b"", ()) if matcher.is_terminated() else find_continuation(matcher, self._info)

    def _without_budget(self, matcher: _kernel.Matcher) -> _kernel.Matcher:
        free = _kernel.Matcher(self._native, matcher.stop_token_ids, False)
        for each in matcher.history():
            _ = free.accept_bytes(each) if isinstance(each, bytes) else free.accept_token(each)
        return free

    def _origin(self, matcher: _kernel.Matcher, rest: bytes, end: Continuation | None) -> Origin:
        """What rejects the rest of a text, which begins where the matcher stands, where the output could end so."""
        try:
            return self._origins.rejecting(_kernel.Matcher(matcher), rest, None if end is None else end[0])
        except LimitError:
            return NOWHERE  # where it is too ambiguous to say what decides, the rest of the answer still holds

    def _taken_by(self, before: _kernel.Matcher, after: _kernel.Matcher, text: bytes) -> Origin:
        """What takes the first byte of a text: the sub-schema of the value that it belongs to, or the rule."""
        try:
            return self._origins.taking(_kernel.Matcher(before), _kernel.Matcher(after), text)
        except LimitError:
            return NOWHERE

    @cached_property
    def _origins(self) -> Origins:
        return origins_of(self._grammar, self._info)


def _accepted(matcher: _kernel.Matcher, data: bytes) -> int:
    """Accept as much of a text as is allowed, and return how much."""
    if matcher.accept_bytes(data):
        return len(data)
    offset = 0
    while offset < len(data) and matcher.accept_bytes(data[offset : offset + 1]):
        offset += 1
    return offset


def _explained(
    allowed: bool,
    reason: Reason,
    token_id: int | None,
    text: bytes,
    offset: int,
    at: _kernel.Matcher,
    end: Continuation | None,
    origin: Origin,
) -> Explanation:
    words = () if at.is_terminated() else expected(at)
    data, ids = (None, None) if end is None else end
    return Explanation(allowed, reason, token_id, text, offset, words, data, ids, origin)
