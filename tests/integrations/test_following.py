"""A matcher follows token ids as engines pass them: one more a step, fewer after drafts, others for a new output."""

from __future__ import annotations

import numpy as np
import pytest

from maskwright import (
    BitmaskError,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerError,
    TokenizerInfo,
    UnsatisfiableError,
)
from maskwright.integrations.following import (
    OutputFollower,
    OutputFollowers,
    check_choices,
    check_spelling,
    check_stop_tokens,
    check_width,
)

A, B, STOP = 0, 1, 3
LETTERS = TokenizerInfo.from_vocab([b"a", b"b", b"ab", b"</s>"], special_token_ids=[3], stop_token_ids=[3])


@pytest.fixture
def follower() -> OutputFollower:
    return OutputFollower(GrammarCompiler(LETTERS).compile_regex("(ab)+"), None)


def follow(follower: OutputFollower, *ids: int) -> int:
    follower.follow(np.array(ids))
    return follower.matcher.num_accepted_tokens


def test_one_token_more_a_step(follower: OutputFollower) -> None:
    prompt = (B, B, STOP)
    assert [follow(follower, *prompt, *output) for output in ([], [A], [A, B], [A, B, STOP])] == [0, 1, 2, 3]
    assert follower.matcher.is_terminated()


def test_the_context_bounds_the_budget() -> None:
    compiled = GrammarCompiler(LETTERS).compile_regex("(a|b){3,}")
    follower = OutputFollower(compiled, 8, context=10)
    assert follow(follower, *[B] * 6) == 0
    for output in ([A], [A, A], [A, A, B]):
        assert follow(follower, *[B] * 6, *output) == len(output)
    assert [follower.matcher.accept_token(token) for token in (A, STOP)] == [False, True]  # 4 tokens, one to stop
    with pytest.raises(UnsatisfiableError) as refused:
        follow(follower, *[A] * 9)
    assert "max_tokens is 1, as the prompt has 9 tokens and the model's context 10" in refused.value.message
    assert refused.value.hint == "shorten the prompt"
    assert follow(follower, *[B] * 2) == 0  # the next one fits


def test_what_was_followed_can_be_read(follower: OutputFollower) -> None:
    assert (follower.output_ids, follower.is_one_before(np.array([B]))) == ([], False)
    for output in ([], [A], [A, B]):
        follow(follower, STOP, *output)
    assert follower.output_ids == [A, B]
    assert follower.is_one_before(np.array([STOP, A, B, A]))
    for others in ([STOP, A, B], [STOP, A, A, A], [STOP, A, B, A, B]):
        assert not follower.is_one_before(np.array(others))


def test_ids_are_copied(follower: OutputFollower) -> None:
    ids = np.array([B, A, B])
    follower.follow(ids[:1])
    follower.follow(ids[:2])
    ids[1] = B  # engines use their buffers again
    assert follow(follower, B, A, B) == 2


def test_drafts_are_taken_back(follower: OutputFollower) -> None:
    for output in ([], [A], [A, B], [A, B, A]):
        follow(follower, B, *output)
    assert follow(follower, B, A) == 1
    assert follow(follower, B, A, B) == 2
    assert follow(follower, B, A, B, STOP) == 3


def test_an_engine_that_drafts_goes_on_behind_the_end() -> None:
    follower = OutputFollower(GrammarCompiler(LETTERS).compile_regex("(ab)+"), None, most_behind_end=2)
    for output in ([], [A], [A, B], [A, B, STOP], [A, B, STOP, STOP], [A, B, STOP, STOP, STOP]):
        follow(follower, B, *output)
    assert follower.matcher.num_accepted_tokens == 3
    for more in ([STOP], [A]):
        with pytest.raises(MatcherError, match="the output was complete"):
            follow(follower, B, A, B, STOP, STOP, STOP, *more)
    assert follow(follower, B, A, B, STOP, STOP) == 3, "one of them is taken back"
    assert follow(follower, B, A, B, A) == 3, "all of them, and the end"
    assert follow(follower, B, A, B, A, B) == 4
    assert follow(follower, B, A, B, A, B, STOP) == 5
    follow(follower, B, A, B, A, B, STOP, STOP)
    assert follow(follower, B) == 0, "a new output"
    follow(follower, B, A)
    assert follow(follower, B, A, B) == 2


