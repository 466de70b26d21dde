"""Remembered text as it is written in EBNF, and in Lark as that is printed.

Every mask bit, and all that a matcher tells, against the oracle.
"""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import maskwright
from exhaustive.remembered_ebnf import random_ebnf
from maskwright.ir import GrammarIR
from oracle.comparing import mask_of, scaled, seeded, walk
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import Vocab, of, random_vocab, strings

SLASHES = of(*strings(b"ab/", 1), "ab", "ba", "a/", "/a", "aba", stop=(b"</s>",), padding=3)
LIMITS = {"left_recursive_repetition"}


def vocab_for(rng: random.Random) -> Vocab:
    return random_vocab(rng) if rng.random() < 0.1 else SLASHES


def compiled_or_none(
    source: str, meaning: GrammarIR, compiler: maskwright.GrammarCompiler, as_lark: bool = False
) -> maskwright.CompiledGrammar | None:
    """None where the grammar is beyond a limit, or, as Lark, holds complements that are no characters."""
    try:
        grammar = maskwright.Grammar.from_ebnf(source)
        return compiler.compile_grammar(maskwright.Grammar.from_lark(grammar.to_lark()) if as_lark else grammar)
    except maskwright.UnsatisfiableError:
        assert not Language(meaning).viable(()), source
    except maskwright.LimitError as error:
        assert error.limit in LIMITS, source  # noqa: PT017
    except maskwright.GrammarError as error:
        assert as_lark, source
        assert "bytes that are not whole characters" in error.message, source  # noqa: PT017
    return None


@pytest.mark.parametrize("as_lark", [False, True], ids=["EBNF", "Lark"])
def test_random_grammars(as_lark: bool) -> None:
    seen: Counter[bool] = Counter()
    for i in range(scaled(60)):
        rng = seeded(f"remembered EBNF {i}")
        source, meaning = random_ebnf(rng)
        vocab = vocab_for(rng)
        compiled = compiled_or_none(source, meaning, maskwright.GrammarCompiler(vocab.info()), as_lark)
        seen[compiled is not None] += 1
        if compiled is not None:
            language = Language(meaning)
            assert language.viable(()), source
            walk(compiled, language, vocab, rng, steps=4)
    assert seen[True] > seen[False]


def expected_masks(meaning: GrammarIR, vocab: Vocab, rng: random.Random) -> list[tuple[int, set[int]]]:
    """Tokens of an output, each with what is allowed there."""
    model, out = ModelMatcher(Language(meaning), vocab), []
    for _ in range(4):
        allowed = model.allowed()
        if not allowed:
            break
        token = rng.choice(sorted(allowed))
        out.append((token, allowed))
        model.accept_token(token)
    return out


@pytest.mark.parametrize("limit_bytes", [0, 1 << 26], ids=["engines that start over", "large engines"])
def test_threads_and_batches_on_one_tokenizer(limit_bytes: int) -> None:
    for i in range(scaled(6)):
        rng = seeded(f"remembered together {i}")
        compiler = maskwright.GrammarCompiler(SLASHES.info(), grammar_limit_bytes=limit_bytes)
        cases = []
        while len(cases) < 4:
            source, meaning = random_ebnf(rng)
            compiled = compiled_or_none(source, meaning, compiler)
            if compiled is not None:
                cases += [(compiled, expected_masks(meaning, SLASHES, rng)) for _ in range(2)]

        def follow_all(order: random.Random, cases: list = cases) -> None:  # type: ignore[type-arg]
            for compiled, steps in order.sample(cases, len(cases)):
                matcher = maskwright.GrammarMatcher(compiled)
                for token, allowed in steps:
                    assert mask_of(matcher, SLASHES.vocab_size) == allowed
                    assert matcher.accept_token(token)

        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(follow_all, random.Random(n)) for n in range(4)]:
                done.result()
        follow_together([(compiled, steps) for compiled, steps in cases if steps])


def follow_together(cases: list[tuple[maskwright.CompiledGrammar, list[tuple[int, set[int]]]]]) -> None:
    matchers = [maskwright.GrammarMatcher(compiled) for compiled, _ in cases]
    batch = maskwright.BatchGrammarMatcher(matchers)
    for step in range(min(len(steps) for _, steps in cases)):
        bitmask = maskwright.allocate_token_bitmask(len(cases), SLASHES.vocab_size)
        batch.fill_next_token_bitmask(bitmask)
        for row, (_, steps) in enumerate(cases):
            bits = {t for t in range(SLASHES.vocab_size) if bitmask[row, t // 32] >> (t % 32) & 1}
            assert bits == steps[step][1]
        assert all(batch.accept_token([steps[step][0] for _, steps in cases]))
