"""The limits of engines as budgets: a place for the stop token where it fits, and the shortest output."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest

from corpora import LLAMA3
from maskwright import (
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    LimitError,
    MaskwrightError,
    OptionError,
    TokenizerInfo,
    UnsatisfiableError,
)
from maskwright.integrations.budgets import least_tokens, matcher_within
from oracle.comparing import mask_of

LETTERS = TokenizerInfo.from_vocab([b"a", b"b", b"ab", b"</s>"], special_token_ids=[3], stop_token_ids=[3])
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
SENTENCES = {
    "type": "object",
    "properties": {
        name * 40: {"type": "string", "pattern": r"^(?:\S+\s+){0,49}\S+$", "maxLength": 500} for name in "klmnop"
    },
    "required": [name * 40 for name in "klmnop"],
    "additionalProperties": False,
}


def language_like() -> TokenizerInfo:
    """All bytes, words and marks of JSON, digits in twos and threes, and white space of up to 16 characters."""
    words = ("name", "age", "tags", '{"', '":', ' "', '","', '":"', '",', '"}', "[]", " []", '": ', '":[', "[]}", '"]')
    digits = [f"{i:0{n}}" for n in (2, 3) for i in range(10**n)]
    spaces = [character * n for character in " \n\t" for n in range(2, 17)]
    texts = [*(bytes((b,)) for b in range(256)), *(text.encode() for text in (*words, *digits, *spaces))]
    return TokenizerInfo.from_vocab([*texts, b"</s>"], special_token_ids=[len(texts)], stop_token_ids=[len(texts)])


def llama_3() -> TokenizerInfo:
    load = pytest.importorskip("tiktoken.load")
    if not LLAMA3.exists():
        pytest.skip("needs ../shared/tokenizers/llama3.tiktoken")
    ranks = load.load_tiktoken_bpe(str(LLAMA3))
    return TokenizerInfo.from_vocab(
        [*sorted(ranks, key=ranks.__getitem__), b"</s>"], special_token_ids=[len(ranks)], stop_token_ids=[len(ranks)]
    )


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


@pytest.mark.parametrize("vocabulary", [language_like, llama_3])
@pytest.mark.parametrize("limit", [3, 6])
def test_an_ordinary_schema_is_refused_with_the_number_of_tokens_that_it_needs(
    vocabulary: Callable[[], TokenizerInfo], limit: int
) -> None:
    compiled = GrammarCompiler(vocabulary()).compile_json_schema(PERSON)
    with pytest.raises(UnsatisfiableError, match=rf"needs \d+ tokens, but max_tokens is {limit}\n") as refused:
        matcher_within(compiled, limit)
    needed = int(re.findall(r"needs (\d+) tokens", refused.value.message)[0])
    assert refused.value.hint == f"allow {needed} tokens or more"
    assert (refused.value.least_tokens, refused.value.enough_tokens) == (needed, needed)
    assert least_tokens(compiled) == needed
    with pytest.raises(UnsatisfiableError):
        matcher_within(compiled, needed - 1)
    matcher_within(compiled, needed)


def test_what_is_hard_to_judge_is_refused_with_both_bounds() -> None:
    compiled = GrammarCompiler(language_like()).compile_json_schema(SENTENCES)
    with pytest.raises(UnsatisfiableError, match=r"at least \d+ tokens, .* is 5; \d+ tokens are enough$") as refused:
        matcher_within(compiled, 5)
    least, enough = (int(number) for number in re.findall(r"(\d+) tokens", refused.value.message))
    assert 5 < least < enough
    assert (refused.value.least_tokens, refused.value.enough_tokens) == (least, enough)
    with pytest.raises(LimitError, match=rf"at least {least} tokens; {enough} tokens are enough$") as unknown:
        matcher_within(compiled, enough - 1)
    assert (unknown.value.least_tokens, unknown.value.enough_tokens) == (least, enough)
    matcher_within(compiled, enough)  # where a place for the stop token as well cannot be shown to be there


@pytest.mark.parametrize("vocabulary", [language_like, llama_3])
@pytest.mark.parametrize("max_tokens", [1, 100])
def test_many_required_members_are_refused_with_what_is_enough(
    vocabulary: Callable[[], TokenizerInfo], max_tokens: int
) -> None:
    """The search that would tell whether they fit takes all of its steps, and the refusal still has some."""
    names = [f"field_{i}_name" for i in range(40)]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names}
    compiled = GrammarCompiler(vocabulary()).compile_json_schema(schema, any_order=True)
    with pytest.raises(MaskwrightError, match=r"needs at least \d+ tokens?\b.*; \d+ tokens are enough$") as refused:
        GrammarMatcher(compiled, max_tokens=max_tokens)
    assert refused.value.enough_tokens is not None
    GrammarMatcher(compiled, max_tokens=refused.value.enough_tokens)


WORDS = ("identifier", "globalName", "geometryType", "reference", "fieldList", "features", "createdAt", "ownerName")


def words_in_any_order(count: int, depth: int) -> dict[str, object]:
    """An object of required words; so is the first of them, and so on."""
    text = {"type": "string"}
    first = words_in_any_order(count, depth - 1) if depth > 1 else text
    properties = {word: text if i else first for i, word in enumerate(WORDS[:count])}
    return {"type": "object", "properties": properties, "required": [*properties]}


@pytest.mark.parametrize("vocabulary", [language_like, llama_3])
@pytest.mark.parametrize(("count", "depth"), [(4, 1), (8, 1), (4, 3)])
def test_an_output_in_any_order_that_has_begun_ends_in_time(
    vocabulary: Callable[[], TokenizerInfo], count: int, depth: int
) -> None:
    """By either budget; of many orders, exact searches would go through all, so both allow the same tokens."""
    info = vocabulary()
    compiled = GrammarCompiler(info).compile_json_schema(words_in_any_order(count, depth), any_order=True)
    with pytest.raises(MaskwrightError) as refused:
        GrammarMatcher(compiled, max_tokens=1)
    enough = refused.value.enough_tokens
    assert enough is not None
    rng = random.Random(1)
    for max_tokens in (enough + 3, enough + 9):
        quick, exact = (GrammarMatcher(compiled, max_tokens=max_tokens, budget=each) for each in ("quick", "exact"))
        output: list[int] = []
        while not quick.is_terminated():
            allowed, all_allowed = mask_of(quick, info.vocab_size), mask_of(exact, info.vocab_size)
            assert allowed == all_allowed if count * depth > 4 else allowed <= all_allowed, output
            output.append(rng.choice(sorted(allowed)))
            assert quick.accept_token(output[-1])
            assert exact.accept_token(output[-1])
        assert len(output) <= max_tokens + 1
        text = b"".join(info.token_bytes[token] for token in output[:-1])
        assert set(WORDS[:count]) <= json.loads(text).keys()


def test_bounds_know_long_tokens_in_patterns() -> None:
    """Five times six digits and four dashes take fourteen tokens: 26 are left for what comes before them."""
    compiled = GrammarCompiler(language_like()).compile_regex("x*" + "-".join(["[0-9a-fA-F]{6}"] * 5))
    matcher = GrammarMatcher(compiled, max_tokens=40)
    count = 0
    while matcher.accept_token(ord("x")):
        count += 1
    assert 22 <= count <= 26


DISTINCT = 'root ::= Distinct(x, "a", min=2)\nx ::= "b"+'


def test_a_list_of_distinct_elements_has_a_budget() -> None:
    """`babb` needs four tokens, and no warning."""
    compiled = GrammarCompiler(LETTERS).compile_grammar(Grammar.from_ebnf(DISTINCT))
    matcher = matcher_within(compiled, 4)
    assert matcher.accept_tokens([1, 0, 1]) == 3
    assert not matcher.is_completed()
    assert not matcher.accept_token(0)
    assert matcher.accept_token(1)
    assert matcher.is_completed()


def test_without_room_for_a_list_there_is_no_budget_and_a_warning() -> None:
    compiled = GrammarCompiler(LETTERS).compile_grammar(Grammar.from_ebnf(DISTINCT))
    with pytest.warns(UserWarning, match="may be cut off at max_tokens"):
        matcher = matcher_within(compiled, 3)
    assert matcher.accept_string("babb")
    assert matcher.is_completed()
    with pytest.raises(UnsatisfiableError, match="needs at least 2 tokens, but max_tokens is 1; 4 tokens are enough"):
        matcher_within(compiled, 1)


def test_a_text_that_comes_again_fits_the_budget_as_well() -> None:
    compiled = GrammarCompiler(LETTERS).compile_grammar(Grammar.from_ebnf('root ::= x=[ab]+ "a" $x'))
    matcher = matcher_within(compiled, 4)
    assert matcher.accept_token(1)
    assert not matcher.accept_token(1)
    assert matcher.accept_tokens([0, 1]) == 2
    assert matcher.is_completed()
