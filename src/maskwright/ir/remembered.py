"""Text that is remembered and comes again: an end tag that repeats its begin tag.

    >>> from maskwright.ir.expressions import bytes_in, plus, recall, seq, star, text
    >>> name = plus(bytes_in(b"abc"))
    >>> seq(text("<"), remembering(name, 9, seq(text(">"), star(text("-")), text("</"), recall(9))), text(">")).dump()
    '"<" {#9=[a-c]+ ">" "-"* "</" #9} ">"'

What is remembered lasts to the end of the sequence that it begins. Numbers tell texts apart that are remembered at the
same time: the outer one's is higher. A scope is what needs no text from outside; the kernel makes a rule of it. A text
may be empty only where it stands: that case becomes an alternative, with nothing in place of each recall.
Tested by tests/test_remembered.py.
"""

from __future__ import annotations

from collections.abc import Callable

from maskwright.ir.expr import Expr
from maskwright.ir.expressions import ANY_BYTE, EMPTY, alt, and_, plus, recall, remember, scope, seq
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
from maskwright.ir.walks import changed, operands, postorder


def remembering(body: Expr, number: int, rest: Expr) -> Expr:
    """`body`, which is regular, and `rest`, in which `recall(number)` is the text that `body` matched."""
    used = recalled(rest)
    if number not in used:
        return seq(body, rest)
    behind = EMPTY
    if used == {number} and rest[0] == OP_SEQ:  # the scope ends with the last part that recalls something
        parts = operands(rest)
        last = max(i for i, part in enumerate(parts) if recalled(part))
        rest, behind = seq(*parts[: last + 1]), seq(*parts[last + 1 :])
    whole = seq(remember(_not_empty(body), number), rest)
    out = scope(whole) if used == {number} else whole
    if _may_be_empty(body):
        out = alt(out, changed(rest, lambda part: EMPTY if part == recall(number) else None, {}))
    return seq(out, behind)


def with_scopes(root: Expr, spelled_out: Callable[[Expr], Expr]) -> Expr:
    """An expression as a front-end reads it, each text remembered for the rest of its sequence, with its scopes.

    `spelled_out` makes what is remembered regular.
    """
    known: dict[int, Expr] = {}

    def change(expr: Expr) -> Expr | None:
        if expr[0] == OP_REMEMBER:
            return expr
        if expr[0] != OP_SEQ:
            return None
        rest = EMPTY
        for part in reversed(operands(expr)):
            if part[0] == OP_REMEMBER:
                rest = remembering(spelled_out(part[1]), part[2], rest)
            else:
                rest = seq(known[id(part)], rest)
        return rest

    if root[0] == OP_REMEMBER:  # for nothing
        return spelled_out(root[1])
    return changed(root, change, known)


def recalled(root: Expr) -> set[int]:
    """The numbers of the texts that an expression recalls without remembering them itself."""
    found: dict[int, set[int]] = {}
    for expr in postorder(root, lambda part: () if part[0] in (OP_SCOPE, OP_REMEMBER) else operands(part)):
        if expr[0] == OP_RECALL:
            found[id(expr)] = {expr[1]}
        elif expr[0] in (OP_SCOPE, OP_REMEMBER):
            found[id(expr)] = set()
        elif expr[0] == OP_SEQ:
            numbers: set[int] = set()
            for part in reversed(operands(expr)):
                numbers |= found[id(part)]
                if part[0] == OP_REMEMBER:
                    numbers.discard(part[2])
            found[id(expr)] = numbers
        else:
            found[id(expr)] = {number for part in operands(expr) for number in found[id(part)]}
    return found[id(root)]


def _not_empty(body: Expr) -> Expr:
    return body if not _may_be_empty(body) else and_(body, plus(ANY_BYTE))


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
