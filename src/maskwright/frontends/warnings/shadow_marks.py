r"""What a constraint begins with, and how to exclude that from the free text beside it.

    >>> from maskwright.ir import byte_set, plus, seq, text
    >>> rewrite(seq(text("<call>"), plus(byte_set(0x3FF << 48))), "TEXT", [], at_start=False)
    'exclude its beginning from the free text: TEXT & ~(TEXT "<call" TEXT)'

Only words for people: nothing here changes a grammar. That the rewritten grammars hold their arguments is tested.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from maskwright.ir import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_GUARD,
    OP_LITERAL,
    OP_NOT,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SPAN,
    Expr,
)

_Known: TypeAlias = "dict[tuple[int, int], list[str]]"  # marks by the identity of an expression and the depth

_MAX_MARKS: Final = 4
_MAX_DEPTH: Final = 30
_MAX_SHOWN: Final = 60
_MARK: Final = re.compile(r"<[^\s<>={]+|\[[^\]\s]+\]?|[^\s{=]{2,24}|.{1,24}", re.DOTALL)
_WITH_ITEM: Final = frozenset((OP_REPEAT, OP_CAPTURE, OP_GUARD, OP_SPAN, OP_SCOPE, OP_REMEMBER))


def described(expr: Expr, names: tuple[str, ...]) -> str:
    """A part of a rule in the words of the grammar, if they are few."""
    while expr[0] in (OP_CAPTURE, OP_SPAN):
        expr = expr[1]
    shown = expr.dump(names)
    return shown if len(shown) <= _MAX_SHOWN and "\\x" not in shown else "beside it"


def name_of(expr: Expr, bodies: Sequence[Expr], names: tuple[str, ...]) -> str:
    """The name of free text: of the rules that only name another, the last; empty if it has none."""
    name = ""
    for _ in range(_MAX_DEPTH):
        if expr[0] == OP_REF:
            name, expr = names[expr[1]], bodies[expr[1]]
        elif expr[0] in (OP_CAPTURE, OP_SPAN) or (expr[0] == OP_SEQ and expr[1][0] == OP_REF and len(expr) == 3):
            expr = expr[1]  # of a sequence: a terminal, and what is ignored after it
        else:
            break
    return name


def rewrite(part: Expr, name: str, bodies: Sequence[Expr], *, at_start: bool, as_head: bool = False) -> str:
    """How to write the free text `name` so that the part counts. `at_start`: the part stands where the text may."""
    where = "" if name else ", where TEXT is that free text"
    name = name or "TEXT"
    marks = _marks(part, bodies, 0, {})
    if not marks:
        return f'exclude its beginning from {name}, as in {name} & ~({name} "<call>" {name}){where}'
    shown = [_quoted(mark) for mark in dict.fromkeys(marks)]
    either = shown[0] if len(shown) == 1 else f"({' | '.join(shown)})"
    if as_head:
        return f"end the free text at the first mark, in a rule of its own: head[lazy]: {name} {either}{where}"
    before = "" if at_start and all(len(mark) == 1 for mark in marks) else f"{name} "
    return f"exclude its beginning from the free text: {name} & ~({before}{either} {name}){where}"


def _marks(expr: Expr, bodies: Sequence[Expr], depth: int, known: _Known) -> list[str]:
    """The texts of which one is the first fixed text in all that an expression matches; none if that is not clear."""
    if depth > _MAX_DEPTH:
        return []
    key = id(expr), depth
    if key not in known:
        known[key] = _marks_of(expr, bodies, depth, known)
    return known[key]


def _marks_of(expr: Expr, bodies: Sequence[Expr], depth: int, known: _Known) -> list[str]:
    op = expr[0]
    if op == OP_LITERAL:
        found = _MARK.match(expr[1].decode(errors="ignore"))
        return [found.group()] if found else []
    if op == OP_SEQ:
        for part in expr[1:]:
            marks = _marks(part, bodies, depth + 1, known)
            if marks:
                return marks
        return []
    if op == OP_ALT:
        each = [_marks(branch, bodies, depth + 1, known) for branch in expr[1:]]
        together = list(dict.fromkeys(mark for marks in each for mark in marks))
        return together if all(each) and len(together) <= _MAX_MARKS else []
    if op in (OP_REF, OP_CALL):
        return _marks(bodies[expr[1]], bodies, depth + 1, known)
    if op == OP_AND:
        return next(
            (m for m in (_marks(part, bodies, depth + 1, known) for part in expr[1:] if part[0] != OP_NOT) if m), []
        )
    return _marks(expr[1], bodies, depth + 1, known) if op in _WITH_ITEM else []


def _quoted(mark: str) -> str:
    return '"' + mark.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