def test_a_new_output_is_noticed(follower: OutputFollower) -> None:
    follow(follower, B)
    assert follow(follower, B, A) == 1
    assert follow(follower, B) == 0, "the same prompt again"
    follow(follower, B, A)
    assert follow(follower, A, A, A) == 0, "another prompt"
    follow(follower, A, A, A, A)
    follow(follower, A, A, A, A, B)
    assert follow(follower, A, A, A, A, B, STOP, B, B) == 0, "the next turn of a chat"
    follower.reset()
    assert follow(follower, A, A, A, A, B, STOP, B, B, B) == 0


def test_what_is_not_allowed_changes_nothing(follower: OutputFollower) -> None:
    follow(follower, B)
    follow(follower, B, A)
    with pytest.raises(MatcherError, match="token 0 at output position 1 is not allowed"):
        follow(follower, B, A, A)
    with pytest.raises(MatcherError, match="token 1 at output position 0 is not allowed"):
        follow(follower, B, B)
    assert follow(follower, B, A, B) == 2


def test_an_engine_that_does_not_stop(follower: OutputFollower) -> None:
    for output in ([], [A], [A, B], [A, B, STOP]):
        follow(follower, B, *output)
    with pytest.raises(MatcherError, match=r"went on with token 1: it does not stop at \[3\][\s\S]*stop_token_ids"):
        follow(follower, B, A, B, STOP, B)


@pytest.mark.parametrize(("width", "fits"), [(3, False), (4, True), (1028, True), (1029, False)])
def test_the_width_of_logits(width: int, fits: bool) -> None:
    if fits:
        check_width(width, LETTERS)
    else:
        with pytest.raises(BitmaskError, match=f"{width} logits, but the grammar's tokenizer has 4 ids"):
            check_width(width, LETTERS)


def test_stop_tokens_of_the_engine() -> None:
    check_stop_tokens(LETTERS, [2, 3])
    with pytest.raises(TokenizerError, match=r"end with a token of \[3\], but the engine stops at \[2\]"):
        check_stop_tokens(LETTERS, [2])


def test_scores_that_leave_nothing_to_sample() -> None:
    check_choices(-1e30)
    for score in (-np.inf, np.inf, np.nan):
        with pytest.raises(MatcherError, match="finite"):
            check_choices(score)


def test_rows_of_a_batch_in_turn() -> None:
    followers = OutputFollowers(GrammarCompiler(LETTERS).compile_regex("(ab)+"), None)

    def step(*ids: int) -> int:
        return followers.follow(np.array(ids, np.int32)).num_accepted_tokens

    for _ in range(2):  # the same prompts again
        assert [step(B), step(B), step(A, B)] == [0, 0, 0]
        assert [step(B, A), step(B, A), step(A, B, A)] == [1, 1, 1]
        assert [step(B, A, B), step(B, A, B), step(A, B, A, B)] == [2, 2, 2]
        assert [step(B, A, B, STOP), step(A, B, A, B, A)] == [3, 3]
        assert step(B, A, B, A) == 3
        assert step(A, B, A) == 1, "drafted tokens were taken back"
    with pytest.raises(MatcherError, match="is not allowed"):
        step(A, B, A, A)
    followers.reset()
    assert step(A, B, A, A) == 0


def test_an_output_that_the_vocabulary_cannot_go_on_with() -> None:
    info = TokenizerInfo.from_vocab([b"a", b"b", b"</s>"], stop_token_ids=[2], special_token_ids=[2])
    matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("a|bc"))
    check_spelling(matcher)
    assert matcher.accept_token(1)
    with pytest.raises(MatcherError, match="the output needs `c` next, which no token of the vocabulary can write"):
        check_spelling(matcher)
    assert matcher.accept_string("c")
    check_spelling(matcher)
