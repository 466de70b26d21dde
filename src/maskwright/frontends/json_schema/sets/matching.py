"""Decide whether a regular expression of the IR matches a given text: for enum values and member names, at compile
time.

`ends(e, i)` is the set of positions where a match of `e` from position i may end, as a bit set; intersection and
complement are set operations on it.

    >>> from maskwright.ir import literal, not_, star
    >>> matches(not_(star(literal(b"ab"))), b"aba")
    True

Cost: polynomial, about (size of the expression) × (length of the text)²; meant for short texts.
Tested by tests/frontends/json_schema/sets/test_schema_matching.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.ir import (
    OP_ALT,
    OP_AND,
    OP_EMPTY,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_REPEAT,
    OP_SEQ,
    OP_SET,
    Expr,
)


def matches(expr: Expr, data: bytes) -> bool:
    """Whether `expr`, which holds no rule reference, matches all of `data`."""
    return bool(_Matcher(data).ends(expr, 1) >> len(data) & 1)


class _Matcher:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.everything = (2 << len(data)) - 1
        self.memo: dict[tuple[int, int], int] = {}

    def ends(self, expr: Expr, starts: int) -> int:
        """Return the positions where a match that starts at one of `starts` may end."""
        op = expr[0]
        if op == OP_EMPTY:
            return starts
        if op == OP_NEVER or not starts:
            return 0
        if op == OP_SET:
            return self.after_byte(expr[1], starts)
        if op == OP_LITERAL:
            text, data = expr[1], self.data
            return sum([1 << start + len(text) for start in _members(starts) if data.startswith(text, start)])
        key = (id(expr), starts)
        known = self.memo.get(key)
        if known is None:
            known = self.memo[key] = self.compound(expr, op, starts)
        return known

    def compound(self, expr: Expr, op: int, starts: int) -> int:
        if op == OP_SEQ:
            for part in expr[1:]:
                starts = self.ends(part, starts)
            return starts
        if op == OP_ALT:
            out = 0
            for part in expr[1:]:
                out |= self.ends(part, starts)
            return out
        if op == OP_REPEAT:
            return self.repeated(expr, starts)
        assert op in (OP_AND, OP_NOT), f"not regular: op {op}"
        # What a match covers matters here, so each start is followed by itself.
        out = 0
        for start in _members(starts):
            if op == OP_NOT:
                out |= self.everything & ~((1 << start) - 1) & ~self.ends(expr[1], 1 << start)
            else:
                both = self.everything
                for part in expr[1:]:
                    both &= self.ends(part, 1 << start)
                out |= both
        return out

    def repeated(self, expr: Expr, starts: int) -> int:
        _, item, minimum, maximum = expr
        for done in range(minimum):
            after = self.ends(item, starts)
            if after == starts and done:
                break
            starts = after
        out = frontier = starts
        left = maximum - minimum if maximum >= 0 else -1
        while frontier and left:
            frontier = self.ends(item, frontier) & ~out
            out |= frontier
            left -= 1
        return out

    def after_byte(self, mask: int, starts: int) -> int:
        out = 0
        for start in _members(starts):
            if start < len(self.data) and mask >> self.data[start] & 1:
                out |= 2 << start
        return out


def _members(positions: int) -> Iterator[int]:
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest
