r"""Regular expressions of terminals as IR, where a non-greedy repetition ends as soon as it can.

    >>> from maskwright.frontends.lark.alphabets import CHARACTERS
    >>> from maskwright.frontends.regex import parse
    >>> lowered(parse('a.*?b'), CHARACTERS).dump().count("~")
    1

A pattern that ends in a non-greedy repetition ends where it first can: `/".*?"/` has no quote inside. What comes before
the first such repetition is free, as in `/[a-z]*".*?"/`. What follows the last one is looked for, and where its first
match ends, it goes on as usual: in `/".*?";*/` the quote is, in `/<.*?(>|\/>)/` either end. So it is cut into a *head*,
which has first matches, and the *rest*, in all places where that is possible: `b+` into `b` and `b*`.

    matches     =   what is before · (M head & first ends) · rest,   summed over the cuts
    first ends  =   M head rest & ~(M head rest and more)
    M           =   from the first non-greedy repetition to the last

Assertions see all of the terminal: with a lookahead or an anchor in it there is no cut, and it may end only where these
hold, too, seeing what follows in the terminal.
Where it takes too long to find the cuts (cuts.py), or there is a lookbehind behind M, all that follows M is the head.
Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from maskwright.frontends.charset import ALL_CHARACTERS
from maskwright.frontends.lark.alphabets import Alphabet
from maskwright.frontends.lark.cuts import Items, Way, cuts, items_of
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regex.lower import lower
from maskwright.frontends.texts import shortest
from maskwright.ir import ANY_BYTE, UNBOUNDED, Expr, alt, and_, not_, plus, repeat, seq


def lowered(node: regex.Node, alphabet: Alphabet) -> Expr:
    """Lower a regex; non-greedy parts end where they first can."""
    encode = alphabet.encode
    if not _has_lazy(node):
        return lower(node, encode)
    if isinstance(node, regex.Group):
        return lowered(node.item, alphabet)
    if isinstance(node, regex.Alt):
        return alt(*(lowered(branch, alphabet) for branch in node.branches))
    if isinstance(node, regex.Repeat) and not node.lazy:
        return repeat(
            lowered(node.item, alphabet), node.minimum, UNBOUNDED if node.maximum == regex.INFINITE else node.maximum
        )
    if isinstance(node, regex.Seq):
        return _lowered_sequence(node, alphabet)
    return shortest(lower(node, encode))


def _lowered_sequence(node: regex.Seq, alphabet: Alphabet) -> Expr:
    items = _with_fixed_beginnings(node.items)
    with_lazy = [i for i, item in enumerate(items) if _has_lazy(item)]
    first, end = with_lazy[0], 1 + with_lazy[-1]
    if any(map(_looks_ahead, items)):
        return _first_in_context(node, alphabet)
    if node.asserts:
        first = 0  # an assertion sees what is before it
    before, middle, after = items[:first], items[first:end], items[end:]
    ways = _ways(after)
    if len(ways) > 1:
        ends = shortest(_of((*middle, *after), alphabet))
        early = [and_(_of((*middle, *head), alphabet), ends) for head, _ in ways]
    elif len(middle) == 1 and not ways[0][0]:
        early = [lowered(middle[0], alphabet)]
    else:
        early = [shortest(_of((*middle, *ways[0][0]), alphabet))]
    found = [seq(each, *_each(rest, alphabet)) for each, (_, rest) in zip(early, ways, strict=True)]
    return seq(*_each(before, alphabet), alt(*found))


def _each(items: Items, alphabet: Alphabet) -> list[Expr]:
    return [lower(item, alphabet.encode) for item in items]


def _of(items: Items, alphabet: Alphabet) -> Expr:
    return lower(regex.Seq(regex.NOWHERE, items), alphabet.encode)


def _first_in_context(node: regex.Seq, alphabet: Alphabet) -> Expr:
    """The texts of a pattern that do not go on after one of its texts, where assertions allow that one to end."""
    texts = lower(node, alphabet.encode)
    more = regex.Repeat(node.span, regex.Chars(node.span, ALL_CHARACTERS), 1, regex.INFINITE)
    return and_(texts, not_(and_(seq(texts, plus(ANY_BYTE)), _of((node, more), alphabet))))


def _looks_ahead(node: regex.Node) -> bool:
    """Whether an assertion in it may depend on what follows."""
    pending = [node]
    for at in pending:  # grows meanwhile
        if isinstance(at, regex.Anchor) or (isinstance(at, regex.Look) and at.ahead):
            return True
        pending.extend(regex.children_of(at))
    return False


def _ways(items: Items) -> list[Way]:
    """Cut what follows a non-greedy repetition into heads, and what may come after each."""
    fixed = next((i for i, item in enumerate(items) if item.min_width != item.max_width), len(items))
    if not any(item.min_width or item.asserts for item in items[fixed:]):
        return [(items[:fixed], items[fixed:])]
    found = None if any(item.asserts for item in items) else cuts(items)
    return found or [(items, ())]


def _with_fixed_beginnings(items: Items) -> Items:
    """The same with `;+` as `;;*`: a non-greedy repetition before it ends where the first of these is."""
    split: list[regex.Node] = []
    for item in _flat(items):
        if isinstance(item, regex.Repeat) and item.maximum > item.minimum > 0 and not _has_lazy(item):
            more = item.maximum if item.maximum == regex.INFINITE else item.maximum - item.minimum
            split.append(regex.Repeat(item.span, item.item, item.minimum, item.minimum))
            split.append(regex.Repeat(item.span, item.item, 0, more))
        else:
            split.append(item)
    return tuple(split)


def _flat(items: Items) -> Items:
    """The same without groups around sequences, but for those that end early by themselves."""
    pending, flat = list(reversed(items)), list[regex.Node]()
    while pending:
        item = pending.pop()
        if isinstance(item, (regex.Group, regex.Seq)) and not _has_lazy(item):
            pending += reversed(items_of(item))
        else:
            flat.append(item)
    return tuple(flat)


def _has_lazy(node: regex.Node) -> bool:
    pending = [node]
    for at in pending:  # grows meanwhile
        if isinstance(at, regex.Repeat) and at.lazy and at.minimum != at.maximum:
            return True
        if not isinstance(at, regex.Look):
            pending.extend(regex.children_of(at))
    return False
