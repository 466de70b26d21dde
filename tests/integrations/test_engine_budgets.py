"""The limits of engines as budgets: a place for the stop token where it fits, and the shortest output."""

from __future__ import annotations

import pytest

from maskwright import GrammarCompiler, GrammarMatcher, OptionError, TokenizerInfo, UnsatisfiableError
from maskwright.integrations.budgets import least_tokens, matcher_within

LETTERS = TokenizerInfo.from_vocab([b"a", b"b", b"ab", b"</s>"], special_token_ids=[3], stop_token_ids=[3])


def longest(matcher: GrammarMatcher, token: int) -> int:
    """How often the token is accepted, and whether the output is complete then."""
    count = 0
    while matcher.accept_token(token):
        count += 1
    assert matcher.is_completed()
    return count


@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (2, 1), (3, 2), (50, 49)])
def test_the_stop_token_has_its_place(limit: int, expected: int) -> None:
    compiled = GrammarCompiler(LETTERS).compile_regex("a+")
    assert longest(matcher_within(compiled, limit), 0) == expected


def test_an_output_that_needs_all_tokens_has_them() -> None:
    compiled = GrammarCompiler(LETTERS).compile_regex("a{5}")
    assert longest(matcher_within(compiled, 5), 0) == 5
    with pytest.raises(UnsatisfiableError, match="the shortest output needs 5 tokens, but max_tokens is 4"):
        matcher_within(compiled, 4)


def test_no_limit_and_wrong_limits() -> None:
    compiled = GrammarCompiler(LETTERS).compile_regex("a{5}")
    assert longest(matcher_within(compiled, None), 0) == 5
    assert matcher_within(compiled, 9, override_stop_tokens=[1]).stop_token_ids == [1]
    with pytest.raises(OptionError, match="must be >= 1"):
        matcher_within(compiled, 0)


@pytest.mark.parametrize(("pattern", "expected"), [("a*", 1), ("a", 1), ("(ab){7}", 7), ("a{1000}|b{33}", 33)])
def test_the_shortest_output(pattern: str, expected: int) -> None:
    assert least_tokens(GrammarCompiler(LETTERS).compile_regex(pattern)) == expected
