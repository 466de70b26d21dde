"""The syntax tree of regular expressions.

Every node has a span in the pattern, and facts that its constructor derives from its children: `min_width` and
`max_width` in characters, whether it `asserts` anything about its surroundings, whether it `looks` around for that,
its `depth` and its `size` as a tree. `str()` of a node shows its structure, for tests:

    >>> str(Seq(NOWHERE, (Literal(NOWHERE, "ab"), Repeat(NOWHERE, Anchor(NOWHERE, "end"), 1, 1))))
    "seq('ab', repeat(end, 1, 1))"

`parser.py` makes all of these but `Boundary`, `And` and `Not`; `lookaround.py` turns anchors and lookarounds into
those.
Invariants: nodes are immutable and may be shared. Cost: about a microsecond a node.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from maskwright.errors import LimitError, Span
from maskwright.frontends.charset import ALL_CHARACTERS, NO_CHARACTERS, CodePointSet
from maskwright.support.untracked import acyclic

INFINITE: Final = 1 << 62  # also a ceiling for products of counts
MAX_DEPTH: Final = 100
NOWHERE: Final = Span(0, 0)


class Node:
    """A part of a regular expression."""

    __slots__ = ("asserts", "depth", "looks", "max_width", "min_width", "size", "span")

    span: Span
    min_width: int
    max_width: int
    asserts: bool
    looks: bool
    depth: int
    size: int

    def _leaf(self, span: Span, min_width: int, max_width: int, asserts: bool) -> None:
        self.span = span
        self.min_width, self.max_width = min_width, max_width
        self.asserts, self.looks = asserts, False
        self.depth = self.size = 1

    def _inner(self, span: Span, children: Sequence[Node], min_width: int, max_width: int) -> None:
        self.span = span
        self.min_width, self.max_width = min_width, max_width
        asserts = looks = False
        depth, size = 0, 1
        for child in children:
            asserts, looks = asserts or child.asserts, looks or child.looks
            depth = max(depth, child.depth)
            size += child.size
        self.asserts, self.looks = asserts, looks
        self.depth, self.size = depth + 1, size
        if self.depth > MAX_DEPTH:
            hint = "nest fewer groups, or use a grammar, whose rules may nest"
            raise LimitError(
                f"the regular expression nests more than {MAX_DEPTH} levels deep", limit="regex depth", hint=hint
            )


acyclic(Node)


class Literal(Node):
    """These characters one after the other; at least one."""

    __slots__ = ("text",)

    def __init__(self, span: Span, text: str) -> None:
        self._leaf(span, len(text), len(text), False)
        self.text = text

    def __str__(self) -> str:
        return repr(self.text)


class Chars(Node):
    """One character of a set."""

    __slots__ = ("chars",)

    def __init__(self, span: Span, chars: CodePointSet) -> None:
        self._leaf(span, 1, 1, False)
        self.chars = chars

    def __str__(self) -> str:
        return repr(self.chars)


class Seq(Node):
    """Items one after the other; none at all is the empty string."""

    __slots__ = ("items",)

    def __init__(self, span: Span, items: tuple[Node, ...]) -> None:
        low, high = sum(i.min_width for i in items), sum(i.max_width for i in items)
        self._inner(span, items, min(low, INFINITE), min(high, INFINITE))
        self.items = items

    def __str__(self) -> str:
        return f"seq({', '.join(map(str, self.items))})"


class Alt(Node):
    """One of several branches."""

    __slots__ = ("branches",)

    def __init__(self, span: Span, branches: tuple[Node, ...]) -> None:
        self._inner(span, branches, min(b.min_width for b in branches), max(b.max_width for b in branches))
        self.branches = branches

    def __str__(self) -> str:
        return f"alt({', '.join(map(str, self.branches))})"


class Repeat(Node):
    """An item several times; `maximum` may be INFINITE. Whether it is lazy does not change the language."""

    __slots__ = ("item", "lazy", "maximum", "minimum")

    def __init__(self, span: Span, item: Node, minimum: int, maximum: int, lazy: bool = False) -> None:
        high = 0 if item.max_width == 0 else item.max_width * maximum
        self._inner(span, (item,), min(item.min_width * minimum, INFINITE), min(high, INFINITE))
        self.item, self.minimum, self.maximum, self.lazy = item, minimum, maximum, lazy

    def __str__(self) -> str:
        bound = "inf" if self.maximum == INFINITE else self.maximum
        return f"repeat({self.item}, {self.minimum}, {bound}{', lazy' if self.lazy else ''})"


class Group(Node):
    """A capturing group, by name or without one. Groups have numbers, from 1, in the order in which they open."""

    __slots__ = ("item", "name", "number")

    def __init__(self, span: Span, item: Node, name: str | None, number: int = 0) -> None:
        self._inner(span, (item,), item.min_width, item.max_width)
        self.item, self.name, self.number = item, name, number

    def __str__(self) -> str:
        return f"group({self.item}{', ' + self.name if self.name else ''})"


class BackReference(Node):
    """The text that the group with this number matched."""

    __slots__ = ("number",)

    def __init__(self, span: Span, number: int) -> None:
        self._leaf(span, 0, INFINITE, False)
        self.number = number

    def __str__(self) -> str:
        return f"back_reference({self.number})"


class Anchor(Node):
    r"""A condition on the characters around a position.

    One of `start`, `end`, `line_start`, `line_end`, `word`, `not_word`, `word_start`, `word_end`, `word_start-half`,
    `word_end-half` (Rust's `\b{start-half}`: only that no word character comes before). `chars` are the newlines
    or the word characters that it means.
    """

    __slots__ = ("chars", "kind")

    def __init__(self, span: Span, kind: str, chars: CodePointSet = NO_CHARACTERS) -> None:
        self._leaf(span, 0, 0, True)
        self.kind, self.chars = kind, chars

    def __str__(self) -> str:
        return self.kind


class Look(Node):
    """A lookahead or lookbehind, positive or negative."""

    __slots__ = ("ahead", "item", "negative")

    def __init__(self, span: Span, item: Node, ahead: bool, negative: bool) -> None:
        self._inner(span, (item,), 0, 0)
        self.asserts = self.looks = True
        self.item, self.ahead, self.negative = item, ahead, negative

    def __str__(self) -> str:
        return f"look{'ahead' if self.ahead else 'behind'}({'not ' if self.negative else ''}{self.item})"


class Side(NamedTuple):
    """What may stand on one side of a position: one of these characters, or the edge of the text."""

    chars: CodePointSet
    edge: bool

    def complement(self) -> Side:
        return Side(~self.chars, not self.edge)


ANYTHING: Final = Side(ALL_CHARACTERS, True)


class Boundary(Node):
    """A position whose two sides are as one of the pairs says."""

    __slots__ = ("pairs",)

    def __init__(self, span: Span, pairs: tuple[tuple[Side, Side], ...]) -> None:
        self._leaf(span, 0, 0, True)
        self.pairs = pairs

    def __str__(self) -> str:
        return f"boundary({', '.join(f'{a}~{b}' for a, b in self.pairs)})"


class And(Node):
    """The strings that all operands match. The first operand is not a `Not`."""

    __slots__ = ("operands",)

    def __init__(self, span: Span, operands: tuple[Node, ...]) -> None:
        self._inner(span, operands, max(o.min_width for o in operands), min(o.max_width for o in operands))
        self.operands = operands

    def __str__(self) -> str:
        return f"and({', '.join(map(str, self.operands))})"


class Not(Node):
    """All strings that the item does not match. It stands only among the operands of an `And`."""

    __slots__ = ("item",)

    def __init__(self, span: Span, item: Node) -> None:
        self._inner(span, (item,), 0, INFINITE)
        self.item = item

    def __str__(self) -> str:
        return f"not({self.item})"


def children_of(node: Node) -> tuple[Node, ...]:
    """The nodes that a node is made of."""
    if isinstance(node, Seq):
        return node.items
    if isinstance(node, Alt):
        return node.branches
    if isinstance(node, And):
        return node.operands
    return (node.item,) if isinstance(node, (Repeat, Group, Look, Not)) else ()


def any_string(span: Span) -> Node:
    """Any number of any characters."""
    return Repeat(span, Chars(span, ALL_CHARACTERS), 0, INFINITE)


def concat(span: Span, *nodes: Node) -> Node:
    """Nodes one after the other, flat."""
    items: list[Node] = []
    for node in nodes:
        if isinstance(node, Seq):
            items.extend(node.items)
        else:
            items.append(node)
    return items[0] if len(items) == 1 else Seq(span, tuple(items))
