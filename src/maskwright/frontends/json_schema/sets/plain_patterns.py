r"""Regular expressions of which it is plain that a string matches them, without making their automata.

    length_of_match("^[A-Z]{3}$")      3: AAA does
    length_of_match("^(?!x)")          -1: someone has to look

Plain is a pattern without assertions but `^` where it begins and `$` where it ends, of moderate size, without what
gives a warning (control characters that an escape may have been lost to, POSIX classes), which some string matches that
is made of characters with no meaning in any style of arguments: so it can be compiled and is not empty, whatever ends a
string. What was found of a pattern is kept.
Tested by tests/frontends/json_schema/sets/test_plain_patterns.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import MaskwrightError
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.regex import parse
from maskwright.frontends.regex.ast import INFINITE, Alt, Anchor, Chars, Group, Literal, Node, Repeat, Seq
from maskwright.frontends.warnings.lost_escapes import CONTROLS
from maskwright.frontends.warnings.posix_classes import posix_class
from maskwright.support.memos import remembered

_LONGEST: Final = 1_000  # patterns, in characters
_MOST_WEIGHT: Final = 2_000  # parts, repetitions spelled out
_USUAL: Final = "aA0-_.:/@# +"
_HARMLESS: Final = frozenset("!#$%*+-./:;?@_~ ") | frozenset(
    map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))
)


@remembered(4096)
def length_of_match(pattern: str) -> int:
    """Return the length of a string that a plain pattern matches; -1 of one that is not plain."""
    found = witness(pattern)
    return -1 if found is None else len(found)


def witness(pattern: str) -> str | None:
    """Return a string that a plain pattern matches; None of one that is not plain."""
    if len(pattern) > _LONGEST or not CONTROLS.isdisjoint(pattern) or posix_class(pattern) is not None:
        return None
    try:
        node = parse(pattern, "", "ecma")
    except MaskwrightError:
        return None
    found = _anchored(node) if _weight(node) <= _MOST_WEIGHT else None
    return found if found is not None and _HARMLESS.issuperset(found) else None


def _weight(node: Node) -> int:
    if isinstance(node, Repeat):
        times = node.minimum if node.maximum == INFINITE else node.maximum
        return 1 + min(times, _MOST_WEIGHT) * _weight(node.item)
    if isinstance(node, Group):
        return _weight(node.item)
    if isinstance(node, (Seq, Alt)):
        return 1 + sum(map(_weight, node.items if isinstance(node, Seq) else node.branches))
    return 1


def _anchored(node: Node) -> str | None:
    """A string that a pattern, or a branch of one, matches as a whole."""
    if isinstance(node, Alt):
        return _first(list(map(_anchored, node.branches)))
    items = list(node.items) if isinstance(node, Seq) else [node]
    if items and isinstance(items[0], Anchor) and items[0].kind == "start":
        del items[0]
    if items and isinstance(items[-1], Anchor) and items[-1].kind == "end":
        del items[-1]
    return _joined(items)


def _shortest(node: Node) -> str | None:
    """A string that a part without assertions matches, with as few repetitions as may be."""
    if isinstance(node, Literal):
        return node.text
    if isinstance(node, Chars):
        return _usual(node.chars)
    if isinstance(node, Seq):
        return _joined(list(node.items))
    if isinstance(node, Alt):
        return _first(list(map(_shortest, node.branches))) if not node.asserts else None
    if isinstance(node, Group):
        return _shortest(node.item)
    if isinstance(node, Repeat):
        item = _shortest(node.item)
        return None if item is None else item * node.minimum
    return None


def _joined(items: list[Node]) -> str | None:
    found = list(map(_shortest, items))
    return None if None in found else "".join(map(str, found))


def _first(found: list[str | None]) -> str | None:
    return None if None in found else found[0]


def _usual(chars: CodePointSet) -> str | None:
    for character in _USUAL:
        if character in chars:
            return character
    return chr(chars.ranges[0][0]) if chars else None
