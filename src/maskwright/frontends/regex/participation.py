r"""Back-references as ECMA-262 means them: which group took part, and what it matched.

    (?:(a|b)|c)-\1       →   a-a|b-b|c-       a group with few texts is spelled out; one that took no part is empty
    (?:(\w+)|c)-\1       →   (\w+)-\1|c-      a group with many texts stays, in front of its back-references

A pattern is taken apart into *ways* through it: what the groups that are still needed matched there (a text, or some
text of many), and a pattern for it. Ways that agree on the groups become one again, so there are as many at once as
texts that are still needed. Each iteration of a repetition forgets the groups inside, so only the last one counts
behind it. What is left of back-references comes behind its group, which certainly matched, in the same sequence.
Source: ECMA-262 section 22.2.2 (RepeatMatcher, BackreferenceMatcher). Cost: at most MAX_SIZE nodes at a time, copied
once for each item of their sequence.
Tested by tests/frontends/regex/test_participation.py.
"""

from __future__ import annotations

from itertools import chain, product
from typing import Final, NamedTuple, TypeAlias

from maskwright.errors import LimitError, RegexSyntaxError
from maskwright.frontends.regex.ast import (
    INFINITE,
    Alt,
    BackReference,
    Chars,
    Group,
    Literal,
    Look,
    Node,
    Repeat,
    Seq,
    children_of,
    concat,
)
from maskwright.frontends.regex.back_references import check_number, recalled_groups

MAX_SIZE: Final = 4_000  # nodes, of a pattern with back-references
_MOST_TEXTS: Final = 64  # of a group that is spelled out, and how many characters they have together
_MOST_CHARACTERS: Final = 500

# What groups matched that are still needed, by number: a text, or None for one of many.
_Known: TypeAlias = tuple[tuple[int, str | None], ...]
_NONE: Final[frozenset[int]] = frozenset()


class _Way(NamedTuple):
    known: _Known
    node: Node


class _TooLargeError(Exception):
    """The ways through a pattern have too many nodes."""


def with_groups_spelled(node: Node, pattern: str) -> Node:
    """Return a pattern for the same texts whose back-references all come behind a group with many texts.

    Raises:
        RegexSyntaxError: A lookaround holds a group that is referred back to, or such a group is in a repetition whose
            last iteration may be empty.
        LimitError: Too many groups are named, or there are too many ways through the pattern.
    """
    groups = recalled_groups(node)
    if not groups:
        return node
    check_number(groups)
    try:
        return _taken_apart(node, _Ways(groups, pattern, True))
    except _TooLargeError:
        pass  # with the groups' texts spelled out
    try:
        return _taken_apart(node, _Ways(groups, pattern, False))
    except _TooLargeError as error:
        hint = "use fewer back-references, or fewer groups that may or may not take part"
        message = "the pattern is too large, or there are too many ways through its groups"
        raise LimitError(message, limit="regex size", hint=hint) from error


def _taken_apart(node: Node, ways: _Ways) -> Node:
    if node.size > MAX_SIZE:
        raise _TooLargeError
    return _either([way.node for way in ways.of(node, (), _NONE)])


