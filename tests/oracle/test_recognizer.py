"""The judge is judged: recogniser and viability against the enumeration of all short words, by another method."""

from __future__ import annotations

import itertools
import random

import pytest

from maskwright import ir
from maskwright.ir import Expr, GrammarIR, alt, and_, literal, not_, ref, repeat, seq, star, tokens
from oracle.grammars import (
    A,
    B,
    grammar,
    one_rule_grammars,
    random_grammar,
    random_parametric_grammar,
    two_rule_grammars,
)
from oracle.recognizer import Symbol, is_viable, matches

Word = tuple[Symbol, ...]
MAX_LENGTH = 8
ALPHABET = (*b"abc", 0xC3, 0xA9)  # `c` stands for all bytes that no test grammar names
ALL_WORDS = {n: frozenset(itertools.product(ALPHABET, repeat=n)) for n in range(4)}


def words(e: Expr, rules: list[frozenset[Word]], limit: int) -> frozenset[Word]:
    """The words of `e` over ALPHABET with at most `limit` symbols, given those of the rules."""
    op = e[0]
    if op == ir.OP_EMPTY:
        return frozenset({()})
    if op == ir.OP_LITERAL:
        return frozenset({tuple(e[1])} if len(e[1]) <= limit else ())
    if op == ir.OP_SET:
        return frozenset((b,) for b in ALPHABET if e[1] >> b & 1)
    if op == ir.OP_TOKENS:
        return frozenset((("token", t),) for t in e[1])
    if op == ir.OP_REF:
        return rules[e[1]]
    if op == ir.OP_NEVER:
        return frozenset()
    parts = [words(part, rules, limit) for part in e[1:] if isinstance(part, Expr)]
    if op == ir.OP_ALT:
        return frozenset().union(*parts)
    if op == ir.OP_AND:
        return frozenset.intersection(*parts)
    if op == ir.OP_NOT:
        return frozenset().union(*(ALL_WORDS[n] for n in range(limit + 1))) - parts[0]
    if op == ir.OP_SEQ:
        return concatenations(parts, limit)
    assert op == ir.OP_REPEAT
    _, _, minimum, maximum = e
    # The k-fold products of words up to `limit` repeat from k = limit + 1 on, whether or not the empty word is in it.
    counts = range(minimum, 1 + (maximum if maximum != ir.UNBOUNDED else max(minimum, limit + 1)))
    powers = {k: concatenations([parts[0]] * min(k, limit + 1), limit) for k in counts[: limit + 2]}
    return frozenset().union(*powers.values())


def concatenations(parts: list[frozenset[Word]], limit: int) -> frozenset[Word]:
    out = frozenset({()})
    for part in parts:
        out = frozenset(x + y for x in out for y in part if len(x) + len(y) <= limit)
    return out


def language(g: GrammarIR, limit: int) -> frozenset[Word]:
    rules, before = [frozenset[Word]() for _ in g.rules], None
    while rules != before:
        before, rules = rules, [words(rule.body, rules, limit) for rule in g.rules]
    return rules[g.root]


def assert_agrees(g: GrammarIR, limit: int, checked: int, alphabet: tuple[Symbol, ...]) -> None:
    """Compare on all strings of up to `checked` symbols; completions may go up to `limit`."""
    lang = language(g, limit)
    prefixes = {word[:n] for word in lang for n in range(len(word) + 1)}
    for n in range(checked + 1):
        for word in itertools.product(alphabet, repeat=n):
            assert matches(g, word) == (word in lang), (g.dump(), word)
            assert is_viable(g, word) == (word in prefixes), (g.dump(), word)


def test_one_rule_grammars() -> None:
    largest = random.Random(0).sample(one_rule_grammars(4), 200)
    for g in [*one_rule_grammars(1), *one_rule_grammars(2), *one_rule_grammars(3), *largest]:
        assert_agrees(g, limit=MAX_LENGTH, checked=3, alphabet=tuple(b"ab"))


