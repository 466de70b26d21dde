r"""Lookarounds and anchors, turned into what a regular expression can say: `Boundary`, `And`, `Not`.

* An anchor, or a lookaround of at most one character (`(?!\d)`, `(?<=^|,)`), becomes a `Boundary`: a condition on the
  two characters next to a position. `context.py` lowers these wherever they stand, within loops too.
* A longer lookahead in front of enough characters to decide it looks at those: `(?!ab)\w\w\w` is `\w\w\w & ~(ab.*)`.
* Otherwise it looks at all the rest of the pattern, where that is known: `^(?=.*\d).{8,}$` is `.{8,} & (.*\d.*)`.
  Branches that hold one take a copy of what follows them. Within a loop the rest is not known, and the lookahead is
  refused, but in front of a loop's characters as in `(?:(?!-->).)*-->` and `(?:(?!--)[a-z-]){1,63}\.com`, where it
  is seen from the text which of its characters are the loop's.
* Lookbehind is the mirror image. One that has to look behind a lookahead's `And` is refused.

    >>> from maskwright.frontends.regex.parser import parse
    >>> str(resolve(parse("(?!ab)c+")))
    "and(repeat('c', 1, inf), not(seq('ab', repeat(CodePointSet(0-D7FF, E000-10FFFF), 0, inf))))"

Sources: the derivation is by the definition of lookarounds in ECMA-262 section 22.2.2. Cost: linear, but for the
copies, which are limited by MAX_SIZE.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from maskwright.errors import LimitError, RegexSyntaxError
from maskwright.frontends.charset import ALL_CHARACTERS, NO_CHARACTERS, CodePointSet
from maskwright.frontends.regex.ast import (
    ANYTHING,
    INFINITE,
    NOWHERE,
    Alt,
    Anchor,
    And,
    Boundary,
    Chars,
    Group,
    Literal,
    Look,
    Node,
    Not,
    Repeat,
    Seq,
    Side,
    any_string,
    concat,
)
from maskwright.support.interruption import interrupt_checkpoint

Pairs: TypeAlias = "tuple[tuple[Side, Side], ...]"
Rest: TypeAlias = "Callable[[], Node] | None"

MAX_SIZE: Final = 200_000
MAX_OPERANDS: Final = 100
_EDGE: Final = Side(NO_CHARACTERS, True)


def resolve(node: Node, pattern: str | None = None) -> Node:
    """Return an equal tree whose only assertions are of the type `Boundary`.

    Raises:
        RegexSyntaxError: A lookaround stands where it cannot be resolved exactly.
        LimitError: The tree grows too large.
    """
    for ahead in (True, False):
        node, _ = _Resolver(ahead, pattern).resolve(node, _nothing)
    return node


def _sides(node: Node, ahead: bool) -> Side | None:
    """What a lookaround's body asks of the next character, if it asks nothing else."""
    if isinstance(node, Chars):
        return Side(node.chars, False)
    if isinstance(node, Literal) and len(node.text) == 1:
        return Side(CodePointSet.from_string(node.text), False)
    if isinstance(node, Group):
        return _sides(node.item, ahead)
    if isinstance(node, Anchor):
        if node.kind == ("end" if ahead else "start"):
            return _EDGE
        return Side(node.chars, True) if node.kind == ("line_end" if ahead else "line_start") else None
    if isinstance(node, Seq) and len(node.items) <= 1:
        return _sides(node.items[0], ahead) if node.items else ANYTHING
    if isinstance(node, Alt):
        chars, edge = NO_CHARACTERS, False
        for branch in node.branches:
            side = _sides(branch, ahead)
            if side is None:
                return None
            chars, edge = chars | side.chars, edge or side.edge
        return Side(chars, edge)
    return None


def _trim(node: Node, ahead: bool) -> Node:
    """Leave out what a lookaround's body may match at its far end but need not."""
    while isinstance(node, Group):
        node = node.item
    if node.min_width == 0 and not node.asserts:
        return Seq(node.span, ())
    if isinstance(node, Seq):
        items = list(node.items)
        far = -1 if ahead else 0
        while items and items[far].min_width == 0 and not items[far].asserts:
            items.pop(far)
        return items[0] if len(items) == 1 else Seq(node.span, tuple(items))
    if isinstance(node, Repeat) and not node.asserts and node.minimum == 1:
        return node.item
    return node


@lru_cache(maxsize=64)
def _anchor_pairs(kind: str, chars: CodePointSet) -> Pairs:
    if kind == "start":
        return ((_EDGE, ANYTHING),)
    if kind == "end":
        return ((ANYTHING, _EDGE),)
    if kind == "line_start":
        return ((Side(chars, True), ANYTHING),)
    if kind == "line_end":
        return ((ANYTHING, Side(chars, True)),)
    word, other = Side(chars, False), Side(~chars, True)
    pairs: dict[str, Pairs] = {
        "word": ((word, other), (other, word)),
        "not_word": ((word, word), (other, other)),
        "word_start": ((other, word),),
        "word_end": ((word, other),),
        "word_start-half": ((other, ANYTHING),),
        "word_end-half": ((ANYTHING, other),),
    }
    return pairs[kind]