class _Ways:
    def __init__(self, groups: set[int], pattern: str, spells: bool) -> None:
        self.groups, self.pattern, self.spells = groups, pattern, spells
        self.referred: dict[int, frozenset[int]] = {}  # by identity: the groups that are referred back to in a node
        self.held: dict[int, frozenset[int]] = {}  # and those that are referred back to and stand in it

    def of(self, node: Node, known: _Known, needed: frozenset[int]) -> list[_Way]:
        """The ways through a node, behind which the groups in `needed` are."""
        if not self._referred(node) and not self._held(node):
            return [_Way(_kept(known, needed), node)]
        if isinstance(node, BackReference):
            return [_Way(_kept(known, needed), _again(node, known))]
        if isinstance(node, Group):
            return self._group(node, known, needed)
        if isinstance(node, Alt):
            return self._merged([way for branch in node.branches for way in self.of(branch, known, needed)])
        if isinstance(node, Repeat):
            return self._repeat(node, known, needed)
        if isinstance(node, Look):
            return [_Way(_kept(known, needed), self._look(node, known))]
        assert isinstance(node, Seq)
        return self._sequence(node, known, needed)

    def _sequence(self, node: Seq, known: _Known, needed: frozenset[int]) -> list[_Way]:
        needed_after: list[frozenset[int]] = []
        for item in reversed(node.items):
            needed_after.append(needed)
            needed = needed | self._referred(item)
        empty = Seq(node.span, ())
        common: list[Node] = []  # what all ways begin with
        ways = [_Way(known, empty)]
        for item, wanted in zip(node.items, reversed(needed_after), strict=True):
            if len(ways) == 1:
                common.append(ways[0].node)
                ways = [_Way(ways[0].known, empty)]
            steps = [(way, more) for way in ways for more in self.of(item, way.known, wanted)]
            ways = self._merged([_Way(more.known, _joined(node, way.node, more.node)) for way, more in steps])
        return [_Way(way.known, _joined(node, *common, way.node)) for way in ways]

    def _group(self, node: Group, known: _Known, needed: frozenset[int]) -> list[_Way]:
        inner = self.of(node.item, known, needed - {node.number})
        if node.number not in needed:
            return inner
        out: list[_Way] = []
        for way in inner:
            texts = few_texts(way.node) if self.spells else None
            if not texts:
                group = Group(node.span, way.node, node.name, node.number)
                out.append(_Way(_with(way.known, node.number, None), group))
                continue
            for text in texts:
                spelled = Literal(node.span, text) if text else Seq(node.span, ())
                out.append(_Way(_with(way.known, node.number, text), spelled))
        return self._merged(out)

    def _repeat(self, node: Repeat, known: _Known, needed: frozenset[int]) -> list[_Way]:
        inside = self._held(node.item)
        any_item = _either([way.node for way in self.of(node.item, known, needed - inside)])
        if not inside & needed:
            again = Repeat(node.span, any_item, node.minimum, node.maximum, node.lazy)
            return [_Way(_kept(known, needed), again)]
        if node.maximum > 1 and not node.item.min_width:
            hint = "write the repetition so that what is repeated is never empty, by + instead of *"
            raise self._error("a group that is referred back to is in a repetition that may match nothing", node, hint)
        ways = [_Way(_kept(known, needed), Seq(node.span, ()))] if not node.minimum else []
        if node.maximum:
            most = node.maximum if node.maximum == INFINITE else node.maximum - 1
            before = Repeat(node.span, any_item, max(node.minimum - 1, 0), most, node.lazy)
            last = self.of(node.item, known, needed)
            ways += [_Way(way.known, _joined(node, *((before,) if most else ()), way.node)) for way in last]
        return self._merged(ways)

    def _look(self, node: Look, known: _Known) -> Node:
        if self._held(node):
            hint = "put the group outside the lookaround"
            raise self._error("a group in a lookaround is referred back to", node, hint)
        inner = _either([way.node for way in self.of(node.item, known, _NONE)])
        return Look(node.span, inner, node.ahead, node.negative)

    def _merged(self, ways: list[_Way]) -> list[_Way]:
        """Ways that agree on the groups become one; a group that stays must be in one sequence with what needs it."""
        alike: dict[_Known, list[Node]] = {}
        apart: list[_Way] = []
        for way in ways:
            if any(text is None for _, text in way.known):
                apart.append(way)
            else:
                alike.setdefault(way.known, []).append(way.node)
        merged = [_Way(known, _either(nodes)) for known, nodes in alike.items()] + apart
        if sum(way.node.size for way in merged) > MAX_SIZE:
            raise _TooLargeError
        return merged

    def _referred(self, node: Node) -> frozenset[int]:
        found = self.referred.get(id(node))
        if found is None:
            own = {node.number} if isinstance(node, BackReference) else ()
            found = self.referred[id(node)] = frozenset(own).union(*map(self._referred, children_of(node)))
        return found

    def _held(self, node: Node) -> frozenset[int]:
        found = self.held.get(id(node))
        if found is None:
            own = {node.number} & self.groups if isinstance(node, Group) else ()
            found = self.held[id(node)] = frozenset(own).union(*map(self._held, children_of(node)))
        return found

    def _error(self, message: str, node: Node, hint: str) -> RegexSyntaxError:
        return RegexSyntaxError(message, source=self.pattern, span=node.span, hint=hint).as_unsupported()


def _again(node: BackReference, known: _Known) -> Node:
    for number, text in known:
        if number == node.number:
            return node if text is None else Literal(node.span, text)
    return Seq(node.span, ())


def _kept(known: _Known, needed: frozenset[int]) -> _Known:
    return tuple([entry for entry in known if entry[0] in needed])


def _with(known: _Known, number: int, text: str | None) -> _Known:
    """An empty text is as none: both recall nothing."""
    return known if text == "" else tuple(sorted((*known, (number, text)), key=lambda entry: entry[0]))


def _joined(whole: Node, *nodes: Node) -> Node:
    return concat(whole.span, *nodes)


def _either(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Alt(nodes[0].span, tuple(nodes))


def few_texts(node: Node) -> list[str] | None:
    """The texts that a node matches; None if they are many, or depend on what is around them."""
    if isinstance(node, Literal):
        return _limited([node.text])
    if isinstance(node, Chars):
        return _limited([*map(chr, node.chars)]) if len(node.chars) <= _MOST_TEXTS else None
    if isinstance(node, Group):
        return few_texts(node.item)
    if isinstance(node, Repeat):
        return _repeated_texts(node)
    if not isinstance(node, (Seq, Alt)):
        return None
    found: list[list[str]] = []
    for part in node.items if isinstance(node, Seq) else node.branches:
        texts = few_texts(part)
        if texts is None:
            return None
        found.append(texts)
    return _limited([*chain(*found)]) if isinstance(node, Alt) else _in_sequence(found)


def _repeated_texts(node: Repeat) -> list[str] | None:
    item = few_texts(node.item)
    if item is None or node.maximum > _MOST_TEXTS:
        return None
    found: list[str] = []
    for times in range(node.minimum, node.maximum + 1):
        texts = _in_sequence([item] * times)
        if texts is None:
            return None
        found += texts
    return _limited(found)


def _in_sequence(parts: list[list[str]]) -> list[str] | None:
    texts = [""]
    for part in parts:
        longer = _limited([before + after for before, after in product(texts, part)])
        if longer is None:
            return None
        texts = longer
    return texts


def _limited(texts: list[str]) -> list[str] | None:
    """These texts, each once; None if they are many."""
    once = list(dict.fromkeys(texts))
    return once if len(once) <= _MOST_TEXTS and sum(map(len, once)) <= _MOST_CHARACTERS else None
