"""The judge of token budgets is judged: against the enumeration of all short token sequences, by another method.

A span's texts are those of its body, cut into tokens as the output is. So all parses are enumerated as sets of spans
over positions, for sequences that the vocabulary can write with at most so many tokens.
"""

from __future__ import annotations

import itertools

from maskwright import ir
from maskwright.ir import Expr, GrammarIR, alt, literal, seq, span, star
from oracle.comparing import scaled, seeded
from oracle.grammars import A, B, grammar, random_expr
from oracle.token_chart import is_viable, matches
from oracle.vocabularies import Vocab, of, strings

MAX_TOKENS = 4


def parses(e: Expr, data: bytes, starts: list[int], i: int, j: int, rules: GrammarIR, depth: int) -> bool:
    """Whether data[i:j] is of `e`, all budgets kept; `starts` are the places where tokens begin. By definition."""
    op = e[0]
    if depth > 12:
        return False
    if op == ir.OP_EMPTY:
        return i == j
    if op == ir.OP_LITERAL:
        return data[i:j] == e[1]
    if op == ir.OP_SET:
        return j == i + 1 and bool(e[1] >> data[i] & 1)
    if op == ir.OP_REF:
        return parses(rules.rules[e[1]].body, data, starts, i, j, rules, depth + 1)
    if op == ir.OP_ALT:
        return any(parses(part, data, starts, i, j, rules, depth) for part in e[1:])
    if op == ir.OP_SEQ:
        rest = seq(*e[2:])
        return any(
            parses(e[1], data, starts, i, k, rules, depth) and parses(rest, data, starts, k, j, rules, depth)
            for k in range(i, j + 1)
        )
    if op == ir.OP_REPEAT:
        _, item, minimum, maximum = e
        if maximum != 0 and minimum <= 0 and i == j:
            return True
        if maximum == 0:
            return i == j
        less = ir.repeat(item, max(minimum - 1, 0), maximum if maximum == ir.UNBOUNDED else maximum - 1)
        first = i if minimum > 0 else i + 1  # what is empty adds nothing once enough have come
        return any(
            parses(item, data, starts, i, k, rules, depth) and parses(less, data, starts, k, j, rules, depth + (k == i))
            for k in range(first, j + 1)
        )
    assert op == ir.OP_SPAN
    touched = sum(1 for b, t in itertools.pairwise([*starts, len(data)]) if b < j and t > i)
    return (i == j or touched <= e[2]) and parses(e[1], data, starts, i, j, rules, depth)


def outputs(g: GrammarIR, vocab: Vocab) -> set[tuple[bytes, ...]]:
    texts = [t for i, t in enumerate(vocab.token_bytes) if i not in vocab.special and t]
    found = set()
    for n in range(MAX_TOKENS + 1):
        for tokens in itertools.product(texts, repeat=n):
            starts = list(itertools.accumulate(map(len, tokens), initial=0))[:-1]
            data = b"".join(tokens)
            if parses(ir.ref(g.root), data, starts, 0, len(data), g, 0):
                found.add(tokens)
    return found


def check(g: GrammarIR, vocab: Vocab) -> int:
    """Membership of all sequences; viability as far as completions are among them."""
    found = outputs(g, vocab)
    prefixes = {tokens[:n] for tokens in found for n in range(len(tokens) + 1)}
    texts = [t for i, t in enumerate(vocab.token_bytes) if i not in vocab.special and t]
    for n in range(MAX_TOKENS + 1):
        for tokens in itertools.product(texts, repeat=n):
            readings = [tuple(t) for t in tokens]
            assert matches(g, vocab, readings) == (tokens in found), (g.dump(), tokens)
            if tokens in prefixes:
                assert is_viable(g, vocab, readings), (g.dump(), tokens)
    return len(found)


def test_hand_made() -> None:
    vocab = of("a", "b", "ab", "ba", stop=(), padding=0)
    bounded = grammar(span(star(alt(A, B)), max_tokens=2))
    assert len(outputs(bounded, vocab)) == 1 + 4 + 16
    for body in (
        seq(A, span(literal(b"bab"), max_tokens=2), star(B)),
        star(span(alt(literal(b"ab"), B), max_tokens=1)),
        span(seq(A, span(star(B), max_tokens=1), A), max_tokens=3),
        seq(span(star(A), max_tokens=1), span(star(B), max_tokens=1), star(A)),
    ):
        assert check(grammar(body), vocab)


def test_a_budgeted_rule_may_be_recursive() -> None:
    vocab = of("a", "b", "aa", "ba", stop=(), padding=0)
    rule = grammar(span(seq(A, alt(ir.ref(0), ir.EMPTY), B), max_tokens=3))
    assert check(rule, vocab)
    assert outputs(rule, vocab) == {(b"a", b"b"), (b"aa", b"b", b"b")}


def test_viability_where_all_outputs_are_short() -> None:
    """With a budget for the whole output, what is no beginning of an enumerated one is not viable."""
    checked = 0
    for i in range(scaled(60)):
        rng = seeded(f"token chart {i}")
        vocab = of(*rng.sample(strings(b"ab", 3), 3), stop=(), padding=0)
        body = random_expr(rng, 2, 1, ())
        if ir.OP_AND in _ops(body) or ir.OP_NOT in _ops(body) or ir.OP_REF in _ops(body):
            continue
        inner = grammar(span(seq(span(body, max_tokens=2), star(A)), max_tokens=MAX_TOKENS))
        found = outputs(inner, vocab)
        prefixes = {tokens[:n] for tokens in found for n in range(len(tokens) + 1)}
        texts = [t for j, t in enumerate(vocab.token_bytes) if j not in vocab.special]
        for n in range(MAX_TOKENS + 1):
            for tokens in itertools.product(texts, repeat=n):
                readings = [tuple(t) for t in tokens]
                assert matches(inner, vocab, readings) == (tokens in found), (inner.dump(), tokens)
                assert is_viable(inner, vocab, readings) == (tokens in prefixes), (inner.dump(), tokens)
        checked += bool(found)
    assert checked > scaled(5)


def _ops(e: Expr) -> set[int]:
    return {e[0]}.union(*(_ops(part) for part in e[1:] if isinstance(part, Expr)))
