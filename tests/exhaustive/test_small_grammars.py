"""Small grammars × short strings × tiny vocabularies: every mask bit against the oracle, in every kind of state."""

from __future__ import annotations

import random
import threading

import pytest

import maskwright
from maskwright.ir import GrammarIR
from oracle.comparing import check_state, compare_with_oracle, compile_fresh, compile_ir, rebuilt, scaled, seeded, walk
from oracle.grammars import one_rule_grammars, random_grammar, two_rule_grammars
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import SMALL, Vocab, random_vocab

EDGE_IDS = (3, SMALL.special[0], SMALL.stop[1])  # an ordinary token, a special one and a stop token


def every_path(grammar: GrammarIR, vocab: Vocab, depth: int, rng: random.Random) -> None:
    """All token sequences of up to `depth` allowed tokens, depth first, by accept and rollback on one matcher."""
    language = Language(grammar)
    if not language.viable(()):
        return
    compiled = compile_fresh(grammar, vocab)
    matcher, model = maskwright.GrammarMatcher(compiled), ModelMatcher(language, vocab)

    def visit(depth: int) -> None:
        check_state(matcher, model, rng)
        for token in sorted(model.allowed()) if depth else ():
            assert matcher.accept_token(token)
            assert model.accept_token(token)
            visit(depth - 1)
            matcher.rollback(1)
            model.rollback(1)
        check_state(matcher, model, rng)

    visit(depth)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_path_of_the_smallest_grammars(size: int) -> None:
    rng = seeded(f"size {size}")
    for grammar in one_rule_grammars(size):
        every_path(grammar, SMALL, 1, rng)


def test_one_rule_grammars() -> None:
    rng = seeded("one rule")
    for grammar in rng.sample(one_rule_grammars(4) + one_rule_grammars(5), scaled(110)):
        compare_with_oracle(grammar, SMALL, rng, steps=5)


def test_two_rule_grammars() -> None:
    rng = seeded("two rules")
    for grammar in rng.sample(list(two_rule_grammars(3)), scaled(110)):
        compare_with_oracle(grammar, SMALL, rng, steps=5)


def test_random_grammars() -> None:
    rng = seeded("random grammars")
    for _ in range(scaled(110)):
        compare_with_oracle(random_grammar(rng, EDGE_IDS), SMALL, rng, steps=5)


def test_random_vocabularies() -> None:
    rng = seeded("vocabularies")
    for _ in range(scaled(50)):
        vocab = random_vocab(rng)
        edges = tuple(rng.sample(range(len(vocab.token_bytes)), 3))
        compare_with_oracle(random_grammar(rng, edges), vocab, rng, steps=4)


def productive_languages(rng: random.Random, count: int) -> list[Language]:
    found: list[Language] = []
    while len(found) < count:
        language = Language(random_grammar(rng, EDGE_IDS))
        if language.viable(()):
            found.append(language)
    return found


def test_grammars_that_share_one_compiler() -> None:
    """Interleaved use of many grammars on one tokenizer: their caches must not mix."""
    rng = seeded("shared")
    compiler = maskwright.GrammarCompiler(SMALL.info())
    languages = productive_languages(rng, scaled(12))
    compiled = [compile_ir(language.grammar, compiler) for language in languages]
    for _ in range(scaled(60)):
        i = rng.randrange(len(languages))
        walk(compiled[i], languages[i], SMALL, rng, steps=3)


def test_threads_share_one_compiler() -> None:
    """Two threads walk the same and different grammars at once."""
    compiler = maskwright.GrammarCompiler(SMALL.info())
    languages = productive_languages(seeded("threads"), scaled(8))
    compiled = [compile_ir(language.grammar, compiler) for language in languages]
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        rng = seeded(f"thread {seed}")
        try:
            for grammar, language in zip(compiled, languages, strict=True):
                walk(grammar, Language(language.grammar), SMALL, rng, steps=4)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_flushes_change_nothing() -> None:
    """With a memory budget that is always exceeded, matchers replay their tokens all the time."""
    rng = seeded("flushes")
    flushes = 0
    for language in productive_languages(rng, scaled(30)):
        compiler = maskwright.GrammarCompiler(SMALL.info(), grammar_limit_bytes=1)
        compiled = compile_ir(language.grammar, compiler)
        walk(compiled, language, SMALL, rng, steps=4)
        flushes += compiled._native.num_flushes
    assert flushes, "nothing was flushed"


def test_state_is_rebuilt_from_the_tokens() -> None:
    """A matcher that came by detours equals one that took the tokens in one go, and one that took the bytes."""
    rng = seeded("rebuilt")
    for language in productive_languages(rng, scaled(25)):
        compiled = compile_fresh(language.grammar, SMALL)
        model = ModelMatcher(language, SMALL)
        for _ in range(4):
            plain = sorted(t for t in model.allowed() if t not in SMALL.special)
            if not plain:
                break
            model.accept_token(rng.choice(plain))
        check_state(rebuilt(compiled, model.tokens), model, rng)
