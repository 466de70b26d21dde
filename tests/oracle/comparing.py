"""Compare a matcher with the model, completely, in one state; and walk through states.

`check_state` looks at everything a matcher can tell: all mask bits, the answer of `accept_token` for every id and for
ids that do not exist, drafts, forced text, completion. `walk` goes through states by random accepts, rollbacks, forks,
resets and rebuilds, checking each. The mask must depend on nothing but what was accepted, so all states are judged
alike, however they were reached.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import maskwright
from maskwright.compiling.compiled_grammar import DEFAULT_GRAMMAR_BYTES
from maskwright.ir import GrammarIR
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import Vocab

SCALE = float(os.environ.get("MASKWRIGHT_EXHAUSTIVE", "1"))
SEED = os.environ.get("MASKWRIGHT_SEED", "")
NO_TOKENS = (-1, -(2**31), 2**31 - 1)


def scaled(count: int) -> int:
    """So many at the default size, more or fewer as MASKWRIGHT_EXHAUSTIVE says."""
    return max(1, round(count * SCALE))


def seeded(name: str) -> random.Random:
    """Random numbers that are the same in every run; others with another MASKWRIGHT_SEED."""
    return random.Random(f"{name} {SEED}")


def compile_ir(grammar: GrammarIR, compiler: maskwright.GrammarCompiler) -> maskwright.CompiledGrammar:
    text = maskwright.Grammar(grammar)
    try:
        return compiler.compile_grammar(text)
    except maskwright.UnsatisfiableError:  # of bytes that the vocabulary lacks: masks are exact for such grammars, too
        return maskwright.CompiledGrammar(text, compiler.tokenizer_info, memory_budget_bytes=DEFAULT_GRAMMAR_BYTES)


def compile_fresh(grammar: GrammarIR, vocab: Vocab) -> maskwright.CompiledGrammar:
    """Compile with nothing shared: own tokenizer, own caches."""
    return compile_ir(grammar, maskwright.GrammarCompiler(vocab.info()))


def mask_of(matcher: maskwright.GrammarMatcher, vocab_size: int) -> set[int]:
    """The allowed ids, read from a row that was dirty before."""
    bitmask = maskwright.allocate_token_bitmask(2, vocab_size)
    bitmask[:] = 0x5A5A5A5A
    restricts = matcher.fill_next_token_bitmask(bitmask, 1)
    assert (bitmask[0] == 0x5A5A5A5A).all(), "another row was touched"
    bits = np.unpackbits(bitmask[1].view(np.uint8), bitorder="little")
    assert restricts or bits[:vocab_size].all(), "said to allow all"
    assert not bits[vocab_size:].any() or not restricts, "bits past the vocabulary"
    return set(np.flatnonzero(bits[:vocab_size]).tolist())


def check_state(matcher: maskwright.GrammarMatcher, model: ModelMatcher, rng: random.Random) -> None:
    vocab, allowed = model.vocab, model.allowed()
    context = (model.language.grammar.dump(), vocab, model.tokens)
    assert mask_of(matcher, vocab.vocab_size) == allowed, context
    for token in (*range(vocab.vocab_size + 1), *NO_TOKENS):
        fork = matcher.fork()
        assert fork.accept_token(token) == (token in allowed), (context, token)
        assert fork.num_accepted_tokens == len(model.tokens) + (token in allowed), (context, token)
    refused = matcher.fork()
    for token in (*range(vocab.vocab_size + 1), *NO_TOKENS):
        assert token in allowed or not refused.accept_token(token), (context, token)
    assert mask_of(refused, vocab.vocab_size) == allowed, (context, "after refusals")
    assert matcher.is_completed() == model.is_completed, context
    assert matcher.is_terminated() == model.is_terminated, context
    assert matcher.forced_token() == (min(allowed) if len(allowed) == 1 else None), context
    forced = model.forced_bytes()
    assert matcher.find_jump_forward_string() == whole_characters(forced), context
    check_draft(matcher, model, [rng.choice([*allowed, rng.randrange(-1, vocab.vocab_size)]) for _ in range(3)])
    assert mask_of(matcher, vocab.vocab_size) == allowed, (context, "after asking")


def check_draft(matcher: maskwright.GrammarMatcher, model: ModelMatcher, draft: list[int]) -> None:
    """`validate_tokens` counts what would be accepted, `accept_tokens` accepts as much."""
    judge, fork = model.fork(), matcher.fork()
    good = next((n for n, token in enumerate(draft) if not judge.accept_token(token)), len(draft))
    assert matcher.validate_tokens(draft) == good
    assert fork.accept_tokens(draft) == good
    assert mask_of(fork, model.vocab.vocab_size) == judge.allowed()
    fork.rollback(good)
    assert mask_of(fork, model.vocab.vocab_size) == model.allowed()


def whole_characters(data: bytes) -> str:
    """As much of it as is UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def rebuilt(compiled: maskwright.CompiledGrammar, tokens: list[int]) -> maskwright.GrammarMatcher:
    """A new matcher that has accepted these tokens."""
    matcher = maskwright.GrammarMatcher(compiled)
    assert matcher.accept_tokens(tokens) == len(tokens)
    return matcher


def walk(
    compiled: maskwright.CompiledGrammar, language: Language, vocab: Vocab, rng: random.Random, steps: int
) -> None:
    """A random walk through states, each compared with the model."""
    matcher, model = maskwright.GrammarMatcher(compiled), ModelMatcher(language, vocab)
    check_state(matcher, model, rng)
    for _ in range(steps):
        action = rng.random()
        allowed = sorted(model.allowed())
        if allowed and action < 0.6:
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
            assert model.accept_token(token)
        elif action < 0.75 and model.tokens:
            count = rng.randint(1, len(model.tokens))
            matcher.rollback(count)
            model.rollback(count)
        elif action < 0.85:
            abandoned = matcher
            matcher = matcher.fork()
            for token in allowed[:1]:
                abandoned.accept_token(token)
        elif action < 0.95:
            matcher = rebuilt(compiled, model.tokens)
        else:
            matcher.reset()
            model = ModelMatcher(language, vocab)
        check_state(matcher, model, rng)


def compare_with_oracle(grammar: GrammarIR, vocab: Vocab, rng: random.Random, steps: int, walks: int = 2) -> None:
    """Walk more than once over the same compiled grammar: its caches are cold, then warm."""
    language = Language(grammar)
    if not language.viable(()):
        with pytest.raises(maskwright.UnsatisfiableError):
            compile_fresh(grammar, vocab)
        return
    compiled = compile_fresh(grammar, vocab)
    for _ in range(walks):
        walk(compiled, language, vocab, rng, steps)