@lru_cache(maxsize=64)
def _look_pairs(side: Side, ahead: bool, negative: bool) -> Pairs:
    if negative:
        side = side.complement()
    return ((ANYTHING, side) if ahead else (side, ANYTHING),)


class _Resolver:
    """One pass, for lookaheads or for lookbehinds.

    *Near* and *far* are seen from a lookaround: far is where it looks. Lists of nodes go from far to near, as they are
    resolved. A `rest` makes the node for everything between the far end of a node and the edge of the text; None stands
    for "not known here".
    """

    def __init__(self, ahead: bool, pattern: str | None) -> None:
        self.ahead = ahead
        self.pattern = pattern

    def resolve(self, node: Node, rest: Rest) -> tuple[Node, bool]:
        """Return the resolved node, and whether it has swallowed `rest`."""
        interrupt_checkpoint()
        if not node.asserts or isinstance(node, Boundary):
            return node, False
        if isinstance(node, Anchor):
            return Boundary(node.span, _anchor_pairs(node.kind, node.chars)), False
        if isinstance(node, (Seq, Look, Repeat)):
            return self._sequence(node, rest)
        if isinstance(node, Alt):
            return self._alternatives(node, rest)
        if isinstance(node, Group):
            item, swallowed = self.resolve(node.item, rest)
            return (item, True) if swallowed else (Group(node.span, item, node.name, node.number), False)
        return self._intersection(node, rest)

    def _join(self, at: Node, far_to_near: list[Node]) -> Node:
        return concat(at.span, *(reversed(far_to_near) if self.ahead else far_to_near))

    def _checked(self, node: Node) -> Node:
        if node.size > MAX_SIZE:
            raise LimitError(
                "the lookarounds of the regular expression need too many copies of the expressions next to them",
                limit="regex size",
                hint="move lookarounds to the start of the pattern",
            )
        return node

    def _sequence(self, node: Seq | Look | Repeat, rest: Rest) -> tuple[Node, bool]:
        items = node.items if isinstance(node, Seq) else (node,)
        done: list[Node] = []
        swallowed = False
        for item in reversed(items) if self.ahead else items:
            if not item.looks:
                done.append(self._resolve_anchors(item))
                continue
            if isinstance(item, Look):
                swallowed |= self._look(item, done, _nothing if swallowed else rest)
                continue
            onward = self._onward(item, done, _nothing if swallowed else rest)
            if isinstance(item, Repeat):
                tempered = self._tempered(item, done, onward)
                if tempered is not None:
                    swallowed |= tempered
                    continue
                new, took = self._repeat(item, onward)
            else:
                new, took = self.resolve(item, onward)
            if took:
                done, swallowed = [], True
            done.append(new)
        return self._checked(self._join(node, done)), swallowed

    def _resolve_anchors(self, item: Node) -> Node:
        if isinstance(item, Repeat) and item.asserts:
            return self._repeat(item, None)[0]
        return self.resolve(item, None)[0]

    def _onward(self, at: Node, done: list[Node], rest: Rest) -> Rest:
        return None if rest is None else lambda: self._join(at, [rest(), *done])

    def _look(self, look: Look, done: list[Node], rest: Rest) -> bool:
        """Put a condition on what comes next; return whether that swallowed `rest`."""
        body = _trim(look.item, look.ahead)
        side = _sides(body, look.ahead)
        if side is not None or look.ahead != self.ahead:
            if side is None:
                done.append(look)
            else:
                done.append(Boundary(look.span, _look_pairs(side, look.ahead, look.negative)))
            return False
        if not self.ahead:
            body, _ = _Resolver(True, self.pattern).resolve(body, None)
        width = count = 0
        while count < len(done) and width < body.max_width:
            count += 1
            width += done[-count].min_width
        local = width >= body.max_width
        if not local and rest is None:
            raise self._refusal(look)
        run = done[len(done) - count :] if local or rest is None else [rest(), *done]
        more = any_string(look.span)
        inner, swallowed = self.resolve(body, None if local else lambda: more)
        condition = inner if swallowed else self._join(look, [more, inner])
        operand = Not(look.span, condition) if look.negative else condition
        kept = len(done) - count if local else 0
        done[kept:] = [self._checked(_intersect(look, self._join(look, run), operand))]
        return not local

    def _refusal(self, look: Look) -> RegexSyntaxError:
        name, place = ("lookahead", "after") if self.ahead else ("lookbehind", "before")
        return RegexSyntaxError(
            f"this {name} is not supported: it may depend on more text than is known to come {place} it",
            source=self.pattern,
            span=look.span,
            hint=f"move the {name} out of the loop, or put enough characters {place} it to decide it",
        ).as_unsupported()

    def _alternatives(self, node: Alt, rest: Rest) -> tuple[Node, bool]:
        results = [self.resolve(branch, rest) for branch in node.branches]
        if rest is None or not any(swallowed for _, swallowed in results):
            return Alt(node.span, tuple(branch for branch, _ in results)), False
        end = rest()
        branches = tuple(branch if took else self._join(branch, [end, branch]) for branch, took in results)
        return self._checked(Alt(node.span, branches)), True

    def _repeat(self, node: Repeat, rest: Rest) -> tuple[Node, bool]:
        if node.minimum == 0 and node.maximum == 1:
            return self._alternatives(Alt(node.span, (node.item, Seq(node.span, ()))), rest)
        item, _ = self.resolve(node.item, None)
        return Repeat(node.span, item, node.minimum, node.maximum, node.lazy), False

    def _intersection(self, node: Node, rest: Rest) -> tuple[Node, bool]:
        # A & B after something is not (something A) & (something B), unless that something is empty.
        inside = _nothing if rest is not None and rest().max_width == 0 else None
        if isinstance(node, Not):
            return Not(node.span, self.resolve(node.item, inside)[0]), False
        assert isinstance(node, And)
        return And(node.span, tuple(self.resolve(operand, inside)[0] for operand in node.operands)), False

    def _tempered(self, loop: Repeat, done: list[Node], rest: Rest) -> bool | None:
        """Resolve `(?:(?!X)C)*`, or so many, where "no X begins in the loop" can be said of the text.

        Before X, or before the end of the text, it means that there is none within; before what begins with no C, that
        none begins in the C's that come first. Returns whether that swallowed `rest`; None for other loops and places.
        """
        parts = _tempered_parts(loop) if self.ahead else None
        if parts is None:
            return None
        stop, char = parts
        body = Repeat(loop.span, char, loop.minimum, loop.maximum)
        anything = any_string(loop.span)
        last = done[-1] if done else None
        if isinstance(stop, Literal) and isinstance(last, Literal) and last.text.startswith(stop.text):
            early = concat(loop.span, anything, stop, Chars(loop.span, ALL_CHARACTERS), anything)
            after = last.text[len(stop.text) :]
            done[-1:] = [Literal(last.span, after)] if after else []
            done.append(_intersect(loop, concat(loop.span, body, stop), Not(loop.span, early)))
            return False
        if rest is None or not stop.min_width:
            return None
        behind = rest()
        if not behind.max_width:
            within = concat(loop.span, anything, stop, anything)
            done.append(_intersect(loop, body, Not(loop.span, within)))
            return False
        chars = _beginnings(char)
        if not chars.isdisjoint(_beginnings(behind)):
            return None
        own = Chars(loop.span, chars)
        begins = And(loop.span, (concat(loop.span, stop, anything), concat(loop.span, own, anything)))
        within = concat(loop.span, Repeat(loop.span, own, 0, INFINITE), begins)
        done[:] = [self._checked(_intersect(loop, concat(loop.span, body, behind), Not(loop.span, within)))]
        return True


