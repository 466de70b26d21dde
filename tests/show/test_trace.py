"""What a trace says is what the matcher says."""

from __future__ import annotations

import numpy as np
import pytest
from byte_tokens import COMPILER, INFO

import maskwright as mw
from maskwright.errors import TokenizerError
from maskwright.show.trace import MOST_EXPLAINED, MOST_TOKENS, trace


def matcher(pattern: str) -> mw.GrammarMatcher:
    return mw.GrammarMatcher(COMPILER.compile_regex(pattern))


def test_steps_up_to_the_end() -> None:
    found = trace(matcher("(a|b)b(?:x)y"), list(b"abxy"))
    assert [step.num_allowed for step in found.steps] == [3, 1, 1, 1]
    assert [step.is_forced for step in found.steps] == [False, True, True, True]
    assert all(step.is_accepted and step.first_us > 0 and step.again_us > 0 for step in found.steps)
    assert (found.is_complete, found.refusal, found.num_allowed) == (True, None, 1)
    assert found.expected == ("the end of the output",)


def test_the_counts_are_those_of_the_masks() -> None:
    text = b"12-34"
    found = trace(matcher("[0-9]+-[0-9]{2}"), list(text))
    again = matcher("[0-9]+-[0-9]{2}")
    for byte, step in zip(text, found.steps, strict=True):
        mask = mw.allocate_token_bitmask(1, INFO.vocab_size)
        again.fill_next_token_bitmask(mask)
        assert step.num_allowed == sum(bin(word & 0xFFFFFFFF).count("1") for word in np.asarray(mask).ravel().tolist())
        assert again.accept_token(byte)


def test_it_stops_where_a_token_is_refused() -> None:
    found = trace(matcher("[0-9]+"), list(b"1x2"))
    assert [step.is_accepted for step in found.steps] == [True, False]
    assert found.unread == (b"2",)
    assert found.refusal is not None
    assert found.refusal.expected == ("a digit", "the end of the output")


def test_likely_tokens_are_explained_where_they_are_refused() -> None:
    asked: list[bytes] = []

    def likely(before: bytes) -> list[bytes]:
        asked.append(before)
        return [b"1", b"ab", b"q", b"no token", b"x", b"y"]

    found = trace(matcher("[0-9]+"), list(b"12"), likely)
    assert asked == [b"", b"1"]
    assert [why.text for why in found.steps[0].refused] == [b"ab", b"q", b"x"]
    assert {why.reason for why in found.steps[0].refused} == {"structure"}


def test_limits() -> None:
    found = trace(matcher("a*"), [97] * (MOST_TOKENS + 7), lambda before: [b"x"])
    assert (len(found.steps), found.num_left_out) == (MOST_TOKENS, 7)
    assert [bool(step.refused) for step in found.steps] == [i < MOST_EXPLAINED for i in range(MOST_TOKENS)]


def test_no_tokens_and_no_such_token() -> None:
    assert not trace(matcher("a"), []).is_complete
    ended = trace(matcher("a"), [256]).refusal
    assert ended is not None
    assert ended.reason == "end"
    for token_id in (10**6, -1):
        with pytest.raises(TokenizerError):
            trace(matcher("a"), [token_id])
