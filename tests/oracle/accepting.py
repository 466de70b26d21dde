"""Ask the kernel whether texts belong to a grammar: with a vocabulary of all bytes, and a few longer tokens."""

from __future__ import annotations

import maskwright

TOKENS = [*(bytes((b,)) for b in range(256)), b"<think>", b"</think>", b"ab", b"</s>"]
THINK, END_THINK, AB, STOP = range(256, 260)
INFO = maskwright.TokenizerInfo.from_vocab(TOKENS, special_token_ids=[THINK, END_THINK, STOP], stop_token_ids=[STOP])
COMPILER = maskwright.GrammarCompiler(INFO, cache_enabled=False)


def matcher(grammar: maskwright.Grammar) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(COMPILER.compile_grammar(grammar))


def accepts(grammar: maskwright.Grammar, output: str | list[int]) -> bool:
    """Whether this is a whole output: a text, or token ids."""
    fresh = matcher(grammar)
    tokens = list(output.encode()) if isinstance(output, str) else output
    return fresh.accept_tokens(tokens) == len(tokens) and fresh.is_completed()


def check(grammar: maskwright.Grammar, accepted: list[str], rejected: list[str]) -> None:
    for text in accepted:
        assert accepts(grammar, text), (text, grammar.dump()[:2000])
    for text in rejected:
        assert not accepts(grammar, text), (text, grammar.dump()[:2000])
