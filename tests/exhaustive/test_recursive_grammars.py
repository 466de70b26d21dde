"""Grammars whose rules call each other: collapsed cycles, merged states, inlined members, self calls as jumps."""

from __future__ import annotations

import itertools
import random

import pytest

from maskwright import Grammar, GrammarMatcher, UnsatisfiableError
from oracle import recognizer
from oracle.comparing import check_state, compile_fresh, mask_of, scaled, seeded, walk
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
    "a ring of rules that may be empty": 'root ::= x? y? "a"?\nx ::= y? root? "b"\ny ::= root? x?',
    "a ring with something between": 'root ::= x? "a" y?\nx ::= y? "b"? root?\ny ::= root? x? "c"',
    "itself, an odd number of times": 'root ::= root root root | "a" x\nx ::= root | root x | "b"',
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


BYTES = of("a", "b")
TEXTS = [bytes(text) for length in range(6) for text in itertools.product(b"ab", repeat=length)]


def random_part(rng: random.Random, num_rules: int, depth: int) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(['"a"', '"b"', '"ab"', '""'])
    if kind < 0.75 or depth == 0:
        return f"r{rng.randrange(num_rules)}" + rng.choice(["", "", "?", "?", "*"])
    if kind < 0.9:
        branches = [random_body(rng, num_rules, depth - 1) for _ in range(rng.randint(1, 2))]
        return f"({' | '.join(branches)})" + rng.choice(["", "?", "*", "+"])
    return f"r{rng.randrange(num_rules)}" + rng.choice(["{2}", "{0,2}", "{2,3}", "+"])


def random_body(rng: random.Random, num_rules: int, depth: int) -> str:
    return " ".join(random_part(rng, num_rules, depth) for _ in range(rng.randint(1, 3)))


def random_grammar(rng: random.Random) -> str:
    """Rules that mostly may be empty and call each other anywhere."""
    num_rules, rules = rng.randint(1, 5), ["root ::= r0"]
    for i in range(num_rules):
        branches = [random_body(rng, num_rules, 1) for _ in range(rng.randint(1, 3))]
        rules.append(f"r{i} ::= {' | '.join(branches)}" + rng.choice(["", ' | "a"', " |"]))
    return "\n".join(rules)


@pytest.mark.parametrize("seed", range(scaled(100)))
def test_random_rings(seed: int) -> None:
    rng = seeded(f"rings {seed}")
    ir = Grammar.from_ebnf(random_grammar(rng)).ir
    try:
        compiled = compile_fresh(ir, BYTES)
    except UnsatisfiableError:
        assert not recognizer.is_viable(ir, b"")
        return
    stop = BYTES.info().stop_token_ids[0]
    for text in rng.sample(TEXTS, 6):
        matcher = GrammarMatcher(compiled)
        whole = all(matcher.accept_token(BYTES.token_bytes.index(bytes((byte,)))) for byte in text)
        assert whole == recognizer.is_viable(ir, text), text
        if whole:
            assert (stop in mask_of(matcher, BYTES.vocab_size)) == recognizer.matches(ir, text), text
