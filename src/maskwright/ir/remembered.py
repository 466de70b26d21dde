"""Text that is remembered and comes again: an end tag that repeats its begin tag.

    >>> from maskwright.ir.expressions import bytes_in, plus, recall, seq, star, text
    >>> name = plus(bytes_in(b"abc"))
    >>> seq(text("<"), remembering(name, 9, seq(text(">"), star(text("-")), text("</"), recall(9))), text(">")).dump()
    '"<" {#9=[a-c]+ ">" "-"* "</" #9} ">"'

What is remembered holds to the end of the sequence that it stands in. Numbers tell texts apart that are remembered at
the same time: the outer one's is higher. A scope is the stretch from where a text is remembered to where it is last
recalled, if that needs no other text from outside; the kernel makes a rule of it. A text may be empty only where it
stands: that case becomes an alternative, with nothing in place of each recall. Several that may be empty at once are as
many cases as there are ways, so what is copied for them is limited.
Cost: one walk over the expression, and what is copied. Tested by tests/test_remembered.py.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Final, NamedTuple

from maskwright.errors import LimitError
from maskwright.ir.expr import Expr
from maskwright.ir.expressions import (
    ANY_BYTE,
    EMPTY,
    alt,
    and_,
    never,
    plus,
    recall,
    remember,
    repeat,
    scope,
    seq,
)
from maskwright.ir.ops import (
    OP_ALT,
    OP_AND,
    OP_EMPTY,
    OP_NOT,
    OP_RECALL,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
)
from maskwright.ir.walks import operands, postorder, rebuilt

MAX_COPIED: Final = 30_000  # expressions, for texts that may be empty

_NONE: Final[frozenset[int]] = frozenset()


class Copies:
    """How many expressions have been copied, for texts that may be empty."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """Count some more.

        Raises:
            LimitError: They are too many.
        """
        self.count += count
        if self.count > MAX_COPIED:
            raise LimitError(
                "too many remembered texts may be empty at once: each doubles what follows it",
                limit="remembered_text_cases",
                hint="let fewer of them be empty, by + instead of * or ?",
            )


def remembering(body: Expr, number: int, rest: Expr) -> Expr:
    """`body`, which is regular, and `rest`, in which `recall(number)` is the text that `body` matched."""
    parts = operands(rest) if rest[0] == OP_SEQ else [rest]
    return _sequence([remember(body, number), *parts], [_NONE, *map(recalled, parts)], Copies())[0]


def with_scopes(root: Expr, spelled_out: Callable[[Expr], Expr], copies: Copies) -> Expr:
    """An expression as a front-end reads it, each text remembered for the rest of its sequence, with its scopes.

    `spelled_out` makes what is remembered regular; it is given the whole `OP_REMEMBER`. `copies` are a grammar's.

    Raises:
        LimitError: Too many texts may be empty at once.
    """
    return _scoped(root, lambda expr: spelled_out(expr) if expr[0] == OP_REMEMBER else None, copies)


def _scoped(root: Expr, change: Callable[[Expr], Expr | None], copies: Copies) -> Expr:
    """`change` may replace parts that recall nothing then; of what is remembered, the body."""
    made: dict[int, Expr] = {}
    free: dict[int, frozenset[int]] = {}
    for expr in postorder(root, lambda part: () if part[0] in (OP_SCOPE, OP_REMEMBER) else operands(part)):
        key, changed = id(expr), change(expr)
        if changed is not None or expr[0] == OP_SCOPE:
            made[key], free[key] = changed or expr, _NONE
            continue
        parts = operands(expr)
        new, of_parts = [made[id(part)] for part in parts], [free[id(part)] for part in parts]
        if expr[0] == OP_SEQ and any(part[0] == OP_REMEMBER for part in parts):
            held = zip(parts, new, strict=True)
            new = [remember(body, part[2]) if part[0] == OP_REMEMBER else body for part, body in held]
            made[key], free[key] = _sequence(new, of_parts, copies)
        else:  # where nothing can recall what an operand remembers
            made[key], free[key] = _with_parts(expr, new), _free(expr, of_parts)
        if made[key] == never():
            free[key] = _NONE
    return made[id(root)]


def recalled(root: Expr) -> frozenset[int]:
    """The numbers of the texts that an expression recalls without remembering them itself."""
    free: dict[int, frozenset[int]] = {}
    for expr in postorder(root, lambda part: () if part[0] in (OP_SCOPE, OP_REMEMBER) else operands(part)):
        free[id(expr)] = _free(expr, [free.get(id(part), _NONE) for part in operands(expr)])
    return free[id(root)]


def _free(expr: Expr, of_parts: list[frozenset[int]]) -> frozenset[int]:
    if expr[0] == OP_RECALL:
        return frozenset((expr[1],))
    if expr[0] in (OP_SCOPE, OP_REMEMBER):
        return _NONE
    numbers: set[int] = set()
    for part, more in zip(reversed(operands(expr)), reversed(of_parts), strict=True):
        numbers |= more
        if expr[0] == OP_SEQ and part[0] == OP_REMEMBER:
            numbers.discard(part[2])
    return frozenset(numbers) if numbers else _NONE


class _Part(NamedTuple):
    expr: Expr
    free: frozenset[int]
    last: int  # of what is remembered: the place of the last part that belongs to it


def _sequence(parts: list[Expr], of_parts: list[frozenset[int]], copies: Copies) -> tuple[Expr, frozenset[int]]:
    """A sequence whose parts have their scopes, and the numbers that it needs from outside."""
    done: list[_Part] = []  # the last one first, and what a scope closes or has cases as one
    last: dict[int, int] = {}  # of each number that is needed: the place of the last part that needs it
    for part, free in zip(reversed(parts), reversed(of_parts), strict=True):
        if part[0] != OP_REMEMBER:
            done.append(_Part(part, free, 0))
        elif part[2] not in last:
            done.append(_Part(part[1], _NONE, 0))
        else:
            _remember(done, last, part, copies)
        for number in done[-1].free:
            last.setdefault(number, len(done) - 1)
    return seq(*[part.expr for part in reversed(done)]), frozenset(last)


def _remember(done: list[_Part], last: dict[int, int], remembered: Expr, copies: Copies) -> None:
    """Put a text before the parts, which recall it."""
    number, begin = remembered[2], last.pop(remembered[2])
    place = len(done)
    while place > begin:  # with a text that is remembered among them goes all that recalls it
        place -= 1
        if done[place].expr[0] == OP_REMEMBER:
            begin = min(begin, done[place].last)
    stretch = [part.expr for part in reversed(done[begin:])]
    outside = _free(Expr((OP_SEQ, *stretch)), [part.free for part in reversed(done[begin:])]) - {number}
    may_be_empty = _may_be_empty(remembered[1])
    if outside and not may_be_empty:
        done.append(_Part(remembered, _NONE, begin))
        return
    whole = seq(remember(_not_empty(remembered[1]), number), *stretch)
    if not outside:
        whole = scope(whole)
    if may_be_empty:
        whole = alt(whole, _without(stretch, number, copies))
    del done[begin:]
    for other in outside:
        last[other] = min(last[other], begin)
    done.append(_Part(whole, outside, 0))


def _without(stretch: list[Expr], number: int, copies: Copies) -> Expr:
    """These parts where the text is empty, so that what is remembered among them may be a scope by itself."""

    def change(expr: Expr) -> Expr | None:
        copies.add(1)
        if expr[0] == OP_REMEMBER:
            return expr[1]  # type: ignore[no-any-return]
        return EMPTY if expr == recall(number) else None

    return _scoped(seq(*stretch), change, copies)


def _with_parts(expr: Expr, parts: list[Expr]) -> Expr:
    return expr if all(map(is_, parts, operands(expr))) else rebuilt(expr, parts)


def _not_empty(root: Expr) -> Expr:
    """What a regular expression matches but for the empty text."""
    if not _may_be_empty(root):
        return root
    if root[0] == OP_REPEAT and not _may_be_empty(root[1]):
        return repeat(root[1], 1, root[3])
    return never() if root[0] == OP_EMPTY else and_(root, plus(ANY_BYTE))


def _may_be_empty(root: Expr) -> bool:
    empty: dict[int, bool] = {}
    for expr in postorder(root):
        op, parts = expr[0], [empty[id(part)] for part in operands(expr)]
        if op in (OP_SEQ, OP_AND):
            empty[id(expr)] = all(parts)
        elif op == OP_ALT:
            empty[id(expr)] = any(parts)
        elif op == OP_NOT:
            empty[id(expr)] = not parts[0]
        elif op == OP_REPEAT:
            empty[id(expr)] = parts[0] or expr[2] == 0
        else:
            empty[id(expr)] = op == OP_EMPTY
    return empty[id(root)]
