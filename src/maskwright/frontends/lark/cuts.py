r"""Where a regex can be cut in two: its first matches, those that go on after no other, and what comes after them.

    >>> from maskwright.frontends.regex import parse
    >>> [(str(head[0]), str(rest[0])) for head, rest in cuts((parse("b|bc"), parse("d*")))]
    [("'b'", "repeat('d', 0, inf)"), ("'b'", "'c'")]

The matches of a sequence are, summed over its cuts, the first matches that are in the head, followed by the rest.
Where no match goes on after another, as in `b*c` or `>|/>`, the sequence is one head. A place that allows no more than
another one is left out. Characters that no set in the sequence tells apart count as one byte.

Cost: whether expressions have a common match is found by derivatives (derivatives.py), for MAX_CUTS places at most and
within MAX_NODES each.
Tested by tests/frontends/test_lark_lazy.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from maskwright.frontends.charset import CodePointSet, Encoding, partition
from maskwright.frontends.derivatives import common_match
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regex.plain import lower_plain
from maskwright.frontends.texts import shortest
from maskwright.ir import ANY_BYTE, EMPTY, Expr, and_, byte_set, not_, plus, seq

Items: TypeAlias = "tuple[regex.Node, ...]"
Way: TypeAlias = "tuple[Items, Items]"  # a head, and the rest

MAX_SIZE: Final = 300  # nodes and characters of the sequence
MAX_CUTS: Final = 32
MAX_NODES: Final = 5_000


def cuts(items: Items) -> list[Way] | None:
    """Cut a sequence without assertions; None if that takes too long."""
    if sum(max(item.size, item.min_width) for item in items) > MAX_SIZE:
        return None
    try:
        return _cuts_of(items)
    except _TooLongError:
        return None


class _TooLongError(Exception):
    pass


class _Cut(NamedTuple):
    head: Items
    rest: Items
    texts: Expr  # of the head


def _cuts_of(items: Items) -> list[Way]:
    encode = _encoding(items)
    texts = _texts(items, encode)
    if not _overlap(texts, seq(texts, plus(ANY_BYTE))):
        return [(items, ())]
    first = shortest(texts)
    kept: list[_Cut] = []
    for count, (head, rest) in enumerate(_places(items)):
        if count == MAX_CUTS:
            raise _TooLongError
        cut = _Cut(head, rest, _texts(head, encode))
        if _overlap(cut.texts, first) and not any(_is_within(cut, other, first) for other in kept):
            kept.append(cut)
    return [(cut.head, cut.rest) for cut in kept]


def _encoding(items: Items) -> Encoding:
    """Sets of characters as bytes, each of which stands for characters that no set tells apart."""
    sets: list[CodePointSet] = []

    def collect(characters: CodePointSet) -> Expr:
        sets.append(characters)
        return EMPTY

    _texts(items, collect)
    classes = partition(sets, 256)
    if classes is None:
        raise _TooLongError
    return lambda characters: byte_set(classes[characters])


def _texts(items: Items, encode: Encoding) -> Expr:
    return seq(*[lower_plain(item, encode) for item in items])


def _overlap(a: Expr, b: Expr) -> bool:
    found = common_match(a, b, MAX_NODES)
    if found is None:
        raise _TooLongError
    return found


def _is_within(cut: _Cut, other: _Cut, first: Expr) -> bool:
    """Whether another cut of the same items has all first matches of this one, and all that comes after them."""
    skipped = len(other.rest) - len(cut.rest)
    if skipped < 0 or other.rest[skipped:] != cut.rest or any(item.min_width for item in other.rest[:skipped]):
        return False
    return not _overlap(and_(cut.texts, not_(other.texts)), first)


def _places(items: Items) -> Iterator[Way]:
    """The ways to cut a sequence in two, between its items and within them."""
    for i, item in enumerate(items):
        yield items[:i], items[i:]
        for head, rest in _places_within(item):
            yield (*items[:i], *head), (*rest, *items[i + 1 :])
    yield items, ()


def _places_within(node: regex.Node) -> Iterator[Way]:
    if isinstance(node, regex.Literal):
        for i in range(1, len(node.text)):
            yield (regex.Literal(node.span, node.text[:i]),), (regex.Literal(node.span, node.text[i:]),)
    elif isinstance(node, regex.Alt):
        for branch in node.branches:
            yield from _places(items_of(branch))
    elif isinstance(node, (regex.Group, regex.Seq)):
        yield from _places(items_of(node))
    elif isinstance(node, regex.Repeat) and node.minimum == 0 and node.maximum == regex.INFINITE:
        yield (node,), (node,)
        for head, rest in _places_within(node.item):
            yield (node, *head), (*rest, node)
    elif isinstance(node, regex.Repeat):
        for before, after in _around_one(node):
            yield before, (node.item, *after)
            for head, rest in _places_within(node.item):
                yield (*before, *head), (*rest, *after)


def _around_one(node: regex.Repeat) -> Iterator[Way]:
    """A repetition as one of its item with what comes before and after that."""
    is_bounded = node.maximum != regex.INFINITE
    for i in range(node.maximum if is_bounded else node.minimum):
        most = node.maximum - i - 1 if is_bounded else regex.INFINITE
        yield _times(node, i, i), _times(node, max(node.minimum - i - 1, 0), most)
    if not is_bounded:
        yield (node,), _times(node, 0, regex.INFINITE)


def _times(node: regex.Repeat, minimum: int, maximum: int) -> Items:
    return (regex.Repeat(node.span, node.item, minimum, maximum),) if maximum else ()


def items_of(node: regex.Node) -> Items:
    while isinstance(node, regex.Group):
        node = node.item
    return node.items if isinstance(node, regex.Seq) else (node,)
