"""Match a regular IR expression against bytes, by the definition: the set of places where a match can end.

`ends(expr, data, start)` follows the operators' meanings one by one, with no automaton in between; complement is the
complement of a set of places. Cubic and exact.
"""

from __future__ import annotations

from maskwright import ir
from maskwright.ir import Expr


def matches(expr: Expr, data: bytes | str) -> bool:
    """Does the expression match all of the data?"""
    if isinstance(data, str):
        data = data.encode()
    return len(data) in Matcher(data).ends(expr, 0)


class Matcher:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.memo: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, expr: Expr, start: int) -> frozenset[int]:
        # Keyed by identity: the caller keeps the expression alive, and parts are shared.
        key = (id(expr), start)
        if key not in self.memo:
            self.memo[key] = frozenset(self.ends_of(expr, start))
        return self.memo[key]

    def ends_of(self, expr: Expr, start: int) -> set[int] | frozenset[int]:
        op = expr[0]
        if op == ir.OP_EMPTY:
            return {start}
        if op == ir.OP_NEVER:
            return set()
        if op == ir.OP_LITERAL:
            return {start + len(expr[1])} if self.data.startswith(expr[1], start) else set()
        if op == ir.OP_SET:
            return {start + 1} if start < len(self.data) and expr[1] >> self.data[start] & 1 else set()
        if op == ir.OP_SEQ:
            places: set[int] | frozenset[int] = {start}
            for part in expr[1:]:
                places = {end for place in places for end in self.ends(part, place)}
            return places
        if op == ir.OP_ALT:
            return {end for part in expr[1:] for end in self.ends(part, start)}
        if op == ir.OP_REPEAT:
            return self._repeat(expr[1], expr[2], expr[3], start)
        if op == ir.OP_AND:
            return frozenset.intersection(*(self.ends(part, start) for part in expr[1:]))
        assert op == ir.OP_NOT, "the expression is not regular"
        return set(range(start, len(self.data) + 1)) - self.ends(expr[1], start)

    def _repeat(self, item: Expr, minimum: int, maximum: int, start: int) -> set[int]:
        # An iteration that consumes nothing changes nothing, so more than len(data) + minimum of them add nothing.
        longest = len(self.data) + 1
        rounds = longest if maximum == ir.UNBOUNDED else min(maximum - min(minimum, maximum), longest)
        places = {start}
        for _ in range(min(minimum, longest)):
            places = {end for place in places for end in self.ends(item, place)}
        out = set(places)
        for _ in range(rounds):
            places = {end for place in places for end in self.ends(item, place)}
            out |= places
        return out