def test_two_rule_grammars() -> None:
    for g in random.Random(1).sample(list(two_rule_grammars(3)), 150):
        assert_agrees(g, limit=MAX_LENGTH, checked=2, alphabet=tuple(b"ab"))


def expanded(g: GrammarIR) -> GrammarIR:
    """The same language with one plain rule for each rule and value that is reached."""
    numbers: dict[tuple[int, int], int] = {(g.root, 0): 0}
    bodies: list[Expr] = []

    def plain(e: Expr, v: int) -> Expr:
        if e[0] == ir.OP_GUARD:
            return plain(e[1], v) if e[2].holds(v) else ir.never()
        if e[0] in (ir.OP_REF, ir.OP_CALL):
            callee = (e[1], 0 if e[0] == ir.OP_REF else e[2].of(v))
            return ref(numbers.setdefault(callee, len(numbers)))
        return Expr(plain(part, v) if isinstance(part, Expr) else part for part in e)

    while len(bodies) < len(numbers):
        rule, v = list(numbers)[len(bodies)]
        bodies.append(plain(g.rules[rule].body, v))
    return grammar(*bodies)


def test_a_parameter_stands_for_a_rule_for_each_value() -> None:
    rng = random.Random(3)
    for _ in range(300):
        g = random_parametric_grammar(rng, token_ids=(1, 2))
        by_value = expanded(g)
        for word in itertools.product((*b"ab", ("token", 1)), repeat=rng.randint(0, 3)):
            assert matches(g, word) == matches(by_value, word), (g.dump(), word)
            assert is_viable(g, word) == is_viable(by_value, word), (g.dump(), word)


X = ir.byte_set(ir.ALL_BYTES & ~(1 << ord("a")))


@pytest.mark.parametrize(
    "body",
    [
        not_(A),
        not_(star(A)),
        not_(not_(star(seq(A, B)))),
        and_(star(alt(A, B)), not_(seq(star(ir.ANY_BYTE), literal(b"ab"), star(ir.ANY_BYTE)))),
        and_(repeat(X, 1, 2), not_(alt(B, seq(B, B)))),
        and_(star(A), literal(b"b")),
        seq(not_(star(ir.ANY_BYTE)), A),
        seq(not_(repeat(ir.ANY_BYTE, 0, 1)), A),
        seq(tokens([1, 2]), star(A), tokens([2])),
        seq(not_(literal(b"ab")), tokens([1])),
        alt(tokens([1]), seq(A, ref(0))),
    ],
    ids=lambda e: e.dump(),
)
def test_complements_intersections_and_token_edges(body: Expr) -> None:
    assert_agrees(grammar(body), limit=3, checked=1, alphabet=(*b"abc", ("token", 1), ("token", 2)))


def test_random_grammars() -> None:
    rng = random.Random(2)
    for _ in range(300):
        g = random_grammar(rng, token_ids=(1, 2))
        lang = language(g, 3)
        for word in itertools.product((*b"ab", 0xC3, ("token", 1)), repeat=rng.randint(0, 3)):
            assert matches(g, word) == (word in lang), (g.dump(), word)
        for word in lang:
            assert all(is_viable(g, word[:n]) for n in range(len(word) + 1)), (g.dump(), word)


def test_large_repeats() -> None:
    g = grammar(seq(repeat(A, 3, 70), B))
    assert matches(g, b"a" * 70 + b"b")
    assert not is_viable(g, b"a" * 71)
    assert not is_viable(g, b"aab")
    assert is_viable(grammar(repeat(A, 10**6, 10**6)), b"aaa")
    assert matches(grammar(repeat(alt(A, ir.EMPTY), 10**6, 10**6)), b"aaa")


def test_words_without_completion_are_not_viable() -> None:
    assert not is_viable(grammar(seq(A, ref(0))), b"")
    assert not is_viable(grammar(alt(B, seq(A, ref(1))), seq(A, ref(1))), b"a")
    assert is_viable(grammar(alt(B, seq(A, ref(1))), seq(A, ref(1))), b"b")
