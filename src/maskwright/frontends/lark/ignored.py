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

Tested by tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet
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


class Ignored:
    """The expressions to put around terminals.

    Attributes:
        after: what may follow a terminal, or come first.
        at_end: what may follow the last terminal beside that.
    """

    def __init__(self, parts: Iterable[Part], builder: IRBuilder, terminals: Terminals, once: bool = False) -> None:
        closed, opened, runs = [], [], []
        for part in _alternatives(parts, once):
            run = _run(part)
            if run is None:
                closed.append(terminals.as_expr(part))
            else:
                opened.append(terminals.as_expr(part))
                runs.append(run)
        repeated = optional if once else star
        run_of_all = ALL_CHARACTERS
        for run in runs:
            run_of_all &= run
        self._open = EMPTY
        self._texts = terminals.alphabet.texts
        self._begin = terminals.alphabet.encode(~run_of_all)  # a character that is not in the run
        self._first = first_bytes(self._begin)
        self.after = repeated(alt(*closed))
        if opened and run_of_all:
            first = alt(*opened)
            more = EMPTY if once else star(self._not_in_run(first))
            self._open = builder.add("comment", seq(first, more))
            if not once:
                self.after = star(alt(*closed, seq(self._open, self._not_in_run(alt(*closed)))))
        elif opened:
            self.after = repeated(alt(*closed, *opened))
        if self.after != EMPTY:
            self.after = builder.add("ignored", self.after)
        self.at_end = optional(self._open)

    def around(self, terminal: Expr) -> Expr:
        """A terminal with what is ignored beside it; not regular, for it refers to rules."""
        begun = never() if self._open == EMPTY else self._not_in_run(terminal)
        if begun[0] == OP_NEVER:
            return seq(terminal, self.after)
        return seq(alt(terminal, seq(self._open, begun)), self.after)

    @property
    def is_open(self) -> bool:
        """Whether an ignored text may go on to where the next terminal begins."""
        return self._open != EMPTY

    def before(self, terminal: Expr) -> list[tuple[Expr, Expr]]:
        """The terminal, and what may come right before it: pairs of an open text or nothing, and the terminal then.

        What the terminal matches may be captured, as a whole or at its beginning.
        """
        plain = (EMPTY, terminal)
        return [plain] if self._open == EMPTY else [plain, (self._open, self._not_in_run(terminal))]

    def _not_in_run(self, expr: Expr) -> Expr:
        """Those of the texts that begin with no character of the run, and are not empty."""
        if expr[0] == OP_CAPTURE:
            return capture(expr[2], self._not_in_run(expr[1]), expr[3])
        if expr[0] == OP_SPAN:
            return span(self._not_in_run(expr[1]), expr[2], expr[3])
        if expr[0] == OP_SEQ and expr[1][0] == OP_CAPTURE:
            begun = seq(self._not_in_run(expr[1]), *expr[2:])
            return alt(begun, self._not_in_run(seq(*expr[2:]))) if matches_empty(expr[1][1]) else begun
        if not is_regular(expr):  # of %regex, what it begins with is not looked into
            return never()
        first, may_be_empty = beginning(expr)
        if not first & self._first:
            return never()
        if not may_be_empty and not first & ~(self._first & ASCII):
            return expr
        return and_(expr, seq(self._begin, self._texts))


def _alternatives(parts: Iterable[Part], once: bool) -> list[Part]:
    """The parts one by one: an alternative adds nothing to ignoring each, nor a loop to ignoring it repeatedly."""
    pending, found = list(parts), []
    for part in pending:  # grows meanwhile
        if isinstance(part, regex.Alt):
            pending.extend(part.branches)
        elif isinstance(part, regex.Group) or (not once and _is_loop(part)):
            pending.append(part.item)  # type: ignore[union-attr]
        else:
            found.append(part)
    return found


def _is_loop(part: Part) -> bool:
    return isinstance(part, regex.Repeat) and part.minimum <= 1 and not part.lazy


def _run(part: Part) -> CodePointSet | None:
    """The characters of the run that a text ends in, if something stands before it."""
    if not isinstance(part, regex.Seq) or len(part.items) < 2 or not part.items[0].min_width:
        return None
    last = part.items[-1]
    if isinstance(last, regex.Repeat) and last.maximum == regex.INFINITE and not last.lazy:
        return last.item.chars if isinstance(last.item, regex.Chars) else None
    return None
