r"""Lowering of trees without assertions, whole or in part: only the strings that start and end in given sets.

Parts are cut from the structure where that is easy (a class, a loop over a class, the ends of a sequence), and by an
intersection otherwise.

    >>> from maskwright.frontends.regex.ast import NOWHERE
    >>> word = Repeat(NOWHERE, Chars(NOWHERE, CodePointSet.from_string("ab")), 0, INFINITE)
    >>> lower_plain(word, utf8).dump(), PlainPieces(utf8).some(word, None, CodePointSet.from_string("b")).dump()
    ('[a-b]*', '[a-b]* "b"')

Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, Encoding, utf8
from maskwright.frontends.regex.ast import INFINITE, Alt, And, Chars, Group, Literal, Node, Not, Repeat, Seq
from maskwright.frontends.texts import ANY_BYTES
from maskwright.ir import OP_ALT, OP_SEQ, UNBOUNDED, Expr, alt, and_, never, not_, plus, repeat, seq, star, text


def lower_plain(node: Node, encode: Encoding) -> Expr:
    """Lower a tree without assertions."""
    if isinstance(node, Literal):
        if encode is utf8:
            return text(node.text)
        return seq(*[encode(CodePointSet(((c, c),))) for c in map(ord, node.text)])
    if isinstance(node, Chars):
        return encode(node.chars)
    if isinstance(node, Seq):
        return seq(*[lower_plain(item, encode) for item in node.items])
    if isinstance(node, Alt):
        return alt(*[lower_plain(branch, encode) for branch in node.branches])
    if isinstance(node, Repeat):
        return repeat(
            lower_plain(node.item, encode), node.minimum, UNBOUNDED if node.maximum == INFINITE else node.maximum
        )
    if isinstance(node, Group):
        return lower_plain(node.item, encode)
    if isinstance(node, Not):
        return not_(lower_plain(node.item, encode))
    assert isinstance(node, And)
    return and_(
        *[
            without(lower_plain(operand.item, encode), encode(ALL_CHARACTERS))
            if isinstance(operand, Not)
            else lower_plain(operand, encode)
            for operand in node.operands
        ]
    )


def without(excluded: Expr, character: Expr) -> Expr:
    """The complement of an expression, as an operand beside one of characters alone.

    What may end in any characters may end in any bytes there. Its automaton then shows that the complement has failed,
    whatever follows; otherwise all ways to the end would be searched for one that is not excluded.
    """
    return not_(_open_ended(excluded, star(character)))


def is_open_ended(expr: Expr) -> bool:
    """Whether an expression, which is no alternative, ends in any bytes."""
    return expr == ANY_BYTES or (expr[0] == OP_SEQ and expr[-1] == ANY_BYTES)


def _open_ended(expr: Expr, end: Expr) -> Expr:
    if expr[0] == OP_ALT:
        return alt(*[_open_ended(branch, end) for branch in expr[1:]])
    if expr[0] == OP_SEQ and expr[-1] == end:
        return seq(*expr[1:-1], ANY_BYTES)
    return ANY_BYTES if expr == end else expr


class _Overlap(Enum):
    """How a set of characters lies to another."""

    NONE = 0
    PARTLY = 1
    WITHIN = 2


class PlainPieces:
    """Cuts pieces from plain trees. `starts` and `ends` are sets of characters, or None for any."""

    def __init__(self, encode: Encoding) -> None:
        self.encode = encode
        self.character = encode(ALL_CHARACTERS)
        self.edges: dict[tuple[int, int], tuple[Node, CodePointSet]] = {}
        self.overlaps: dict[tuple[CodePointSet, CodePointSet], _Overlap] = {}

    def some(self, node: Node, starts: CodePointSet | None, ends: CodePointSet | None) -> Expr:
        """The non-empty strings of a plain tree that start and end with certain characters."""
        if not node.max_width:  # also what comes zero times
            return never()
        for end, wanted in ((0, starts), (-1, ends)):
            if wanted is not None and self._overlap(self.edge(node, end), wanted) is _Overlap.NONE:
                return never()
        if starts is not None and self._overlap(self.edge(node, 0), starts) is _Overlap.WITHIN:
            starts = None
        if ends is not None and self._overlap(self.edge(node, -1), ends) is _Overlap.WITHIN:
            ends = None
        return self._some(node, starts, ends)

    def _overlap(self, chars: CodePointSet, other: CodePointSet) -> _Overlap:
        """How two sets lie: a few pairs of large sets are asked for again and again."""
        found = self.overlaps.get((chars, other))
        if found is None:
            within = _Overlap.WITHIN if chars.issubset(other) else _Overlap.PARTLY
            found = self.overlaps[chars, other] = _Overlap.NONE if chars.isdisjoint(other) else within
        return found

    def edge(self, node: Node, end: int) -> CodePointSet:
        """The characters that may come first (`end` 0) or last (-1) in a non-empty string, and maybe some more."""
        found = self.edges.get((id(node), end))
        if found is None:
            found = self.edges[id(node), end] = node, self._edge(node, end)
        return found[1]

    def _edge(self, node: Node, end: int) -> CodePointSet:
        if isinstance(node, Literal):
            return CodePointSet.from_string(node.text[end])
        if isinstance(node, Chars):
            return node.chars
        if isinstance(node, (Repeat, Group)):
            return self.edge(node.item, end)
        if isinstance(node, And):
            return self.edge(node.operands[0], end)
        ranges: list[tuple[int, int]] = []
        if isinstance(node, Seq):
            for item in node.items if end == 0 else reversed(node.items):
                ranges += self.edge(item, end).ranges
                if item.min_width:
                    break
        elif isinstance(node, Alt):
            for branch in node.branches:
                ranges += self.edge(branch, end).ranges
        else:
            return ALL_CHARACTERS
        return CodePointSet.from_ranges(ranges)

    def _some(self, node: Node, starts: CodePointSet | None, ends: CodePointSet | None) -> Expr:
        if starts is None and ends is None and node.min_width:
            return lower_plain(node, self.encode)
        if isinstance(node, Group):
            return self.some(node.item, starts, ends)
        if isinstance(node, Alt):
            return alt(*[self.some(branch, starts, ends) for branch in node.branches])
        if isinstance(node, Chars):
            return self.encode(_restrict(_restrict(node.chars, starts), ends))
        if isinstance(node, Repeat) and node.item.min_width:
            return self._repeat(node, starts, ends)
        if isinstance(node, Seq) and node.items:
            cut = self._seq(node, starts, ends)
            if cut is not None:
                return cut
        return self._intersected(node, starts, ends)

    def _repeat(self, node: Repeat, starts: CodePointSet | None, ends: CodePointSet | None) -> Expr:
        low, high, item = max(node.minimum, 1), node.maximum, node.item

        def inner(fewer: int) -> Expr:
            bound = UNBOUNDED if high == INFINITE else high - fewer
            return repeat(lower_plain(item, self.encode), max(low - fewer, 0), bound)

        if starts is None and ends is None:
            return inner(0)
        if high == 1:
            return self.some(item, starts, ends)
        if starts is None:
            return seq(inner(1), self.some(item, None, ends))
        if ends is None:
            return seq(self.some(item, starts, None), inner(1))
        one = self.some(item, starts, ends) if low == 1 else never()
        return alt(one, seq(self.some(item, starts, None), inner(2), self.some(item, None, ends)))

    def _seq(self, node: Seq, starts: CodePointSet | None, ends: CodePointSet | None) -> Expr | None:
        items = node.items
        if len(items) == 1:
            return self.some(items[0], starts, ends)
        if (starts is not None and not items[0].min_width) or (ends is not None and not items[-1].min_width):
            return None
        if not node.min_width:
            return None
        head = self.some(items[0], starts, None) if starts is not None else lower_plain(items[0], self.encode)
        tail = self.some(items[-1], None, ends) if ends is not None else lower_plain(items[-1], self.encode)
        return seq(head, *[lower_plain(item, self.encode) for item in items[1:-1]], tail)

    def _intersected(self, node: Node, starts: CodePointSet | None, ends: CodePointSet | None) -> Expr:
        operands = [lower_plain(node, self.encode)]
        if starts is not None:
            operands.append(seq(self.encode(starts), star(self.character)))
        if ends is not None:
            operands.append(seq(star(self.character), self.encode(ends)))
        if len(operands) == 1:
            operands.append(plus(self.character))
        return and_(*operands)


@lru_cache(maxsize=1024)  # a regex has few sets, and some have hundreds of ranges
def _restrict(chars: CodePointSet, to: CodePointSet | None) -> CodePointSet:
    return chars if to is None else chars & to
