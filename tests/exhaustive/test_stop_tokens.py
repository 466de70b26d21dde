"""Stop tokens that are text or in sets of all tokens but some: every mask bit against the oracle.

An engine that samples a stop token stops, so none is output where anything else is allowed. Whether the grammar names
one, whether the matcher has it from the tokenizer or from the caller, whether it is the only way to go on, whether the
output is complete: all of that varies here.
"""

from __future__ import annotations

import random

import pytest

import maskwright
from maskwright.ir import alt, literal, seq, star, tokens
from oracle.budget_model import BudgetModel, TokenLanguage
from oracle.comparing import compile_fresh, compile_ir, mask_of, scaled, seeded, walk
from oracle.grammars import grammar, random_grammar
from oracle.model import Language
from oracle.vocabularies import SMALL, Vocab, random_vocab, with_stops

TEXT_STOPS = with_stops(SMALL, 0, 5, 14)  # "a", "bb", "c": the last one is the only token that has a "c"
EDGE_IDS = (4, 5, SMALL.special[0], SMALL.stop[1])


def text_stop_vocab(rng: random.Random) -> Vocab:
    vocab = random_vocab(rng)
    return with_stops(vocab, *rng.sample(range(len(vocab.token_bytes)), rng.randint(1, 3)))


def viable_language(rng: random.Random, edges: tuple[int, ...]) -> Language:
    while True:
        language = Language(random_grammar(rng, edges))
        if language.viable(()):
            return language


def test_random_grammars() -> None:
    rng = seeded("text stops")
    for _ in range(scaled(25)):
        language = viable_language(rng, EDGE_IDS)
        compiled = compile_fresh(language.grammar, TEXT_STOPS)
        walk(compiled, language, TEXT_STOPS, rng, steps=5)
        walk(compiled, language, TEXT_STOPS, rng, steps=5)


def test_random_vocabularies() -> None:
    rng = seeded("text stops of random vocabularies")
    for _ in range(scaled(50)):
        vocab = text_stop_vocab(rng)
        language = viable_language(rng, tuple(rng.sample(range(len(vocab.token_bytes)), 3)))
        walk(compile_fresh(language.grammar, vocab), language, vocab, rng, steps=5)


def test_flushes_change_nothing() -> None:
    rng = seeded("text stops and flushes")
    for _ in range(scaled(20)):
        language = viable_language(rng, EDGE_IDS)
        compiler = maskwright.GrammarCompiler(TEXT_STOPS.info(), grammar_limit_bytes=1)
        compiled = compile_ir(language.grammar, compiler)
        walk(compiled, language, TEXT_STOPS, rng, steps=4)


def test_token_budgets() -> None:
    """Near the end of a budget, only a stop token may be short enough."""
    rng, checked = seeded("text stops and budgets"), 0
    while checked < scaled(10):
        max_tokens = rng.randint(1, 4)
        ir = random_grammar(rng, EDGE_IDS)
        language = TokenLanguage(ir, TEXT_STOPS, max_tokens)
        if not language.viable(()):
            continue
        checked += 1
        compiled = compile_fresh(ir, TEXT_STOPS)
        matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
        model = BudgetModel(language)
        for _ in range(max_tokens + 1):
            allowed = model.allowed()
            assert mask_of(matcher, TEXT_STOPS.vocab_size) == allowed
            if not allowed:
                break
            token = rng.choice(sorted(allowed))
            assert matcher.accept_token(token)
            assert model.accept_token(token)


def test_overriding_is_as_having() -> None:
    """Stop tokens given to the matcher, and the same declared by the tokenizer."""
    rng = seeded("overridden stops")
    own = SMALL._replace(stop=(0, 4))
    for _ in range(scaled(30)):
        language = viable_language(rng, EDGE_IDS)
        first = maskwright.GrammarMatcher(compile_fresh(language.grammar, own))
        second = maskwright.GrammarMatcher(compile_fresh(language.grammar, SMALL), override_stop_tokens=[0, 4])
        for _ in range(5):
            allowed = mask_of(first, SMALL.vocab_size)
            assert mask_of(second, SMALL.vocab_size) == allowed
            if not allowed:
                break
            token = rng.choice(sorted(allowed))
            assert first.accept_token(token)
            assert second.accept_token(token)


SPECIAL_STOP = SMALL.special[0]
SETS = {
    "EBNF, all": lambda: maskwright.Grammar.from_ebnf('root ::= <[*]>* "c"'),
    "EBNF, all but": lambda: maskwright.Grammar.from_ebnf('root ::= ExcludeToken("</s>")* "c"'),
    "Lark, all": lambda: maskwright.Grammar.from_lark('start: <[*]>* "c"'),
    "Lark, all but": lambda: maskwright.Grammar.from_lark('start: <[^</s>]>* "c"'),
    "any_tokens": lambda: tag_of({"type": "any_tokens"}),
    "exclude_token": lambda: tag_of({"type": "star", "content": {"type": "exclude_token"}}),
}


