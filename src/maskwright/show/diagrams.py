"""Railroad diagrams of a grammar, as SVG, from the EBNF that `Grammar.to_ebnf` writes.

    drawn = diagrams('root ::= "a" [0-9]+')        # [("root", "<svg …")]

What would not be read in a drawing (long or deep bodies, intersections, complements) is a box with its text. At most
`MOST_RULES` rules are drawn. The library is `railroad-diagrams`; it escapes what it is given.
Tested by tests/show/test_diagrams.py.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from maskwright.show.markup import Markup, cut

MOST_RULES = 40
_MOST_DEPTH = 5  # of groups
_MOST_TEXT = 500  # characters of a body
_SHORT = 36  # characters in a box
_PART = re.compile(
    r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\$?[A-Za-z_][\w.-]*=?(?:\((?:"(?:[^"\\]|\\.)*"|[^()"])*\))?'
    r"|\{\d*,?\d*\}|<[^>]*>|\S"
)
_COUNT = re.compile(r"\{\d*,?\d*\}")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


class Diagram(NamedTuple):
    """A rule's name, its drawing, and its text."""

    rule: str
    svg: Markup
    body: str


def diagrams(ebnf: str) -> list[Diagram]:
    """Draw the first `MOST_RULES` rules.

    Raises:
        ImportError: The library is not installed.
    """
    library: Any = importlib.import_module("railroad")
    rules = [line.partition(" ::= ") for line in ebnf.split("\n")]
    names = {_bare(head) for head, _, _ in rules[:MOST_RULES]}
    return [
        Diagram(_bare(head), _svg(library, _Drawing(library, body, names).whole()), body)
        for head, _, body in rules[:MOST_RULES]
    ]


def anchor(rule: str) -> str:
    """The id of a rule's drawing on a page."""
    return f"rule-{rule}"


def _bare(head: str) -> str:
    """A rule's name without its options."""
    return head.partition("[")[0].strip()


def _svg(library: Any, item: Any) -> Markup:
    out = io.StringIO()
    library.Diagram(item).writeSvg(out.write)
    return Markup(out.getvalue())


class _Drawing:
    """Draws one body by recursive descent, as deep as `_MOST_DEPTH`."""

    def __init__(self, library: Any, body: str, names: set[str]) -> None:
        self._library, self._body, self._names = library, body, names
        self._parts: Sequence[str] = _PART.findall(body) if len(body) <= _MOST_TEXT else ()
        self._at = 0

    def whole(self) -> Any:
        if not self._parts or "&" in self._parts or "~" in self._parts or self._depth() > _MOST_DEPTH:
            return self._library.Terminal(cut(self._body, _SHORT), title=cut(self._body, _MOST_TEXT))
        drawn = self._choice()
        return drawn if self._at == len(self._parts) else self._library.Terminal(cut(self._body, _SHORT))

    def _depth(self) -> int:
        depth = deepest = 0
        for part in self._parts:
            depth += (part == "(") - (part == ")")
            deepest = max(deepest, depth)
        return deepest

    def _next(self) -> str:
        return self._parts[self._at] if self._at < len(self._parts) else ""

    def _choice(self) -> Any:
        branches = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else self._library.Choice(0, *branches)

    def _sequence(self) -> Any:
        items = []
        while self._next() not in ("", "|", ")"):
            items.append(self._repeated())
        if not items:
            return self._library.Skip()
        return items[0] if len(items) == 1 else self._library.Sequence(*items)

    def _repeated(self) -> Any:
        item = self._atom()
        while True:
            mark = self._next()
            if mark == "*":
                item = self._library.ZeroOrMore(item)
            elif mark == "+":
                item = self._library.OneOrMore(item)
            elif mark == "?":
                item = self._library.Optional(item)
            elif _COUNT.fullmatch(mark):
                item = self._counted(item, mark[1:-1])
            else:
                return item
            self._at += 1

    def _counted(self, item: Any, bounds: str) -> Any:
        least, is_range, most = bounds.partition(",")
        times = least if not is_range else f"{least or 0} to {most}" if most else f"{least} or more"
        loop = self._library.ZeroOrMore if int(least or 0) == 0 else self._library.OneOrMore
        return loop(item, self._library.Comment(f"{times} times"))

    def _atom(self) -> Any:
        part = self._next()
        self._at += 1
        if part == "(":
            inner = self._choice()
            self._at += 1
            return inner
        if part.endswith("=") and _NAME.fullmatch(part[:-1]):  # text that is remembered under a name
            return self._library.Group(self._repeated(), part[:-1])
        if _NAME.fullmatch(part):
            href = f"#{anchor(part)}" if part in self._names else None
            return self._library.NonTerminal(cut(part, _SHORT), href=href)
        return self._library.Terminal(cut(part, _SHORT), title=part if len(part) > _SHORT else None)
