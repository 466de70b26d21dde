"""The bytes of an output: stop strings wherever they are cut, and nothing held back for longer than needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright import TokenizerInfo
from maskwright.engine import SamplingParams
from maskwright.engine.text import OutputText

TOKENS = [b"a", b"b", b"ab", b"ba", b"c", b"<s>"]
INFO = TokenizerInfo.from_vocab(TOKENS, special_token_ids=[5], stop_token_ids=[])


@given(st.lists(st.integers(0, 5)), st.lists(st.text("abc", min_size=1, max_size=4), max_size=3), st.booleans())
def test_the_output_ends_before_the_first_stop_string(ids: list[int], stops: list[str], include: bool) -> None:
    text = OutputText(INFO, SamplingParams(stop=stops, include_stop=include))
    pieces, whole = [], ""
    for token in ids:
        whole += "" if token == 5 else TOKENS[token].decode()
        text.add(token)
        pieces.append(text.take().decode())
        if text.stopped_by is not None:
            break
        assert not any(stop in whole for stop in stops)
    pieces.append(text.take(is_last=True).decode())
    shown = "".join(pieces)
    if text.stopped_by is None:
        assert shown == whole
    else:
        at = min(whole.find(stop) for stop in stops if stop in whole)
        assert whole[at:].startswith(text.stopped_by)
        assert shown == whole[:at] + (text.stopped_by if include else "")


def test_only_what_may_begin_a_stop_string_is_held_back() -> None:
    text = OutputText(INFO, SamplingParams(stop=["abc"]))
    for token, shown in ((1, b"b"), (0, b""), (1, b""), (1, b"abb"), (2, b""), (2, b"ab")):
        text.add(token)
        assert text.take() == shown
    assert text.take(is_last=True) == b"ab"


def test_special_tokens_are_shown_if_asked() -> None:
    text = OutputText(INFO, SamplingParams(skip_special_tokens=False))
    text.add(5)
    assert text.take() == b"<s>"
