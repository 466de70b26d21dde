"""Grammars whose rules call each other: merged states, inlined members and self calls turned into jumps."""

from __future__ import annotations

import pytest

from maskwright import Grammar, GrammarMatcher
from oracle.comparing import check_state, compile_fresh, scaled, seeded, walk
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import of, strings

VOCAB = of(*strings(b"abc()", 2), "a)b", "((c", "))", "caab", "abcabc", b"")

GRAMMARS = {
    "precedence": 'root ::= t ("a" t)*\nt ::= f ("b" f)*\nf ::= "c" | "(" root ")"',
    "precedence, left recursive": 'root ::= root "a" t | t\nt ::= t "b" f | f\nf ::= "c" | "(" root ")"',
    "unary chain": 'root ::= u ("a" u)*\nu ::= "b" u | p\np ::= f ("c" u)?\nf ::= "a" | "(" root ")"',
    "S S": 'root ::= root root | "a"',
    "S S S": 'root ::= root root root | root root "b" | "a"',
    "S S or empty": 'root ::= root root | "a" | ""',
    "operator on both sides": 'root ::= root "b" root | root "c" | "a"',
    "after the call a tail of another kind": 'root ::= "a" root "b" | "a" root | "c"',
    "ends in itself twice": 'root ::= "a" root | "b" root "c" root | "c"',
    "the caller begins as the rule does": 'root ::= "a" ("b" | root "b")* ("" | "c")',
    "nullable members": 'root ::= x y\nx ::= ("a" x)?\ny ::= ("b" x y)?',
    "circle of single calls": 'root ::= "a" x | "b"\nx ::= "b" y | "c"\ny ::= "c" x | "a" root',
    "elements": 'root ::= "(" c ")"\nc ::= (root | t | "b" c "b")*\nt ::= [ac]',
    "counted members": 'root ::= "(" x{2,20} ")" | "a"\nx ::= root | "b" root "c"',
    "palindromes": 'root ::= "a" root "a" | "b" root "b" | "c"',
    "indirect left recursion": 'root ::= x "a" | "b"\nx ::= y "b" | root "c"\ny ::= root | "c" x',
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_recursive_grammars(name: str) -> None:
    rng = seeded(name)
    language = Language(Grammar.from_ebnf(GRAMMARS[name]).ir)
    compiled = compile_fresh(language.grammar, VOCAB)
    for _ in range(scaled(2)):
        walk(compiled, language, VOCAB, rng, steps=6)


@pytest.mark.parametrize("entry", ["a", "b"])
@pytest.mark.parametrize(
    "cycle",
    [
        'x ::= y | "c"\ny ::= x',
        'x ::= y\ny ::= x | "c"',
        'x ::= x | y | "c"\ny ::= x',
        'x ::= (y "ab")?\ny ::= x',
        'x ::= "" | y | "c"\ny ::= x | "b" y',
    ],
)
def test_cycle_entered_at_either_rule(cycle: str, entry: str) -> None:
    """Of the calls in the cycle some are left, in one direction; the rule that is asked first may be the caller."""
    language = Language(Grammar.from_ebnf(f'root ::= "a" x "c" | "b" y "c"\n{cycle}').ir)
    matcher, model = GrammarMatcher(compile_fresh(language.grammar, VOCAB)), ModelMatcher(language, VOCAB)
    token = VOCAB.token_bytes.index(entry.encode())
    assert matcher.accept_token(token)
    assert model.accept_token(token)
    check_state(matcher, model, seeded(cycle))
