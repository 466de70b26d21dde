"""Token budgets where text is remembered: every mask bit against an enumeration of what may follow.

Vocabularies are tiny and hold tokens that reach across the ends of texts; some lack single letters.
"""

from __future__ import annotations

import random

import pytest

import maskwright
from exhaustive.test_remembered_text import CHOSEN, ELEMENT, NAME, random_memory
from exhaustive.test_token_budgets import check_quick_walk, check_state
from maskwright import ir
from maskwright.ir import GrammarIR, alt, literal, plus, recall, ref, remembering, seq, star
from oracle.budget_model import BudgetModel, EnumeratedLanguage
from oracle.comparing import mask_of, scaled, seeded
from oracle.grammars import AB, A, grammar
from oracle.vocabularies import Vocab, of
from timing import SLOWER, processor_seconds

LONGER = ("<a", "ab", "ba", "></", "a>", "/a", "b/", "a></a", "></b", "b><", "aba", "aa", "<b></b>", "/ab", "abab")


def random_vocab(rng: random.Random) -> Vocab:
    single = ["a", "b", "<", ">", "/"]
    if rng.random() < 0.3:
        single.remove(rng.choice(single))
    return of(*single, *rng.sample(LONGER, rng.randint(1, 4)), stop=(b"</s>",), padding=2)


def compare(g: GrammarIR, vocab: Vocab, max_tokens: int, rng: random.Random, memory: int | None = None) -> bool:
    """Walk through outputs, each state compared. False if there is none."""
    options = {} if memory is None else {"grammar_limit_bytes": memory}
    language = EnumeratedLanguage(g, vocab, max_tokens)
    try:
        compiled = maskwright.GrammarCompiler(vocab.info(), **options).compile_grammar(maskwright.Grammar(g))
        maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
    except maskwright.UnsatisfiableError:
        assert not language.viable(()), (g.dump(), vocab, max_tokens)
        return False
    except maskwright.LimitError as error:
        # With letters missing, texts may get longer forever and never end an output.
        assert error.limit.startswith("left_recursive") or not language.viable(()), (g.dump(), vocab)  # noqa: PT017
        return False
    assert language.viable(()), (g.dump(), vocab, max_tokens)
    for _ in range(2):
        follow(compiled, language, max_tokens, rng)
    return True


def follow(
    compiled: maskwright.CompiledGrammar, language: EnumeratedLanguage, max_tokens: int, rng: random.Random
) -> None:
    matcher, model = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact"), BudgetModel(language)
    for _ in range(max_tokens + 1):
        check_state(matcher, model, rng)
        allowed = sorted(model.allowed())
        if not allowed:
            break
        token = rng.choice(allowed)
        assert matcher.accept_token(token)
        assert model.accept_token(token)
        if rng.random() < 0.3:
            matcher.rollback(1)
            model.rollback(1)


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_budgets_of_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(f"budgets of {g.dump()}")
    for max_tokens in range(1, 5):
        compare(g, random_vocab(rng), max_tokens, rng)


@pytest.mark.parametrize("memory", [None, 2_000], ids=["roomy", "flushing"])
def test_budgets_of_outputs(memory: int | None) -> None:
    compared = 0
    for i in range(scaled(60)):
        rng = seeded(f"budgets of remembered text {i} {memory}")
        bodies = [random_memory(rng, 4, 9, (), 2) for _ in range(2)]
        g = grammar(*(alt(body, literal(b"b")) for body in bodies))
        compared += compare(g, random_vocab(rng), rng.choice((1, 2, 3, 3, 4)), rng, memory)
    assert compared > scaled(15)


def with_budgets(rng: random.Random, e: ir.Expr) -> ir.Expr:
    """Around what recalls nothing from outside."""
    return ir.span(e, max_tokens=rng.choice((1, 2, 2, 3))) if rng.random() < 0.5 else e


def test_budgets_of_rules() -> None:
    """Beside scopes, around them, and in rules that elements use."""
    compared = 0
    for i in range(scaled(60)):
        rng = seeded(f"budgets of rules that remember text {i}")
        body = alt(random_memory(rng, 3, 9, (), 2), literal(b"b"))
        inner = with_budgets(rng, rng.choice((star(AB), plus(alt(A, literal(b"/"))), literal(b"ab"))))
        g = grammar(seq(with_budgets(rng, body), rng.choice((inner, ref(1), ir.EMPTY))), inner)
        if "max_tokens" in g.dump():
            compared += compare(g, random_vocab(rng), rng.choice((2, 3, 3, 4)), rng)
    assert compared > scaled(15)


