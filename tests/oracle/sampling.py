"""Random texts of a grammar, derived from the IR: every choice open while the budget lasts, then the shortest way out.

Intersections are sampled by trying: a text of the first operand that the others match as well. Token sets have no text
and are refused.
"""

from __future__ import annotations

import random

from maskwright import ir
from maskwright.ir import Expr, GrammarIR
from oracle.derivatives import derivative, is_nullable

_NO_WAY = 1 << 40
_TRIES = 200


class NoSampleError(Exception):
    """No text of an intersection was found by trying."""


class Sampler:
    """Derives texts of a grammar."""

    def __init__(self, grammar: GrammarIR, rng: random.Random) -> None:
        self.grammar, self.rng = grammar, rng
        self.costs = [_NO_WAY] * len(grammar.rules)
        before: list[int] = []
        while before != self.costs:
            before = self.costs[:]
            self.costs = [self._cost(rule.body) for rule in grammar.rules]

    def text(self, budget: int) -> bytes:
        """One text; the budget is about how many choices are made freely."""
        self.budget = budget
        return self._derive(ir.ref(self.grammar.root))

    def _cost(self, e: Expr) -> int:
        """How many bytes the shortest text needs, at least roughly."""
        op = e[0]
        if op == ir.OP_NEVER:
            return _NO_WAY
        if op in (ir.OP_EMPTY, ir.OP_NOT):
            return 0
        if op == ir.OP_LITERAL:
            return len(e[1])
        if op == ir.OP_SEQ:
            return min(_NO_WAY, sum(map(self._cost, e[1:])))
        if op == ir.OP_ALT:
            return min(map(self._cost, e[1:]))
        if op == ir.OP_REPEAT:
            return min(_NO_WAY, e[2] * self._cost(e[1]))
        if op == ir.OP_REF:
            return self.costs[e[1]] + 1
        return self._cost(e[1]) if op == ir.OP_AND else 1

    def _derive(self, e: Expr) -> bytes:
        op = e[0]
        self.budget -= 1
        if op == ir.OP_EMPTY:
            return b""
        if op == ir.OP_LITERAL:
            return bytes(e[1])
        if op == ir.OP_SET:
            return bytes((self.rng.choice(_members(e[1])),))
        if op == ir.OP_SEQ:
            return b"".join(map(self._derive, e[1:]))
        if op == ir.OP_ALT:
            return self._derive(self._branch(e[1:]))
        if op == ir.OP_REPEAT:
            return b"".join(self._derive(e[1]) for _ in range(self._count(e[2], e[3])))
        if op == ir.OP_REF:
            return self._derive(self.grammar.rules[e[1]].body)
        assert op == ir.OP_AND, "a complement or a token has no text of its own"
        return self._intersection(e)

    def _branch(self, branches: tuple[Expr, ...]) -> Expr:
        costs = [self._cost(branch) for branch in branches]
        if self.budget > 0:
            return self.rng.choice([b for b, cost in zip(branches, costs, strict=True) if cost < _NO_WAY])
        return branches[costs.index(min(costs))]

    def _count(self, minimum: int, maximum: int) -> int:
        count = minimum
        while self.budget > 0 and (maximum == ir.UNBOUNDED or count < maximum) and self.rng.random() < 0.6:
            count += 1
        return count

    def _intersection(self, e: Expr) -> bytes:
        budget = self.budget
        first, *rest = sorted(e[1:], key=lambda operand: operand[0] == ir.OP_NOT)
        for attempt in range(_TRIES):
            self.budget = max(budget, 20 * (attempt % 4))
            text = self._derive(first)
            if all(_matches(operand, text) for operand in rest):
                self.budget = min(self.budget, budget)
                return text
        raise NoSampleError(e.dump()[:200])


def _matches(e: Expr, text: bytes) -> bool:
    for byte in text:
        e = derivative(e, byte)
    return is_nullable(e)


def _members(mask: int) -> list[int]:
    return [b for b in range(256) if mask >> b & 1]
