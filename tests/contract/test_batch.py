"""A batch does what its matchers would do one by one, and a wrong call changes none of them."""

from __future__ import annotations

import random

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
        accepted = batch.accept_tokens(tokens)
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


def test_wrong_rows(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    bitmask = maskwright.allocate_token_bitmask(4, SMALL.vocab_size)
    before = bitmask.copy()
    for rows in ([0, 1, 2, 4], [0, 1, 2, -1], [0, 1, 2], [0, 1, 2, 3, 3]):
        with pytest.raises((maskwright.BitmaskError, maskwright.MatcherError)):
            batch.fill_next_token_bitmask(bitmask, rows)
    for bad in (bitmask[:3], np.zeros((4, WORDS - 1), np.int32), np.zeros((4, WORDS), np.int64)):
        with pytest.raises(maskwright.BitmaskError):
            batch.fill_next_token_bitmask(bad)
    assert (bitmask == before).all()


def test_wrong_counts(matchers: list[maskwright.GrammarMatcher]) -> None:
    batch = maskwright.BatchGrammarMatcher(matchers)
    assert batch.accept_tokens([0, 0, 0, -1]) == [True, True, True, False]
    with pytest.raises(maskwright.MatcherError):
        batch.accept_tokens([0])
    for counts in ([1, 1, 1, 1], [1, 1, 1, -1], [1]):
        with pytest.raises(maskwright.MatcherError):
            batch.rollback(counts)
    assert [m.num_accepted_tokens for m in matchers] == [1, 1, 1, 0]


def test_empty_batch() -> None:
    batch = maskwright.BatchGrammarMatcher([])
    batch.fill_next_token_bitmask(maskwright.allocate_token_bitmask(1, SMALL.vocab_size))
    assert batch.accept_tokens([]) == []