def _nothing() -> Node:
    return Seq(NOWHERE, ())


def _intersect(at: Node, run: Node, operand: Node) -> And:
    operands = run.operands if isinstance(run, And) else (run,)
    if len(operands) > MAX_OPERANDS:
        raise LimitError(
            f"more than {MAX_OPERANDS} lookarounds at one position",
            limit="regex lookarounds",
            hint="join them into one with |",
        )
    return And(at.span, (*operands, operand))


def _beginnings(node: Node) -> CodePointSet:
    """Characters with which texts may begin that it matches: all of them, and perhaps others."""
    if isinstance(node, Chars):
        return node.chars
    if isinstance(node, Literal):
        return CodePointSet.from_string(node.text[0])
    if isinstance(node, (Group, Repeat)):
        return _beginnings(node.item)
    if isinstance(node, And):
        return _beginnings(node.operands[0])
    if not isinstance(node, (Seq, Alt)):
        return NO_CHARACTERS if node.max_width == 0 else ALL_CHARACTERS
    out = NO_CHARACTERS
    for part in node.items if isinstance(node, Seq) else node.branches:
        out = out | _beginnings(part)
        if isinstance(node, Seq) and part.min_width:
            break
    return out


def _tempered_parts(loop: Repeat) -> tuple[Node, Node] | None:
    """The X and the C of a loop `(?:(?!X)C)*`, without assertions of their own; X may be any of several."""
    item = loop.item
    while isinstance(item, Group):
        item = item.item
    if not isinstance(item, Seq) or len(item.items) < 2:
        return None
    *looks, char = item.items
    stops = [_trim(look.item, True) for look in looks if isinstance(look, Look) and look.negative and look.ahead]
    if len(stops) != len(looks) or any(stop.asserts for stop in stops):
        return None
    if char.asserts or not char.min_width == char.max_width == 1:
        return None
    return (stops[0] if len(stops) == 1 else Alt(loop.span, tuple(stops))), char
