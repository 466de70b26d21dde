"""Streaming: whole characters only, UTF-8 always, and figures that add up."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.cli.output import Figures, StdoutWriter, Utf8Decoder, figure_lines, print_figures
from maskwright.engine import Completion, Timing, Usage


@given(st.text(), st.lists(st.integers(0, 40)))
def test_characters_are_held_back_until_they_are_whole(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    decoder = Utf8Decoder()
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [decoder.feed(data[a:b]) for a, b in pairwise(borders)]
    assert "".join(pieces) == data.decode()
    assert decoder.finish() == ""


def test_half_a_character_at_the_end_is_replaced() -> None:
    decoder = Utf8Decoder()
    assert decoder.feed("é".encode()[:1]) == ""
    assert decoder.finish() == "\N{REPLACEMENT CHARACTER}"


def test_the_writer_writes_utf8_and_ends_the_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    writer = StdoutWriter()
    for byte in "a€".encode():
        writer.write(bytes((byte,)))
    assert capfdbinary.readouterr().out == "a€".encode()
    writer.finish()
    assert capfdbinary.readouterr().out == b"\n"


def test_the_figures() -> None:
    figures = Figures(num_tokens=3, num_forced=1, seconds=0.001, compile_us=2000, mask_us=[500.0, 1.0, 3.0, 4.0])
    assert figure_lines(figures) == [
        ("tokens", "3  (3,000 tokens/s)"),
        ("forced", "33%  of the tokens were inserted without asking the model"),
        ("µs per mask", "avg 127.0 · p50 3.5 · max 500.0"),
        ("first mask", "after 2.50 ms, 2.00 ms of it to compile"),
    ]


def test_figures_come_from_an_output() -> None:
    timing = Timing(admitted_s=1.0, last_token_s=3.0, total_s=9.0, mask_us=[1.0])
    whole = Completion(usage=Usage(completion_tokens=4, forced_tokens=1), timing=timing)
    assert Figures.of(whole, 7.0) == Figures(4, 1, 2.0, 7.0, [1.0])


def test_figures_of_nothing_are_zero(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures(Figures.of(Completion()))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "0  (0 tokens/s)" in captured.err