def tag_of(free: dict[str, object]) -> maskwright.Grammar:
    end = {"type": "const_string", "value": "c"}
    return maskwright.Grammar.from_structural_tag({"format": {"type": "sequence", "elements": [free, end]}})


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("stop", [0, SPECIAL_STOP], ids=["text", "special"])
@pytest.mark.parametrize("bound", [False, True])
def test_a_set_given_by_what_it_lacks_does_not_name_stop_tokens(name: str, stop: int, bound: bool) -> None:
    own = SMALL.stop[1]
    grammar = SETS[name]()
    compiler = maskwright.GrammarCompiler(SMALL.info())
    compiled = compiler.compile_grammar(grammar.bound_to(SMALL.info()) if bound else grammar)
    plain = maskwright.GrammarMatcher(compiled)
    assert {0, 1, SPECIAL_STOP} <= mask_of(plain, SMALL.vocab_size)
    assert plain.accept_token(stop)
    matcher = maskwright.GrammarMatcher(compiled, override_stop_tokens=stop)
    allowed = mask_of(matcher, SMALL.vocab_size)
    assert stop not in allowed
    assert own not in allowed
    assert allowed == mask_of(plain, SMALL.vocab_size) - {stop}
    assert not matcher.accept_token(stop)
    assert matcher.validate_tokens([1, stop]) == 1
    assert matcher.accept_token(14), "the end of the text"
    assert mask_of(matcher, SMALL.vocab_size) == {*allowed, stop}
    assert matcher.accept_token(stop)
    assert matcher.is_terminated()


def test_a_set_that_names_a_stop_token_keeps_it() -> None:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    for text in ('root ::= <[0,1]> "c"', 'root ::= (<[0]> | <[*]>) "c"', f'root ::= <[{SPECIAL_STOP}]> "c"'):
        compiled = compiler.compile_grammar(maskwright.Grammar.from_ebnf(text))
        stop = SPECIAL_STOP if str(SPECIAL_STOP) in text else 0
        matcher = maskwright.GrammarMatcher(compiled, override_stop_tokens=stop)
        assert matcher.accept_token(stop), text
        assert not matcher.is_terminated()


def test_a_set_of_stop_tokens_alone_is_not_a_dead_end() -> None:
    compiled = compile_fresh(grammar(seq(tokens((0,), by_exclusion=True), literal(b"b"))), SMALL)
    matcher = maskwright.GrammarMatcher(compiled, override_stop_tokens=0)
    assert matcher.forced_token() == 0
    assert matcher.accept_token(0)
    assert mask_of(matcher, SMALL.vocab_size) == {1}


BODIES = {
    "text": (star(alt(literal(b"a"), literal(b"b"))), b""),
    "the only way": (literal(b"c"), b""),
    "the only way, complete without it": (star(literal(b"c")), b""),
    "named": (seq(literal(b"b"), tokens((0,))), b"b"),
}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("text", {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 16}),
        ("the only way", {14}),
        ("the only way, complete without it", set()),
        ("named", {0}),
    ],
)
def test_where_stop_tokens_are_text(name: str, allowed: set[int]) -> None:
    body, before = BODIES[name]
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(body), TEXT_STOPS))
    assert matcher.accept_string(before)
    stops = set(TEXT_STOPS.stop) if matcher.is_completed() else set()
    assert mask_of(matcher, TEXT_STOPS.vocab_size) == allowed | stops


def test_with_no_stop_token_needed_none_is_text() -> None:
    compiled = compile_fresh(grammar(star(alt(literal(b"a"), literal(b"c")))), TEXT_STOPS)
    matcher = maskwright.GrammarMatcher(compiled, terminate_without_stop_token=True)
    assert not mask_of(matcher, TEXT_STOPS.vocab_size) & set(TEXT_STOPS.stop)
    assert not matcher.accept_token(14)


def test_forced_tokens_drafts_and_batches_agree() -> None:
    compiled = compile_fresh(grammar(seq(literal(b"ab"), literal(b"c"), literal(b"b"))), TEXT_STOPS)
    matcher = maskwright.GrammarMatcher(compiled)
    assert matcher.validate_tokens([0, 1, 14, 1]) == 0, "the stop token a is not text"
    assert matcher.validate_tokens([3, 14, 1, 15]) == 3
    bitmask = maskwright.allocate_token_bitmask(6, TEXT_STOPS.vocab_size)
    assert matcher.fill_draft_bitmask([3, 14, 1], bitmask) == 3
    batch = maskwright.BatchGrammarMatcher([matcher.fork(), matcher.fork()])
    assert batch.accept_token([0, 3]) == [False, True]
    assert batch.accept_token([3, 14]) == [True, True]
    rows = maskwright.allocate_token_bitmask(2, TEXT_STOPS.vocab_size)
    batch.fill_next_token_bitmask(rows)
    assert (rows == bitmask[1:3]).all()
    assert [each.forced_token() for each in batch.matchers] == [14, 1]


def test_masks_made_ahead_are_the_same() -> None:
    compiled = compile_fresh(grammar(star(alt(literal(b"ab"), literal(b"c")))), TEXT_STOPS)
    fresh = maskwright.GrammarMatcher(compile_fresh(grammar(star(alt(literal(b"ab"), literal(b"c")))), TEXT_STOPS))
    compiled.precompute(50_000)
    ahead = maskwright.GrammarMatcher(compiled)
    for token in (3, 3):
        assert mask_of(ahead, TEXT_STOPS.vocab_size) == mask_of(fresh, TEXT_STOPS.vocab_size)
        assert ahead.accept_token(token)
        assert fresh.accept_token(token)
