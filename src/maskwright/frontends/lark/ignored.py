r"""What `%ignore` lets stand between terminals.

Ignored texts come after each terminal, as many as one likes, and before the first. That they come after and not before
keeps recognisers deterministic: a blank belongs to the terminal that has been, not to each that may be next.

Line comments need care. Of `"#" /[^\n]*/` every prefix is a comment too; if what follows could be anything, the rest of
the line would be both comment and code, and `f( # )` a whole call. So an ignored text that ends in a run of characters
goes on as far as the run does, as in Lark: what follows it, or the end, is not a character of the run. Such an *open*
text stands before an ignored text or a terminal that begins otherwise (a newline), and at the end.

    after a terminal:    (closed | open (closed, not beginning in the run))*
    a terminal itself:   terminal | open (terminal, not beginning in the run)
    the end:             open?

Where runs differ, there is such an open text for each. What may follow a run but need not, as in `/#.*\n?/`, makes two
ignored texts: an open one without it, and one with it.

Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import NamedTuple

from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.lark.terminals import Part, Terminals
from maskwright.frontends.regex import ast as regex
from maskwright.frontends.regular import ASCII, beginning, first_bytes, is_regular, matches_empty
from maskwright.ir import (
    EMPTY,
    OP_CAPTURE,
    OP_NEVER,
    OP_SEQ,
    OP_SPAN,
    Expr,
    IRBuilder,
    alt,
    and_,
    capture,
    never,
    optional,
    seq,
    span,
    star,
)


class _Open(NamedTuple):
    """Ignored texts that end in a run."""

    texts: Expr
    begin: Expr  # a character that is not in the run
    first: int  # the bytes that such characters begin with


class Ignored:
    """The expressions to put around terminals.

    Attributes:
        after: what may follow a terminal, or come first.
        at_end: what may follow the last terminal beside that.
    """

    def __init__(self, parts: Iterable[Part], builder: IRBuilder, terminals: Terminals, once: bool = False) -> None:
        closed: list[Expr] = []
        opened: dict[CodePointSet, list[Expr]] = {}  # by run
        for part in _alternatives(parts, once):
            run = _run(part)
            (closed if run is None else opened.setdefault(run, [])).append(terminals.as_expr(part))
        self._texts = terminals.alphabet.texts
        self._open: list[_Open] = []
        for run in opened:
            begin = terminals.alphabet.encode(~run)
            self._open.append(_Open(builder.declare("comment"), begin, first_bytes(begin)))
        for each, texts in zip(self._open, opened.values(), strict=True):
            builder.define(each.texts, alt(*texts) if once else self._one_after_another(each, alt(*texts)))
        self.after = optional(alt(*closed)) if once else star(alt(*closed, self._after_open(alt(*closed))))
        if self.after != EMPTY:
            self.after = builder.add("ignored", self.after)
        self.at_end = optional(alt(*(each.texts for each in self._open)))

    def _one_after_another(self, of: _Open, texts: Expr) -> Expr:
        """Texts that end in this run, each after others that are open."""
        others = [other for other in self._open if other is not of]
        return seq(alt(texts, self._after_open(texts, others)), star(self._not_in_run(texts, of)))

    def _after_open(self, expr: Expr, opened: Iterable[_Open] | None = None) -> Expr:
        """Those of the texts that may come after an open one, with that."""
        ways = []
        for each in self._open if opened is None else opened:
            begun = self._not_in_run(expr, each)
            if begun[0] != OP_NEVER:
                ways.append(seq(each.texts, begun))
        return alt(*ways)

    def around(self, terminal: Expr) -> Expr:
        """A terminal with what is ignored beside it; not regular, for it refers to rules."""
        return seq(alt(terminal, self._after_open(terminal)), self.after)

    @property
    def is_open(self) -> bool:
        """Whether an ignored text may go on to where the next terminal begins."""
        return bool(self._open)

    def before(self, terminal: Expr) -> list[tuple[Expr, Expr]]:
        """The terminal, and what may come right before it: pairs of an open text or nothing, and the terminal then.

        What the terminal matches may be captured, as a whole or at its beginning.
        """
        return [(EMPTY, terminal), *((each.texts, self._not_in_run(terminal, each)) for each in self._open)]

    def _not_in_run(self, expr: Expr, of: _Open) -> Expr:
        """Those of the texts that begin with no character of the run, and are not empty."""
        if expr[0] == OP_CAPTURE:
            return capture(expr[2], self._not_in_run(expr[1], of), expr[3])
        if expr[0] == OP_SPAN:
            return span(self._not_in_run(expr[1], of), expr[2], expr[3])
        if expr[0] == OP_SEQ and expr[1][0] == OP_CAPTURE:
            begun = seq(self._not_in_run(expr[1], of), *expr[2:])
            return alt(begun, self._not_in_run(seq(*expr[2:]), of)) if matches_empty(expr[1][1]) else begun
        if not is_regular(expr):  # of %regex, what it begins with is not looked into
            return never()
        first, may_be_empty = beginning(expr)
        if not first & of.first:
            return never()
        if not may_be_empty and not first & ~(of.first & ASCII):
            return expr
        return and_(expr, seq(of.begin, self._texts))


def _alternatives(parts: Iterable[Part], once: bool) -> list[Part]:
    """The parts one by one: an alternative adds nothing to ignoring each, nor a loop to ignoring it repeatedly."""
    pending, found = list(parts), []
    for part in pending:  # grows meanwhile
        if isinstance(part, regex.Alt):
            pending.extend(part.branches)
        elif isinstance(part, regex.Group) or (not once and _is_loop(part)):
            pending.append(part.item)  # type: ignore[union-attr]
        elif isinstance(part, regex.Seq) and part.max_width == regex.INFINITE and (ways := _by_last(part.items)):
            pending += [regex.Seq(part.span, items) for items in ways]
        else:
            found.append(part)
    return found


def _by_last(items: tuple[regex.Node, ...]) -> list[tuple[regex.Node, ...]]:
    """The ways in which a text that may be long ends, by its last item; none if it ends in one way."""
    if not items or _run_of(items[-1]) is not None:
        return []
    before, last = items[:-1], items[-1]
    if isinstance(last, regex.Seq):
        return [(*before, *last.items)]
    if isinstance(last, regex.Group):
        return [(*before, last.item)]
    if isinstance(last, regex.Alt):
        return [(*before, branch) for branch in last.branches]
    if isinstance(last, regex.Anchor) and last.kind in ("end", "line_end"):
        return [_to_the_end(before)]  # it is the end of what is ignored
    if isinstance(last, regex.Repeat) and last.minimum == 0:
        run, characters = _run_of(before[-1]) if before else None, _characters(last.item)
        if run is not None and characters is not None and not characters & ~run:
            return [before]  # these belong to the run
        return [before, (*before, regex.Repeat(last.span, last.item, 1, last.maximum, last.lazy))]
    return []


def _to_the_end(items: tuple[regex.Node, ...]) -> tuple[regex.Node, ...]:
    """The same where an anchor follows: a non-greedy repetition in front of it goes on to there."""
    *before, last = items
    if isinstance(last, regex.Repeat) and last.lazy:
        last = regex.Repeat(last.span, last.item, last.minimum, last.maximum)
    return (*before, last)


def _is_loop(part: Part) -> bool:
    return isinstance(part, regex.Repeat) and part.minimum <= 1 and not part.lazy


def _run(part: Part) -> CodePointSet | None:
    """The characters of the run that a text ends in, if something stands before it."""
    if not isinstance(part, regex.Seq) or len(part.items) < 2 or not part.items[0].min_width:
        return None
    return _run_of(part.items[-1])


def _run_of(item: regex.Node) -> CodePointSet | None:
    if isinstance(item, regex.Repeat) and item.maximum == regex.INFINITE and not item.lazy:
        return _characters(item.item)
    return None


def _characters(node: regex.Node) -> CodePointSet | None:
    """Those that the texts of an expression are, if each is one."""
    if isinstance(node, regex.Chars):
        return node.chars
    if isinstance(node, regex.Literal) and len(node.text) == 1:
        return CodePointSet.from_ranges([(ord(node.text), ord(node.text))])
    if isinstance(node, regex.Group):
        return _characters(node.item)
    if not isinstance(node, regex.Alt):
        return None
    of_branches = [_characters(branch) for branch in node.branches]
    return None if None in of_branches else reduce(or_, of_branches)
