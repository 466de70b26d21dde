r"""Regular expressions of terminals as IR, where a non-greedy repetition ends as soon as it can.

    >>> from maskwright.frontends.lark.alphabets import CHARACTERS
    >>> from maskwright.frontends.regex import parse
    >>> lowered(parse('a.*?b'), CHARACTERS).dump().count("~")
    1

A pattern that ends in a non-greedy repetition ends where it first can: `/".*?"/` has no quote inside. What follows
the last such repetition may be of fixed length; from the first part of variable length on, it is free again.
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
    items = node.items
    cut = 1 + max(i for i, item in enumerate(items) if _has_lazy(item))
    while cut < len(items) and items[cut].min_width == items[cut].max_width:
        cut += 1
    if any(item.asserts for item in items[cut:]):
        cut = len(items)
    rest = [lower(item, encode) for item in items[cut:]]
    if cut == 1:
        return seq(lowered(items[0], alphabet), *rest)
    return seq(shortest(lower(regex.Seq(node.span, items[:cut]), encode)), *rest)


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
