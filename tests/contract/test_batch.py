"""A batch does what its matchers would do one by one, and a wrong call changes none of them."""

from __future__ import annotations

import gc
import random
import weakref

import numpy as np
import pytest

import maskwright
from maskwright.ir import alt, seq, star
from oracle.comparing import compile_ir, mask_of
from oracle.grammars import A, B, grammar
from oracle.vocabularies import SMALL

GRAMMARS = (grammar(star(A)), grammar(star(alt(A, B))), grammar(seq(A, B)), grammar(star(seq(A, B))))
WORDS = (SMALL.vocab_size + 31) // 32


@pytest.fixture
def matchers() -> list[maskwright.GrammarMatcher]:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    return [maskwright.GrammarMatcher(compile_ir(g, compiler)) for g in GRAMMARS]


def masks(matchers: list[maskwright.GrammarMatcher]) -> list[set[int]]:
    return [mask_of(m, SMALL.vocab_size) for m in matchers]


def test_fill_accept_rollback(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch, rng = maskwright.BatchGrammarMatcher(matchers), random.Random(1)
    singles = [m.fork() for m in matchers]
    for _ in range(20):
        tokens = [rng.choice(sorted(mask) or [0]) if rng.random() < 0.9 else -1 for mask in masks(singles)]
        accepted = batch.accept_token(tokens)
        assert accepted == [m.accept_token(t) for m, t in zip(singles, tokens, strict=True)]
        assert masks(matchers) == masks(singles)
        counts = [rng.randint(0, m.num_accepted_tokens) for m in singles]
        batch.rollback(counts)
        for single, count in zip(singles, counts, strict=True):
            single.rollback(count)
        assert masks(matchers) == masks(singles)


def test_fill_into_chosen_rows(matchers: list[maskwright.GrammarMatcher]) -> None:
    bitmask = maskwright.allocate_token_bitmask(6, SMALL.vocab_size)
    untouched = bitmask[[1, 4]].copy()
    rows = [5, 0, 3, 2]
    maskwright.BatchGrammarMatcher(matchers).fill_next_token_bitmask(bitmask, rows)
    for matcher, row in zip(matchers, rows, strict=True):
        alone = maskwright.allocate_token_bitmask(1, SMALL.vocab_size)
        matcher.fill_next_token_bitmask(alone)
        assert (bitmask[row] == alone[0]).all()
    assert (bitmask[[1, 4]] == untouched).all()


def test_the_tail_of_wide_rows_is_zero(matchers: list[maskwright.GrammarMatcher]) -> None:
    bitmask = np.full((6, WORDS + 3), -1, np.int32)
    maskwright.BatchGrammarMatcher(matchers).fill_next_token_bitmask(bitmask, [5, 0, 3, 2])
    assert (bitmask[[5, 0, 3, 2], WORDS:] == 0).all()
    assert (bitmask[[1, 4]] == -1).all()


def test_wrong_rows(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    bitmask = maskwright.allocate_token_bitmask(4, SMALL.vocab_size)
    before = bitmask.copy()
    for rows in ([0, 1, 2, 4], [0, 1, 2, -1], [0, 1, 2, 2**70], [0, 1, 2], [0, 1, 2, 3, 3], [0, 1, 2, 2]):
        with pytest.raises((maskwright.BitmaskError, maskwright.MatcherError)):
            batch.fill_next_token_bitmask(bitmask, rows)
    wide = np.full((4, WORDS + 1), -1, np.int32)
    with pytest.raises(maskwright.BitmaskError):
        batch.fill_next_token_bitmask(wide, [0, 1, 2, 4])
    assert (wide == -1).all()
    for bad in (bitmask[:3], np.zeros((4, WORDS - 1), np.int32), np.zeros((4, WORDS), np.int64)):
        with pytest.raises(maskwright.BitmaskError):
            batch.fill_next_token_bitmask(bad)
    assert (bitmask == before).all()


def test_wrong_counts(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    assert batch.accept_token([0, 0, 0, -1]) == [True, True, True, False]
    with pytest.raises(maskwright.MatcherError):
        batch.accept_token([0])
    for counts in ([1, 1, 1, 1], [1, 1, 1, -1], [1]):
        with pytest.raises(maskwright.MatcherError):
            batch.rollback(counts)
    assert [m.num_accepted_tokens for m in matchers] == [1, 1, 1, 0]


def test_lists_of_tokens(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch, rng = maskwright.BatchGrammarMatcher(matchers), random.Random(2)
    for _ in range(30):
        lists = [[rng.randrange(-1, 8) for _ in range(rng.randrange(4))] for _ in matchers]
        expected = [m.validate_tokens(tokens) for m, tokens in zip(matchers, lists, strict=True)]
        assert batch.validate_tokens(lists) == expected
        assert batch.validate_tokens(tuple(np.array(tokens, np.int32) for tokens in lists)) == expected
        assert batch.accept_tokens(lists) == expected
        batch.rollback([rng.randint(0, m.num_accepted_tokens) for m in matchers])
    with pytest.raises(maskwright.MatcherError):
        batch.accept_tokens([[0]])
    with pytest.raises(TypeError):
        batch.accept_tokens([0, 0, 0, 0])


def test_texts(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    assert batch.accept_string(["aa", b"ab", "b", "abab"]) == [True, True, False, True]
    assert [m.num_accepted_tokens for m in matchers] == [1, 1, 0, 1]
    with pytest.raises(maskwright.MatcherError):
        batch.accept_string(["a"])


def test_whether_to_apply_and_terminated() -> None:
    vocab = maskwright.TokenizerInfo.from_vocab([b"a", b"b"], stop_token_ids=[])
    compiler = maskwright.GrammarCompiler(vocab)
    free, bound = (
        maskwright.GrammarMatcher(compiler.compile_regex(r), override_stop_tokens=[]) for r in ("[ab]*", "a")
    )
    bitmask = maskwright.allocate_token_bitmask(2, 2)
    for _ in ("cold", "warm"):
        assert maskwright.BatchGrammarMatcher([free]).fill_next_token_bitmask(bitmask) is False
        assert maskwright.BatchGrammarMatcher([free, bound]).fill_next_token_bitmask(bitmask) is True
    ends = maskwright.GrammarMatcher(compiler.compile_regex("a"), terminate_without_stop_token=True)
    batch = maskwright.BatchGrammarMatcher([ends, free])
    assert batch.is_terminated() == [False, False]
    batch.accept_token([0, 0])
    assert batch.is_terminated() == [True, False]
    assert batch.is_completed() == [True, True]
    batch.reset()
    assert batch.is_terminated() == [False, False]
    assert batch.is_completed() == [False, True]
    assert (ends.num_accepted_tokens, free.num_accepted_tokens) == (0, 0)


def test_tokens_from_arrays_and_tensors(matchers: list[maskwright.GrammarMatcher]) -> None:
    torch = pytest.importorskip("torch")
    tokens = np.array([0, 1, 0, 7])
    given = [tokens, tokens.astype(np.int32), np.repeat(tokens, 2)[::2], torch.tensor(tokens), tokens.tolist()]
    for form in given:
        batch = maskwright.BatchGrammarMatcher([m.fork() for m in matchers])
        assert batch.accept_token(form) == [
            m.fork().accept_token(int(t)) for m, t in zip(matchers, tokens, strict=True)
        ]
    for wrong in (tokens.astype(np.float32), tokens.reshape(2, 2), 3, None, ["0"] * 4):
        with pytest.raises((TypeError, maskwright.MatcherError)):
            maskwright.BatchGrammarMatcher(matchers).accept_token(wrong)
    assert [m.num_accepted_tokens for m in matchers] == [0, 0, 0, 0]


def test_a_matcher_given_twice(matchers: list[maskwright.GrammarMatcher]) -> None:
    with pytest.raises(maskwright.MatcherError):
        maskwright.BatchGrammarMatcher([matchers[0], matchers[1], matchers[0]])


@pytest.mark.parametrize("wrong", [[None], ["matcher"], [object()], 3])
def test_no_matchers(wrong: object) -> None:
    with pytest.raises(TypeError):
        maskwright.BatchGrammarMatcher(wrong)  # type: ignore[arg-type]


def test_max_threads(matchers: list[maskwright.GrammarMatcher]) -> None:
    for wrong in (0, -1):
        with pytest.raises(maskwright.OptionError):
            maskwright.BatchGrammarMatcher(matchers, max_threads=wrong)
    for threads in (1, 2, 10**9):
        bitmask = maskwright.allocate_token_bitmask(4, SMALL.vocab_size)
        maskwright.BatchGrammarMatcher(matchers, max_threads=threads).fill_next_token_bitmask(bitmask)


def test_a_batch_in_a_cycle_is_collected(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    matchers[0].batch = batch  # type: ignore[attr-defined]
    gone = weakref.ref(batch)
    matchers.clear()
    del batch
    gc.collect()
    assert gone() is None


def test_empty_batch() -> None:
    batch = maskwright.BatchGrammarMatcher([])
    batch.fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, SMALL.vocab_size))
    assert batch.accept_token([]) == []
