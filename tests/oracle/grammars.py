"""Grammars to test with: all small ones over {a, b}, and random larger ones.

`expressions(size, refs)` lists every expression with that many nodes (canonical forms once); `one_rule_grammars` and
`two_rule_grammars` close them into grammars, so left, right, hidden-left and mutual recursion, nullable cycles and
ambiguity all come about by enumeration. `random_grammar` draws from everything the IR has: bounded repeats,
complements, intersections, token edges. Both are deterministic.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import lru_cache

from maskwright.ir import (
    ALL_BYTES,
    EMPTY,
    OP_AND,
    OP_NOT,
    OP_REF,
    OP_TOKENS,
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    byte_set,
    bytes_in,
    call,
    guard,
    literal,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    tokens,
)
from maskwright.ir.parameters import (
    SELF,
    Condition,
    Value,
    bit_clear,
    bit_set,
    both,
    clear_bit,
    compare,
    compare_count,
    constant,
    decrement,
    either,
    increment,
    masked,
    negated,
    set_bit,
)

A, B, AB = literal(b"a"), literal(b"b"), bytes_in(b"ab")
NOT_A = byte_set(ALL_BYTES & ~(1 << ord("a")))
UNARY = (optional, star, plus, lambda e: repeat(e, 2, 3))


def grammar(*bodies: Expr) -> GrammarIR:
    """A grammar whose rules are r0 (the root), r1, ..."""
    return GrammarIR(tuple(Rule(f"r{i}", body) for i, body in enumerate(bodies)), 0)


@lru_cache
def expressions(size: int, refs: int) -> tuple[Expr, ...]:
    """All expressions of this many nodes over a, b, [ab], the empty string and the first `refs` rules."""
    if size == 1:
        return (A, B, AB, EMPTY, *map(ref, range(refs)))
    found = {make(e): None for e in expressions(size - 1, refs) for make in UNARY}
    for left_size in range(1, size - 1):
        pairs = itertools.product(expressions(left_size, refs), expressions(size - 1 - left_size, refs))
        for left, right in pairs:
            found[seq(left, right)] = found[alt(left, right)] = None
    smaller = {e for s in range(1, size) for e in expressions(s, refs)}
    return tuple(e for e in found if e not in smaller)


def one_rule_grammars(size: int) -> list[GrammarIR]:
    """All grammars of one rule with this many nodes."""
    return [grammar(e) for e in expressions(size, 1)]


def two_rule_grammars(size: int) -> Iterator[GrammarIR]:
    """All grammars of two rules with up to this many nodes each; the root uses the second rule."""
    bodies = [e for s in range(1, size + 1) for e in expressions(s, 2)]
    return (grammar(root, other) for root in bodies if uses(root, 1) for other in bodies)


def uses(e: Expr, rule: int) -> bool:
    return e == ref(rule) or any(uses(part, rule) for part in e[1:] if isinstance(part, Expr))


def random_regular(rng: random.Random, depth: int) -> Expr:
    """A regular expression: the operand of a complement or an intersection."""
    if depth == 0:
        return rng.choice(
            (A, B, AB, EMPTY, literal(b"ab"), literal(b"ba"), byte_set(~(1 << ord("a")) & (1 << 256) - 1))
        )
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(UNARY)(random_regular(rng, depth - 1))
    if kind == 1:
        return not_(random_regular(rng, depth - 1))
    joined = (seq, alt, and_)[kind - 2]
    return joined(random_regular(rng, depth - 1), random_regular(rng, depth - 1))


def random_expr(rng: random.Random, depth: int, refs: int, token_ids: tuple[int, ...]) -> Expr:
    kind = rng.randrange(16) if depth else rng.randrange(4)
    if kind < 2:
        return rng.choice((A, B, AB, EMPTY, literal(b"aab"), literal(b"\xc3\xa9"), bytes_in(b"b\xa9\xaa\xc3")))
    if kind < 4:
        return ref(rng.randrange(refs))
    if kind == 4 and token_ids:
        return tokens(rng.sample(token_ids, rng.randint(1, len(token_ids))), by_exclusion=rng.random() < 0.4)
    if kind == 5:
        return random_regular(rng, min(depth, 3))
    if kind == 6:
        minimum = rng.choice((0, 1, 2, 3, 5))
        return repeat(random_expr(rng, depth - 1, refs, token_ids), minimum, minimum + rng.choice((0, 1, 2, 4, 70)))
    if kind == 7:
        return rng.choice(UNARY)(random_expr(rng, depth - 1, refs, token_ids))
    count = rng.choice((2, 2, 3))
    return (seq, alt)[kind % 2](*(random_expr(rng, depth - 1, refs, token_ids) for _ in range(count)))


def random_grammar(rng: random.Random, token_ids: tuple[int, ...] = ()) -> GrammarIR:
    """A grammar of one to four rules with everything in it, token edges for `token_ids` included."""
    refs = rng.randint(1, 4)
    return grammar(*(random_expr(rng, rng.randint(1, 4), refs, token_ids) for _ in range(refs)))


def random_value(rng: random.Random) -> Value:
    """A function within the values 0 to 7."""
    return rng.choice(
        (
            SELF,
            constant(rng.randrange(8)),
            set_bit(rng.randrange(3)),
            clear_bit(rng.randrange(3)),
            masked(rng.randrange(8), rng.randrange(8)),
            increment((0, rng.choice((1, 2, 3)))),
            decrement((0, rng.choice((2, 3)))),
            increment((0, 2)).then(set_bit(2)),
        )
    )


def random_condition(rng: random.Random, depth: int = 1) -> Condition:
    """A condition on the lowest three bits."""
    kind = rng.randrange(8 if depth else 5)
    if kind < 3:
        return rng.choice((bit_set, bit_clear))(rng.randrange(3))
    if kind < 5:
        compared = rng.choice((compare, compare_count))
        return compared(rng.choice(("==", "!=", "<", "<=", ">", ">=")), rng.randrange(4), rng.choice(((0, 2), (0, 3))))
    parts = (random_condition(rng, depth - 1), random_condition(rng, depth - 1))
    return (both(*parts), either(*parts), negated(parts[0]))[kind - 5]


def random_parametric_grammar(rng: random.Random, token_ids: tuple[int, ...] = ()) -> GrammarIR:
    """A grammar whose rules guard by parameters of three bits and pass them on; rules without one may be among them."""
    refs = rng.randint(1, 3)

    def with_parameters(e: Expr) -> Expr:
        if e[0] in (OP_AND, OP_NOT, OP_TOKENS):
            return e
        if e[0] == OP_REF:
            return call(e[1], random_value(rng)) if rng.random() < 0.8 else e
        built = Expr(with_parameters(part) if isinstance(part, Expr) else part for part in e)
        return guard(random_condition(rng), built) if rng.random() < 0.3 else built

    bodies = [random_expr(rng, rng.randint(1, 3), refs, token_ids) for _ in range(refs)]
    return grammar(*(with_parameters(e) if rng.random() < 0.8 else e for e in bodies))
