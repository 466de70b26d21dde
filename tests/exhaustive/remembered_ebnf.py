"""Random EBNF with remembered texts, each with its meaning as the oracle reads it.

Texts are remembered in groups, in repetitions, in alternatives and within each other, are recalled several times or
never, and may be empty; rules between them may be recursive, and what is remembered may name rules. The meaning is made
beside the text, without scopes and with a number of its own for each text, so nothing of the front-end is in it.
Used by test_remembered_ebnf.py.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from maskwright import ir
from maskwright.ir import (
    Expr,
    GrammarIR,
    alt,
    and_,
    literal,
    not_,
    optional,
    plus,
    recall,
    ref,
    remember,
    repeat,
    seq,
    star,
)
from oracle.grammars import AB, A, B, grammar

NUM_RULES = 2  # that may remember texts; those behind them are regular
_WORD, _MAYBE = NUM_RULES, NUM_RULES + 1
_WORD_BODY, _MAYBE_BODY = seq(AB, ref(_MAYBE)), optional(B)


class Written(NamedTuple):
    """An expression in both forms."""

    text: str
    expr: Expr


_REGULAR = (
    Written('"a"', A),
    Written('"b"', B),
    Written("[ab]", AB),
    Written('"ab"', literal(b"ab")),
    Written("[ab]+", plus(AB)),
    Written('"a"+', plus(A)),
    Written("[ab]*", star(AB)),
    Written('"a"?', optional(A)),
    Written('("a" | "ab")', alt(A, literal(b"ab"))),
    Written('("a" "b"*)', seq(A, star(B))),
    Written("[ab]{2,20}", repeat(AB, 2, 20)),
    Written('([ab]+ & ~"ab")', and_(plus(AB), not_(literal(b"ab")))),
    Written("word", ref(_WORD)),
    Written('(maybe "a")', seq(ref(_MAYBE), A)),
    Written("maybe", ref(_MAYBE)),
)
_PLAIN = (*_REGULAR[:5], Written('"/"', literal(b"/")), Written('""', ir.EMPTY), Written("word", ref(_WORD)))
_COUNTS = (("*", 0, ir.UNBOUNDED), ("+", 1, ir.UNBOUNDED), ("?", 0, 1), ("{2}", 2, 2), ("{0,2}", 0, 2), ("{1,3}", 1, 3))


def random_ebnf(rng: random.Random) -> tuple[str, GrammarIR]:
    """A grammar as EBNF, and what it means."""
    writer = _Writer(rng)
    rules = [writer.alternatives(2, {}) for _ in range(NUM_RULES)]
    bodies = [Written(f'{rule.text} | "b"', alt(rule.expr, B)) for rule in rules]
    lines = [f"{name} ::= {body.text}" for name, body in zip(("root", "other"), bodies, strict=True)]
    lines += ["word ::= [ab] maybe", 'maybe ::= "b"?']
    rng.shuffle(lines)
    return "\n".join(lines), grammar(*(body.expr for body in bodies), _WORD_BODY, _MAYBE_BODY)


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.number = 0

    def alternatives(self, depth: int, known: dict[str, int]) -> Written:
        branches = [self.sequence(depth, dict(known)) for _ in range(self.rng.choice((1, 1, 2)))]
        return Written(" | ".join(each.text for each in branches), alt(*(each.expr for each in branches)))

    def sequence(self, depth: int, known: dict[str, int]) -> Written:
        """`known` are the names that hold here."""
        items = [self.item(depth, known) for _ in range(self.rng.randint(1, 3))]
        return Written(" ".join(each.text for each in items), seq(*(each.expr for each in items)))

    def item(self, depth: int, known: dict[str, int]) -> Written:
        kind = self.rng.random()
        if known and kind < 0.3:
            name = self.rng.choice(list(known))
            return self.counted(Written(f"${name}", recall(known[name])), 0.2)
        if kind < 0.55 and len(known) < 3:
            name = next(name for name in "xyzuvwpqrst" if name not in known)
            body = self.counted(self.rng.choice(_REGULAR), 0.2)
            self.number += 1
            known[name] = self.number
            return Written(f"{name}={body.text}", remember(body.expr, self.number))
        if kind < 0.6:
            return Written(*self.rng.choice((("root", ref(0)), ("other", ref(1)))))
        if depth == 0 or kind < 0.75:
            return self.rng.choice(_PLAIN)
        inner = self.alternatives(depth - 1, known)
        return self.counted(Written(f"({inner.text})", inner.expr), 0.4)

    def counted(self, item: Written, share: float) -> Written:
        if self.rng.random() >= share:
            return item
        sign, minimum, maximum = self.rng.choice(_COUNTS)
        return Written(item.text + sign, repeat(item.expr, minimum, maximum))
