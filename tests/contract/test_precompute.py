"""Precomputation: it fills in what fills would, keeps to its time and memory, and changes no answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable

import pytest

import maskwright
from maskwright.ir import seq, star, tokens
from oracle.comparing import compile_fresh, mask_of
from oracle.grammars import A, B, grammar
from oracle.vocabularies import BYTES, SMALL, of

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"enum": ["small", "large"]}, "next": {"$ref": "#"}},
    "required": ["name", "size"],
    "additionalProperties": False,
}
ENDLESS = "([a-z]{1,60}[0-9]{1,60}){1,60}"


def compiled(pattern: str, **options: int) -> maskwright.CompiledGrammar:
    return maskwright.GrammarCompiler(BYTES.info(), **options).compile_regex(pattern)


def assert_all_is_known(ahead: maskwright.CompiledGrammar, output: Iterable[int]) -> None:
    """No mask on the way of an output is still to be computed."""
    misses = ahead.stats().mask_misses
    matcher = maskwright.GrammarMatcher(ahead)
    for token in output:
        mask_of(matcher, ahead.tokenizer_info.vocab_size)
        assert matcher.accept_token(token)
    assert ahead.stats().mask_misses == misses


def test_what_was_precomputed_is_not_computed_again() -> None:
    ahead = compile_fresh(grammar(star(seq(A, B)), B), SMALL)
    done = ahead.precompute(10_000_000)
    assert done.finished
    assert done.num_masks == ahead.stats().num_masks > 0
    assert_all_is_known(ahead, (0, 1, 0, 1))
    assert ahead.precompute(10_000_000).num_masks == 0


def test_whether_a_mask_is_known_is_whether_filling_it_computes_nothing() -> None:
    compiled_grammar = maskwright.GrammarCompiler(BYTES.info(), cache_enabled=False).compile_json_schema(SCHEMA)
    found = set()
    for budget in (None, 200):
        matcher = maskwright.GrammarMatcher(compiled_grammar, max_tokens=budget, budget="quick")
        for token in b'{"name": "aaa", "size": "large", "next": {"name": "bb", "size": "small"}}':
            known, misses = matcher.mask_is_known(), compiled_grammar.stats().mask_misses
            mask_of(matcher, BYTES.vocab_size)
            assert matcher.mask_is_known()
            if budget is None:  # those within a budget are not counted there
                assert (compiled_grammar.stats().mask_misses == misses) == known
            assert matcher.accept_token(token)
            found.add(known)
    assert found == {False, True}


def test_masks_are_the_same_with_and_without() -> None:
    compiler = maskwright.GrammarCompiler(BYTES.info(), cache_enabled=False)
    ahead, plain = (maskwright.GrammarMatcher(compiler.compile_json_schema(SCHEMA)) for _ in range(2))
    ahead.compiled_grammar.precompute(20_000)
    for token in b'{"name": "a\\u00e9", "size": "large"}':
        assert ahead.precompute(500).elapsed_us >= 0
        assert mask_of(ahead, BYTES.vocab_size) == mask_of(plain, BYTES.vocab_size)
        assert ahead.accept_token(token)
        assert plain.accept_token(token)
    assert ahead.is_completed()


def test_special_tokens_are_followed() -> None:
    ahead = compile_fresh(grammar(seq(tokens([SMALL.special[0]]), A, B)), SMALL)
    assert ahead.precompute(1_000_000).num_configurations >= 3


def test_tokens_that_longer_ones_begin_with_are_followed_where_they_go_on_otherwise() -> None:
    vocab = of("_", "_java", "1", "x", "y")
    ahead = maskwright.GrammarCompiler(vocab.info()).compile_regex("_(java|1)xy")
    assert ahead.precompute(10_000_000).finished
    assert_all_is_known(ahead, (0, 2, 3, 4))


def test_runs_of_white_space_are_followed_once() -> None:
    runs = [b" " * n + b"\n" for n in range(64)]
    ahead = maskwright.GrammarCompiler(of(*runs, "a").info()).compile_regex(r"([ \n]*a){3}")
    assert ahead.precompute(10_000_000).finished
    assert 0 < ahead.stats().num_transitions < len(runs)
    assert ahead.stats().num_configurations == ahead.stats().num_masks


def test_of_bytes_that_lead_to_the_same_one_is_followed() -> None:
    pairs = [bytes((a, b)) for a in range(97, 123) for b in range(97, 123)]
    vocab = of(*BYTES.token_bytes[:256], *pairs)
    ahead = maskwright.GrammarCompiler(vocab.info()).compile_regex(r'"([ !#-Z\^-~]|\\["n])*"')
    assert ahead.precompute(10_000_000).finished
    assert 0 < ahead.stats().num_transitions < 64
    assert_all_is_known(ahead, b'"cafe \\"\\n"')


@pytest.mark.parametrize("budget_us", [-1, -0.5, float("nan")])
def test_a_negative_time_is_refused(budget_us: float) -> None:
    with pytest.raises(maskwright.OptionError, match="budget_us must be >= 0"):
        compiled(ENDLESS).precompute(budget_us)


@pytest.mark.parametrize("budget_us", [0, 0.0])
def test_no_time_no_work(budget_us: float) -> None:
    assert compiled(ENDLESS).precompute(budget_us)[:3] == (0, 0, False)


def test_it_keeps_to_its_time_and_goes_further_when_called_again() -> None:
    ahead = compiled(ENDLESS)
    first = ahead.precompute(3_000)
    assert not first.finished
    assert 0 < first.elapsed_us < 1_000_000
    assert ahead.precompute(100_000).num_masks > 0
    with pytest.raises((TypeError, ValueError)):
        ahead.precompute("long")  # type: ignore[arg-type]


def test_it_leaves_half_of_the_memory() -> None:
    ahead = compiled(ENDLESS, grammar_limit_bytes=2 << 20)
    ahead.precompute(2_000_000)
    assert ahead.memory_size_bytes < 2 << 20
    assert ahead.stats().num_flushes == 0


def test_a_terminated_matcher_has_nothing_ahead() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(A), SMALL))
    matcher.accept_tokens([0, SMALL.stop[0]])
    assert matcher.precompute(1_000).finished


def test_other_threads_run_meanwhile() -> None:
    ahead, turns = compiled(ENDLESS), 0
    worker = threading.Thread(target=ahead.precompute, args=(200_000,))
    worker.start()
    while worker.is_alive():
        maskwright.GrammarMatcher(ahead).accept_token(ord("a"))
        turns += 1
    assert turns > 10


def test_an_interrupt_ends_it() -> None:
    ahead = compiled(ENDLESS, grammar_limit_bytes=1 << 30)
    timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))

    def work() -> None:
        timer.start()
        ahead.precompute(20_000_000)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()
    assert maskwright.GrammarMatcher(ahead).accept_token(ord("a"))
