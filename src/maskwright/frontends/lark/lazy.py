r"""Regular expressions of terminals as IR, where a non-greedy repetition ends as soon as it can.

    >>> from maskwright.frontends.lark.alphabets import CHARACTERS
    >>> from maskwright.frontends.regex import parse
    >>> lowered(parse('a.*?b'), CHARACTERS).dump().count("~")
    1

A pattern that ends in a non-greedy repetition ends where it first can: `/".*?"/` has no quote inside. What comes before
the first such repetition is free, as in `/[a-z]*".*?"/`. What follows the last one may be of fixed length, such as the
first `;` of `;+`; from the first part of variable length on, it is free again.
Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from maskwright.frontends.lark.alphabets import Alphabet
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regex.lower import lower
from maskwright.frontends.texts import shortest
from maskwright.ir import UNBOUNDED, Expr, alt, repeat, seq


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
    encode = alphabet.encode
    items = _with_fixed_beginnings(node.items)
    with_lazy = [i for i, item in enumerate(items) if _has_lazy(item)]
    first, cut = with_lazy[0], 1 + with_lazy[-1]
    while cut < len(items) and items[cut].min_width == items[cut].max_width:
        cut += 1
    if any(item.asserts for item in items[cut:]):
        cut = len(items)
    if any(item.asserts for item in items[:cut]):
        first = 0  # an assertion sees what is beside it
    before, rest = ([lower(item, encode) for item in part] for part in (items[:first], items[cut:]))
    if cut == first + 1:
        return seq(*before, lowered(items[first], alphabet), *rest)
    return seq(*before, shortest(lower(regex.Seq(node.span, items[first:cut]), encode)), *rest)


def _with_fixed_beginnings(items: tuple[regex.Node, ...]) -> tuple[regex.Node, ...]:
    """The same with `;+` as `;;*`: a non-greedy repetition before it ends where the first of these is."""
    split: list[regex.Node] = []
    for item in items:
        if isinstance(item, regex.Repeat) and item.maximum > item.minimum > 0 and not _has_lazy(item):
            more = item.maximum if item.maximum == regex.INFINITE else item.maximum - item.minimum
            split.append(regex.Repeat(item.span, item.item, item.minimum, item.minimum))
            split.append(regex.Repeat(item.span, item.item, 0, more))
        else:
            split.append(item)
    return tuple(split)


def _has_lazy(node: regex.Node) -> bool:
    pending = [node]
    for at in pending:  # grows meanwhile
        if isinstance(at, regex.Repeat):
            if at.lazy and at.minimum != at.maximum:
                return True
            pending.append(at.item)
        elif isinstance(at, regex.Group):
            pending.append(at.item)
        elif isinstance(at, regex.Seq):
            pending.extend(at.items)
        elif isinstance(at, regex.Alt):
            pending.extend(at.branches)
    return False
