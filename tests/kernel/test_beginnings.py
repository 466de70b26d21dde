"""Grammars that begin with the same rules have these read once (cpp/bindings/read_ir.cpp): it must never show."""

from __future__ import annotations

import maskwright
from maskwright.ir import GrammarIR, Rule, plus, ref, seq, text
from oracle.comparing import mask_of

A = (Rule("a", text("a")), Rule("as", plus(ref(0))))
B = (Rule("a", text("b")), Rule("as", plus(ref(0))))


def tokenizer() -> maskwright.TokenizerInfo:
    return maskwright.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), b"</s>"], stop_token_ids=[256])


def grammar(beginning: tuple[Rule, ...], own: str) -> maskwright.Grammar:
    rule = Rule("root", seq(ref(len(beginning) - 1), text(own)))
    return maskwright.Grammar(GrammarIR((*beginning, rule), len(beginning)))


def masks(info: maskwright.TokenizerInfo, source: maskwright.Grammar, output: bytes) -> list[set[int]]:
    compiler = maskwright.GrammarCompiler(info, cache_enabled=False)
    matcher = maskwright.GrammarMatcher(compiler.compile_grammar(source))
    out = [mask_of(matcher, info.vocab_size)]
    for byte in output:
        assert matcher.accept_bytes(bytes((byte,)))
        out.append(mask_of(matcher, info.vocab_size))
    return out


def test_whatever_came_before() -> None:
    shared = tokenizer()
    for beginning, own in [
        (A, "x"),
        (A, "y"),
        (A, "c"),
        (B, "x"),
        (A[:1], "x"),
        (B, "c"),
        (B, "y"),
        (A, "x"),
        (A, "b"),
    ]:
        source = grammar(beginning, own)
        output = beginning[0].body[1] + own.encode()
        assert masks(shared, source, output) == masks(tokenizer(), source, output)


def test_the_same_grammar_again() -> None:
    shared, source = tokenizer(), grammar(A, "b")
    first = masks(shared, source, b"aab")
    assert all(masks(shared, source, b"aab") == first for _ in range(4))
