"""Grammars that admit nothing, whatever the tokenizer."""

from __future__ import annotations

import pytest

from maskwright.frontends.ebnf import ebnf_to_ir
from maskwright.ir import GrammarIR, Rule, literal, never, ref, seq, span, subgrammar, tokens
from maskwright.ir.emptiness import admits_nothing

ROOT = ref(0)


def rule(body: object) -> GrammarIR:
    return GrammarIR((Rule("root", body),), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "[" root "]"',
        "root ::= <think> root",
        "root ::= <[5]> root",
        'root ::= a\na[max_tokens=3] ::= "x" a',
        "root ::= [0-9]+ & [a-z]+",
    ],
)
def test_nothing(text: str) -> None:
    assert admits_nothing(ebnf_to_ir(text))


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "[" root "]" | ""',
        "root ::= <think> root | <[5]>",
        "root ::= <think>",
        "root ::= <[99999]> <[5]>",
        'root[max_tokens=1] ::= "abcdef"',
        'root ::= "x" word\nword[max_tokens=1] ::= "abcdef"',
        "root ::= [0-9]+ & ~[a-z]+",
    ],
)
def test_something(text: str) -> None:
    assert not admits_nothing(ebnf_to_ir(text))


def test_inside_of_subgrammars() -> None:
    token = seq(literal(b"<"), tokens((999_999,)), literal(b">"))
    assert not admits_nothing(rule(seq(subgrammar(rule(token)), literal(b"!"))))
    assert admits_nothing(rule(seq(subgrammar(rule(seq(token, ROOT))), literal(b"!"))))
    assert not admits_nothing(rule(seq(span(literal(b"abc"), 1), token)))
    assert admits_nothing(rule(seq(span(literal(b"abc"), 1), token, never())))
