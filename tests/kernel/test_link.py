"""Linking: what is shared, what is decided without building automata, and what large grammars cost.

Costs are pinned by what is made, not by the clock: rule groups, and bytes of automata.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import maskwright as mw
from maskwright import ir
from maskwright.ir import (
    ANY_BYTE,
    EMPTY,
    Expr,
    alt,
    and_,
    byte_range,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
)

TOKENS = [bytes([b]) for b in range(256)]
LETTER = byte_range(0x61, 0x7A)


def new_compiler() -> mw.GrammarCompiler:
    return mw.GrammarCompiler(
        mw.TokenizerInfo.from_vocab([*TOKENS, b"</s>"], stop_token_ids=[256]), cache_enabled=False
    )


COMPILER = new_compiler()


def grammar(*bodies: Expr) -> mw.Grammar:
    return mw.Grammar(ir.GrammarIR(tuple(ir.Rule(f"r{i}", body) for i, body in enumerate(bodies)), 0))


def num_groups(compiler: mw.GrammarCompiler) -> int:
    return compiler.tokenizer_info.kernel_vocabulary.num_rule_groups


def accepts(compiled: mw.CompiledGrammar, string: bytes) -> bool:
    matcher = mw.GrammarMatcher(compiled)
    return all(matcher.accept_token(byte) for byte in string) and matcher.is_completed()


SATISFIABLE = {
    "a name, but one": (and_(plus(LETTER), not_(text("a"))), b"b"),
    "a name, but some": (and_(star(LETTER), not_(alt(text("a"), text("ab"), text("")))), b"abc"),
    "the empty string alone": (and_(star(LETTER), optional(text("1"))), b""),
    "one letter, but one": (and_(LETTER, not_(text("q"))), b"z"),
    "few of many": (and_(repeat(LETTER, 20, 30), not_(repeat(LETTER, 20, 29))), b"a" * 30),
    "what is not": (not_(star(LETTER)), b"1"),
    "what ends after a count": (
        and_(seq(star(LETTER), text("!")), seq(repeat(ANY_BYTE, 30), text("!"))),
        b"a" * 30 + b"!",
    ),
    "dead branch": (alt(text("a"), seq(text("b"), and_(text("x"), text("y")))), b"a"),
    "dead repetition": (seq(text("a"), star(and_(text("x"), text("y")))), b"a"),
}
UNSATISFIABLE = {
    "one letter, but all": (and_(LETTER, not_(LETTER)),),
    "finite, but all of it": (and_(repeat(LETTER, 0, 2), not_(repeat(LETTER, 0, 5))),),
    "infinite, but all of it": (and_(plus(LETTER), not_(star(LETTER))),),
    "lengths apart": (and_(repeat(LETTER, 20, 30), repeat(LETTER, 31, 40)),),
    "counted beside a pattern": (and_(seq(plus(text("ab")), text("!")), seq(repeat(ANY_BYTE, 31, 31), text("!"))),),
    "no base case": (seq(text("a"), ref(0)),),
    "no base case, by turns": (seq(text("a"), ref(1)), alt(seq(ref(0), ref(1)), seq(text("b"), ref(0)))),
    "a dead item is needed": (seq(text("a"), repeat(ref(1), 20, 30)), seq(text("b"), ref(1))),
    "a dead rule far down": (ref(1), ref(2), seq(EMPTY, ref(3)), and_(text("x"), text("y"))),
    "tokens that do not exist": (ir.tokens([999]),),
}


@pytest.mark.parametrize("name", SATISFIABLE)
def test_what_can_be_satisfied_is(name: str) -> None:
    expr, example = SATISFIABLE[name]
    compiled = COMPILER.compile_grammar(grammar(seq(text("<"), expr, text(">"))))
    assert accepts(compiled, b"<" + example + b">")


@pytest.mark.parametrize("name", UNSATISFIABLE)
def test_what_cannot_be_satisfied_is_refused(name: str) -> None:
    with pytest.raises(mw.UnsatisfiableError):
        COMPILER.compile_grammar(grammar(*UNSATISFIABLE[name]))


def test_the_same_structure_is_linked_once() -> None:
    compiler = new_compiler()
    inner = seq(text("["), optional(seq(ref(0), star(seq(text(","), ref(0))))), text("]"))
    first = compiler.compile_grammar(grammar(alt(inner, plus(LETTER))))
    groups = num_groups(compiler)
    # Made anew, behind another root, at another index.
    again = seq(text("["), optional(seq(ref(1), star(seq(text(","), ref(1))))), text("]"))
    second = compiler.compile_grammar(grammar(seq(text("x"), ref(1)), alt(again, plus(byte_range(0x61, 0x7A)))))
    assert num_groups(compiler) == groups + 1
    assert accepts(first, b"[a,[b]]")
    assert accepts(second, b"x[a,[b]]")


def test_a_rule_is_built_when_it_is_first_needed() -> None:
    words = alt(*(text(f"{i * 7919 % 10_007:x}" * 3) for i in range(10_000)))
    compiled = new_compiler().compile_grammar(grammar(seq(text("a"), alt(text("b"), seq(text("c"), ref(1)))), words))
    bitmask = mw.allocate_token_bitmask(1, 257)
    matcher = mw.GrammarMatcher(compiled)
    matcher.accept_token(ord("a"))
    matcher.fill_next_token_bitmask(bitmask)
    before = compiled._native.shared_memory_bytes
    assert before < 10_000
    matcher.accept_token(ord("c"))
    matcher.fill_next_token_bitmask(bitmask)
    assert compiled._native.shared_memory_bytes > 10 * before
    assert np.flatnonzero(bitmask).size > 0


def test_choices_share_their_ends() -> None:
    compiled = new_compiler().compile_choices(f"number {i:05} of many" for i in range(100_000))
    assert accepts(compiled, b"number 31415 of many")
    assert not accepts(compiled, b"number 3141 of many")
    assert compiled._native.shared_memory_bytes < 20_000  # some 30 states, where a trie has a million


def test_a_choice_may_begin_another() -> None:
    words = ["", "a", "ab", "abc", "b", "bc", "xbc", "xb", "abcd", "é"]
    compiled = new_compiler().compile_choices(words)
    for word in words:
        assert accepts(compiled, word.encode())
    for other in ("c", "abcde", "x", "xbcd", "ac"):
        assert not accepts(compiled, other.encode())


def test_rules_in_a_chain() -> None:
    count = 50_000
    compiler = new_compiler()
    links = [seq(text("a"), ref(i + 1)) for i in range(count)]
    compiled = compiler.compile_grammar(grammar(*links, text("b")))
    assert num_groups(compiler) < count / 5  # small rules are inlined into their callers
    assert accepts(compiled, b"a" * count + b"b")


def test_rules_that_call_each_other_are_one_group() -> None:
    count = 20_000
    ring = [alt(seq(text("a"), ref((i + 1) % count)), seq(text("b"), ref(i - 1))) for i in range(1, count)]
    compiler = new_compiler()
    compiled = compiler.compile_grammar(grammar(alt(text("x"), seq(text("y"), ref(1))), *ring))
    assert num_groups(compiler) == 1
    assert accepts(compiled, b"yaabbbx")


def test_what_rules_hold_is_accounted() -> None:
    compiler = new_compiler()
    vocabulary = compiler.tokenizer_info.kernel_vocabulary
    bitmask = mw.allocate_token_bitmask(1, 257)
    for i in range(300):
        matcher = mw.GrammarMatcher(compiler.compile_regex(f"[a-z]{{{i},{i + 9}}}x{i}"))
        matcher.fill_next_token_bitmask(bitmask)
    del matcher
    gc.collect()
    assert 0 < vocabulary.rule_memory_bytes < 300 * 20_000