def test_budgets_of_texts_within_elements() -> None:
    rng = seeded("budgets of texts in elements")
    for most in (1, 2):
        inner = ir.span(plus(AB), max_tokens=most)
        tagged = remembering(NAME, 9, seq(literal(b">"), star(alt(ref(1), ref(0))), literal(b"</"), recall(9)))
        g = grammar(seq(literal(b"<"), tagged, literal(b">")), inner)
        for _ in range(scaled(5)):
            compare(g, random_vocab(rng), 5, rng)


def test_quick_budgets_complete_every_output() -> None:
    compared = less = 0
    for i in range(max(scaled(60), 40)):
        rng = seeded(f"quick budgets of remembered text {i}")
        bodies = [random_memory(rng, 4, 9, (), 2) for _ in range(2)]
        g = ELEMENT if i == 0 else grammar(*(alt(body, literal(b"b")) for body in bodies))
        vocab, max_tokens = of("a", "b", "<", ">", "/", *rng.sample(LONGER, 3), stop=(b"</s>",)), rng.randint(3, 5)
        try:
            compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(g))
            maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="quick")
        except (maskwright.LimitError, maskwright.UnsatisfiableError):
            continue
        compared += 1
        for _ in range(3):
            less += check_quick_walk(compiled, EnumeratedLanguage(g, vocab, max_tokens), max_tokens, rng)
    assert compared > 15
    assert less, "all exact: nothing was decided by bounds"


LETTERS = of(*(chr(c) for c in range(ord("a"), ord("z") + 1)), "<", ">", "/", "</", "><", "ab", stop=(b"</s>",))


def test_many_texts_are_decided_by_bounds() -> None:
    """Elements with free names: every output is complete, and the mask is never empty."""
    compiler = maskwright.GrammarCompiler(LETTERS.info())
    compiled = compiler.compile_grammar('root ::= "<" x=[a-z]+ ">" ([a-z] | root)* "</" $x ">"')
    rng = seeded("many texts")
    for max_tokens in range(6, 40):
        matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget="exact")
        while not matcher.is_terminated():
            assert matcher.accept_token(rng.choice(sorted(mask_of(matcher, LETTERS.vocab_size))))
        assert matcher.num_accepted_tokens <= max_tokens + 1


def test_a_rule_with_a_budget_holds_no_free_names() -> None:
    compiler = maskwright.GrammarCompiler(LETTERS.info())
    with pytest.raises(maskwright.LimitError) as caught:
        compiler.compile_grammar('root ::= "a" tag\ntag[max_tokens=9] ::= "<" x=[a-z]+ ">" $x')
    assert caught.value.limit == "remembered_text_budget"
    compiled = compiler.compile_grammar('root ::= "<" x=[a-z]+ ">" text $x\ntext[max_tokens=2] ::= "a"*')
    matcher = maskwright.GrammarMatcher(compiled)
    assert matcher.accept_string("<")
    ids = [LETTERS.token_bytes.index(text) for text in (b"b", b">", b"a", b"a")]
    assert matcher.accept_tokens(ids) == 4
    assert mask_of(matcher, LETTERS.vocab_size) == {LETTERS.token_bytes.index(b"b")}


def test_an_output_that_no_tokens_spell() -> None:
    """Texts get longer forever, but none of them ends the output."""
    vocab = of("a", "></b", stop=(b"</s>",))
    compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar('root ::= x="a"+ "b" $x')
    with pytest.raises(maskwright.UnsatisfiableError):
        maskwright.GrammarMatcher(compiled, max_tokens=3)


def test_long_texts() -> None:
    """A name of 100,000 letters takes no more than a moment near the end of the budget."""
    compiler = maskwright.GrammarCompiler(LETTERS.info())
    compiled = compiler.compile_grammar('root ::= "<" x=[a-z]+ ">" $x')
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=200_004)
    assert matcher.accept_string("<")

    def write() -> None:
        assert matcher.accept_tokens([LETTERS.token_bytes.index(b"a")] * 100_000) == 100_000
        assert mask_of(matcher, LETTERS.vocab_size) >= {LETTERS.token_bytes.index(b">")}

    assert processor_seconds(write) < 5 * SLOWER  # about 2.5 on an idle core
