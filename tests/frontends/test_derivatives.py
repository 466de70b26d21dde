"""Derivatives, and which patterns have a name in common."""

from __future__ import annotations

import itertools
import re

import pytest

from maskwright.frontends.derivatives import common_match, derivative, has_many_matches, nullable, overlap
from maskwright.frontends.json_schema.emit.name_patterns import OverlapError, sets_of_patterns
from maskwright.frontends.json_schema.sets.strings import pattern_text
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import and_

PATTERNS = ["^ab", "^ac?$", "^[ab]+$", "b$", "c", "^(?!a)", "^$", "^.{2}$", "^a{2,3}$"]


def test_derivatives_read_a_text_byte_by_byte() -> None:
    for pattern in PATTERNS:
        for letters in itertools.chain.from_iterable(itertools.product("abc", repeat=n) for n in range(4)):
            text = "".join(letters)
            rest = pattern_text(pattern, None)
            for byte in text.encode():
                rest = derivative(rest, byte)
            assert nullable(rest) == bool(re.search(pattern, text)), (pattern, text)


def test_patterns_that_overlap_are_never_told_apart() -> None:
    names = ["".join(letters) for n in range(5) for letters in itertools.product("abc", repeat=n)]
    for a, b in itertools.combinations(PATTERNS, 2):
        if any(re.search(a, name) and re.search(b, name) for name in names):
            assert overlap(pattern_text(a, None), pattern_text(b, None)), (a, b)
            assert len(sets_of_patterns({a: None, b: None})) == 4, (a, b)


@pytest.mark.parametrize(
    ("patterns", "count"),
    [(["^table ", "^view ", "e$"], 6), (["^a$", "^b$", "^c$"], 4), (["^x:[0-9]:y", "^x:[0-9]:z"], 3)],
)
def test_patterns_that_begin_differently_are_told_apart(patterns: list[str], count: int) -> None:
    assert len(sets_of_patterns(dict.fromkeys(patterns))) == count


def test_a_long_search_for_a_common_match_ends() -> None:
    counts, others = (regex_to_expr(pattern) for pattern in ("((a{1,500}|b){1,500}c)+d", "[a-c]+e"))
    assert common_match(counts, others, 5_000) is None
    assert common_match(regex_to_expr("a*b"), regex_to_expr("[ab]{2}"), 5_000) is True
    assert common_match(regex_to_expr("a*b"), regex_to_expr("b[ab]"), 5_000) is False


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("[ab]{3}", 8), ("a|bc?", 3), ("(a|b|ab)c", 3), ("a{1,9}", 9), ("[0-9]{1,3}", 1110), ("", 1)],
)
def test_matches_are_counted(pattern: str, count: int) -> None:
    assert has_many_matches(regex_to_expr(pattern), count)
    assert not has_many_matches(regex_to_expr(pattern), count + 1)


def test_loops_have_many_matches() -> None:
    for pattern in ("a*b", "(aa)*", "x|y[0-9]+", "(a|b)+c"):
        assert has_many_matches(regex_to_expr(pattern), 1 << 20), pattern
    loop_without_end = and_(regex_to_expr("a*b?"), regex_to_expr("a?b?"))
    assert not has_many_matches(loop_without_end, 5)


def test_a_long_count_ends() -> None:
    assert not has_many_matches(regex_to_expr("((a{1,500}|b){1,500}c){500}d"), 1 << 60)


def test_too_many_overlaps_are_an_error() -> None:
    with pytest.raises(OverlapError):
        sets_of_patterns(dict.fromkeys("abcdefgh"))
