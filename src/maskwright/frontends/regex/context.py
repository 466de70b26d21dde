r"""Conditions on the neighbours of a position, lowered to plain expressions.

The characters that may stand before a position fall into a few *classes* that no `Boundary` of the pattern tells
apart, and so do those that may stand after it; the edge of the text is in a class too. For `\b` there are two of each:
word characters, and all else. `_Machine` computes, for a node between a character of class `before` and one of class
`after`, whether it matches the empty string, and the expression of the non-empty strings that it matches and that
start and end with given classes:

    A B  =  A' B'  +  B' if A can be empty  +  A' if B can be empty,   summed over where A' ends and B' starts

Sums run only over what makes a difference: a node that is not *sensitive* to a side has one expression for all classes
of that side. A loop over a sensitive item is a system of linear equations between its boundaries' classes, solved by
elimination (Arden's rule), so anchors and word boundaries are exact within loops too.

    >>> from maskwright.frontends.regex import regex_to_expr
    >>> print(regex_to_expr("(^a|b)+").dump())
    [a-b] "b"* "b" | [a-b]

Cost: per node, the square of the number of classes, typically 2 (sides.py has the limit); and no more than MAX_WORK
nodes in all.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from maskwright.frontends.charset import Encoding
from maskwright.frontends.regex.algebra import Letters, solve
from maskwright.frontends.regex.ast import (
    INFINITE,
    Alt,
    And,
    Boundary,
    Group,
    Node,
    Not,
    Repeat,
    Seq,
    Side,
    children_of,
)
from maskwright.frontends.regex.plain import PlainPieces, lower_plain, without
from maskwright.frontends.regex.sides import SideClasses, bits, too_much
from maskwright.ir import EMPTY, UNBOUNDED, Expr, alt, and_, never, not_, repeat, seq
from maskwright.support.interruption import interrupt_checkpoint

MAX_WORK: Final = 1_000_000
MAX_COPIES: Final = 64
MAX_STATES: Final = 24


def lower_boundaries(node: Node, encode: Encoding) -> Expr:
    """Return the expression of the texts that match; the node's only assertions are of the type `Boundary`.

    Raises:
        LimitError: Too many kinds of conditions, or too many copies.
    """
    letters = Letters()
    machine = _Machine(node, letters.encode)
    return letters.spell(machine.whole(node, machine.text_start, machine.text_end), encode)


def _nodes(root: Node) -> Iterator[Node]:
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if not node.asserts or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(children_of(node))


class _Machine:
    """Computes expressions of nodes by context; classes are numbers, sets of classes are bit masks.

    `before` and `after` are classes, or None where the node does not care.
    """

    def __init__(self, root: Node, encode: Encoding) -> None:
        boundaries = [node for node in _nodes(root) if isinstance(node, Boundary)]
        self.before = SideClasses(left for b in boundaries for left, _ in b.pairs)
        self.after = SideClasses(right for b in boundaries for _, right in b.pairs)
        self.text_start, self.text_end = self.before.edge, self.after.edge
        self.plain = PlainPieces(encode)
        # Keyed by id; `kept` keeps the nodes alive that were made here.
        self.kept: list[Node] = [root]
        self.tables: dict[int, list[int]] = {}
        self.sensitivity: dict[int, tuple[bool, bool]] = {}
        self.halves: dict[int, tuple[Node, ...]] = {}
        self.unrolled: dict[int, Node] = {}
        self.made: list[Expr] = []
        self.sizes: dict[int, int] = {}
        self.work = 0
        self.memo: dict[tuple[int, int | None, int | None, int, int], Expr] = {}
        by_pairs = {pairs: self._table(pairs) for pairs in dict.fromkeys(b.pairs for b in boundaries)}
        for boundary in boundaries:
            self.tables[id(boundary)] = by_pairs[boundary.pairs]

    def _table(self, pairs: tuple[tuple[Side, Side], ...]) -> list[int]:
        """For each class before, the classes after with which the condition holds."""
        rows = [0] * len(self.before.parts)
        for left, right in pairs:
            mask = self.after.mask(right)
            for i in bits(self.before.mask(left)):
                rows[i] |= mask
        return rows

    def sensitive(self, node: Node) -> tuple[bool, bool]:
        """Whether the class before the node, and the one after it, can make a difference."""
        if not node.asserts:
            return False, False
        found = self.sensitivity.get(id(node))
        if found is None:
            found = self.sensitivity[id(node)] = self._sensitive(node)
        return found

    def _sensitive(self, node: Node) -> tuple[bool, bool]:
        if isinstance(node, Boundary):
            rows = self.tables[id(node)]
            full = (1 << len(self.after.parts)) - 1
            return any(row != rows[0] for row in rows), any(row not in (0, full) for row in rows)
        if isinstance(node, Seq):
            return self._reaches(node.items, 0), self._reaches(node.items[::-1], 1)
        pairs = [self.sensitive(child) for child in children_of(node)]
        return any(left for left, _ in pairs), any(right for _, right in pairs)

    def _reaches(self, items: tuple[Node, ...], side: int) -> bool:
        for item in items:
            if self.sensitive(item)[side]:
                return True
            if item.min_width:
                return False
        return False

    def empty(self, node: Node, before: int | None, after: int | None) -> bool:
        """Whether the node matches the empty string there."""
        if node.min_width:
            return False
        if isinstance(node, Boundary):
            rows = self.tables[id(node)]
            row = rows[before] if before is not None else rows[0]
            return bool(row >> after & 1) if after is not None else row != 0
        if isinstance(node, Alt):
            return any(self.empty(branch, before, after) for branch in node.branches)
        if isinstance(node, Not):
            return not self.empty(node.item, before, after)
        if isinstance(node, Repeat):
            return node.minimum == 0 or self.empty(node.item, before, after)
        return all(self.empty(child, before, after) for child in children_of(node))

    def _charged(self, expr: Expr) -> Expr:
        """Count the size of a new expression, as a tree: that is what comparing it costs."""
        interrupt_checkpoint()
        self.made.append(expr)
        self.work += self._size(expr)
        if self.work > MAX_WORK:
            raise too_much("the assertions of the regular expression are too expensive to resolve")
        return expr

    def _size(self, expr: Expr) -> int:
        size = self.sizes.get(id(expr))
        if size is None:
            size = self.sizes[id(expr)] = 1 + sum(self._size(part) for part in expr[1:] if isinstance(part, Expr))
        return size

    def whole(self, node: Node, before: int | None, after: int | None) -> Expr:
        """All strings that the node matches there."""
        if not node.asserts:
            return lower_plain(node, self.plain.encode)
        some = self.some(node, before, after, self.after.all, self.before.all)
        return alt(EMPTY, some) if self.empty(node, before, after) else some

    def some(self, node: Node, before: int | None, after: int | None, first: int, last: int) -> Expr:
        """The non-empty strings that the node matches there, starting in `first` and ending in `last`."""
        left, right = self.sensitive(node)
        key = (id(node), before if left else None, after if right else None, first, last)
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self._charged(self._some(node, key[1], key[2], first, last))
        return found

    def _some(self, node: Node, before: int | None, after: int | None, first: int, last: int) -> Expr:
        if not first or not last or not node.max_width:
            return never()
        if not node.asserts:
            starts = None if first == self.after.all else self.after.chars(first)
            ends = None if last == self.before.all else self.before.chars(last)
            return self.plain.some(node, starts, ends)
        if isinstance(node, Seq):
            return self._some_seq(node, before, after, first, last)
        if isinstance(node, Alt):
            return alt(*[self.some(branch, before, after, first, last) for branch in node.branches])
        if isinstance(node, Group):
            return self.some(node.item, before, after, first, last)
        if isinstance(node, And):
            positive, *others = node.operands
            rest = [
                without(self.whole(o.item, before, after), self.plain.character)
                if isinstance(o, Not)
                else self.whole(o, before, after)
                for o in others
            ]
            return and_(self.some(positive, before, after, first, last), *rest)
        if isinstance(node, Not):
            return not_(self.whole(node.item, before, after))
        assert isinstance(node, Repeat)
        return self._some_repeat(node, before, after, first, last)

    def _halve(self, node: Seq) -> tuple[Node, ...]:
        """Cut a sequence in two (or one), with runs of plain items left whole. Halves keep the recursion shallow."""
        found = self.halves.get(id(node))
        if found is None:
            parts = self._parts(node)
            middle = len(parts) // 2
            found = tuple(
                half[0] if len(half) == 1 else Seq(node.span, tuple(half))
                for half in (parts[:middle], parts[middle:])
                if half
            )
            self.halves[id(node)] = found
            self.kept += (node, *found)
        return found

    def _parts(self, node: Seq) -> list[Node]:
        """Return the items, with runs of plain ones and of boundaries joined."""
        parts: list[Node] = []
        for plain, run in groupby(node.items, lambda item: not item.asserts):
            items = tuple(run)
            if plain:
                parts.append(items[0] if len(items) == 1 else Seq(node.span, items))
                continue
            for item in items:
                if isinstance(item, Boundary) and parts and isinstance(parts[-1], Boundary):
                    parts[-1] = self._both(parts[-1], item)
                else:
                    parts.append(item)
        return parts

    def _both(self, a: Boundary, b: Boundary) -> Boundary:
        both = Boundary(a.span, ())
        self.tables[id(both)] = [x & y for x, y in zip(self.tables[id(a)], self.tables[id(b)], strict=True)]
        self.kept.append(both)
        return both

    def _some_seq(self, node: Seq, before: int | None, after: int | None, first: int, last: int) -> Expr:
        halves = self._halve(node)
        if len(halves) == 1:
            return self.some(halves[0], before, after, first, last)
        a, b = halves
        reads_on, looks_back = self.sensitive(a)[1], self.sensitive(b)[0]
        # The classes that B may start with while A is empty, and those that A may end with while B is empty.
        b_first = sum(1 << i for i in bits(first) if self.empty(a, before, i))
        a_last = sum(1 << i for i in bits(last) if self.empty(b, i, after))
        only_b = self.some(b, before, after, b_first, last)
        only_a = self.some(a, before, after, first, a_last)
        both = []
        for end in self._ends(b, after, last) if looks_back else (self.before.all,):
            b_before = next(bits(end)) if looks_back else None
            for start in self._starts(a, before, first, end) if reads_on else (self.after.all,):
                a_part = self.some(a, before, next(bits(start)) if reads_on else None, first, end)
                b_part = self.some(b, b_before, after, start, last)
                # A' B' + B' is (A' + empty) B', and A' B' + A' likewise: it keeps the expression small.
                if b_part is only_b and b_first == self.after.all:
                    whole = not reads_on and end == self.before.all and first == self.after.all
                    a_part = self.whole(a, before, None) if whole else alt(EMPTY, a_part)
                    only_b = never()
                elif a_part is only_a and a_last == self.before.all:
                    whole = not looks_back and start == self.after.all and last == self.before.all
                    b_part = self.whole(b, None, after) if whole else alt(EMPTY, b_part)
                    only_a = never()
                both.append(seq(a_part, b_part))
        return alt(*both, only_a, only_b)

    def _ends(self, b: Node, after: int | None, last: int) -> Iterable[int]:
        """Classes before B, those together for which B has one expression."""
        groups: dict[int, int] = {}
        for i in bits(self.before.all):
            expr = self.some(b, i, after, self.after.all, last)
            groups[id(expr)] = groups.get(id(expr), 0) | 1 << i
        return groups.values()

    def _starts(self, a: Node, before: int | None, first: int, end: int) -> Iterable[int]:
        """Classes after A, those together for which A has one expression."""
        groups: dict[int, int] = {}
        for i in bits(self.after.all):
            expr = self.some(a, before, i, first, end)
            groups[id(expr)] = groups.get(id(expr), 0) | 1 << i
        return groups.values()

    def _some_repeat(self, node: Repeat, before: int | None, after: int | None, first: int, last: int) -> Expr:
        item = node.item
        nullable = self.empty(item, before, after)
        if not any(self.sensitive(item)):
            low = 1 if nullable else max(node.minimum, 1)
            return self._repeat_free(item, low, node.maximum, first, last)
        if node.maximum == 1:
            return self.some(item, before, after, first, last)
        if node.maximum == INFINITE and node.minimum <= 1:
            return self._loop(item, before, after, first, last)
        return self.some(self._unrolled(node), before, after, first, last)

    def _repeat_free(self, item: Node, low: int, high: int, first: int, last: int) -> Expr:
        """Repeat an item whose surroundings do not matter, without its empty string."""

        def some(f: int, e: int) -> Expr:
            return self.some(item, None, None, f, e)

        maximum = UNBOUNDED if high == INFINITE else high
        if first == self.after.all and last == self.before.all:
            return repeat(some(first, last), low, maximum)
        one = some(first, last) if low == 1 else never()
        if high == 1:
            return one
        middle = repeat(some(self.after.all, self.before.all), max(low - 2, 0), -1 if high == INFINITE else high - 2)
        return alt(one, seq(some(first, self.before.all), middle, some(self.after.all, last)))

    def _unrolled(self, node: Repeat) -> Node:
        found = self.unrolled.get(id(node))
        if found is None:
            copies = node.minimum if node.maximum == INFINITE else node.maximum
            if copies > MAX_COPIES:
                raise too_much(
                    f"in a repetition of more than {MAX_COPIES} times, assertions depend on the neighbors of items"
                )
            optional = Repeat(node.span, node.item, 0, INFINITE if node.maximum == INFINITE else 1)
            extra = 1 if node.maximum == INFINITE else copies - node.minimum
            found = Seq(node.span, (node.item,) * node.minimum + (optional,) * extra)
            self.unrolled[id(node)] = found
            self.kept += (node, found)
        return found

    def _loop(self, item: Node, before: int | None, after: int | None, first: int, last: int) -> Expr:
        """One or more times an item that depends on its neighbours.

        A state is what stands on both sides of a place between two iterations, as far as the item cares.
        """
        left, right = self.sensitive(item)
        states = [
            (b, a)
            for b in (bits(self.before.all) if left else (None,))
            for a in (bits(self.after.all) if right else (None,))
        ]
        if len(states) > MAX_STATES:
            raise too_much("the assertions in a loop have too many combinations")

        def step(b: int | None, a: int | None, start: int, end: int) -> Expr:
            return self.some(item, b, a, start, end)

        def ends(b: int | None) -> int:
            return self.before.all if b is None else 1 << b

        def starts(a: int | None) -> int:
            return self.after.all if a is None else 1 << a

        matrix = [[step(b, a2, starts(a), ends(b2)) for b2, a2 in states] for b, a in states]
        final = [step(b, after, starts(a), last) for b, a in states]
        entry = [step(before, a, first, ends(b)) for b, a in states]
        solved = solve(matrix, final, self._charged)
        return alt(step(before, after, first, last), *[seq(e, x) for e, x in zip(entry, solved, strict=True)])
