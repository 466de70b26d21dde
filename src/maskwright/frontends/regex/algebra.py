r"""Calculating with expressions: systems of linear equations, and letters that stand for sets of characters.

Expressions are compared by value, which costs their size. A set such as `\w` is spelled by hundreds of nodes, so while
`context.py` calculates, each set is a letter (a `ref` that no rule has), and letters are spelled out at the end.

    >>> from maskwright.frontends.charset import utf8
    >>> from maskwright.ir import EMPTY
    >>> letters = Letters()
    >>> a, b = letters.encode(CodePointSet.from_string("a")), letters.encode(CodePointSet.from_string("b"))
    >>> x, y = solve([[never(), a], [b, never()]], [never(), EMPTY], lambda expr: expr)
    >>> letters.spell(x, utf8).dump()
    '"ab"* "a"'

Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from maskwright.errors import LimitError
from maskwright.frontends.charset import CodePointSet, Encoding
from maskwright.ir import (
    OP_REF,
    Expr,
    alt,
    never,
    rebuilt,
    ref,
    seq,
    star,
)

MAX_SPELLED: Final = 1_000_000


def solve(matrix: list[list[Expr]], final: list[Expr], charged: Callable[[Expr], Expr]) -> list[Expr]:
    """Solve X[i] = matrix[i][0] X[0] + … + final[i] for the least X, by elimination.

    `charged` is called with every new expression, and may raise to stop.
    """
    matrix, out = [list(row) for row in matrix], list(final)
    size = len(out)
    for k in reversed(range(size)):
        loop = star(matrix[k][k])
        out[k] = seq(loop, out[k])
        matrix[k] = [seq(loop, entry) for entry in matrix[k]]
        for i in range(k):
            through = matrix[i][k]
            out[i] = charged(alt(out[i], seq(through, out[k])))
            for j in range(k):
                matrix[i][j] = charged(alt(matrix[i][j], seq(through, matrix[k][j])))
    for i in range(size):
        out[i] = charged(alt(out[i], *[seq(matrix[i][j], out[j]) for j in range(i)]))
    return out


class Letters:
    """Letters for sets of characters, given out as they are asked for."""

    def __init__(self) -> None:
        self._sets: list[CodePointSet] = []
        self._letters: dict[CodePointSet, Expr] = {}

    def encode(self, characters: CodePointSet) -> Expr:
        """The letter of a set; the empty set is `never()`."""
        if not characters:
            return never()
        letter = self._letters.get(characters)
        if letter is None:
            letter = self._letters[characters] = ref(len(self._sets))
            self._sets.append(characters)
        return letter

    @property
    def sets(self) -> Sequence[CodePointSet]:
        """The sets that have a letter."""
        return self._sets

    def spell(self, expr: Expr, encode: Encoding) -> Expr:
        """Replace all letters by what `encode` makes of their sets.

        Raises:
            LimitError: The result is too large.
        """
        spelled = [encode(chars) for chars in self._sets]
        sizes = [_tree_size(each) for each in spelled]
        if _spelled_size(expr, sizes, {}) > MAX_SPELLED:
            raise LimitError(
                "the assertions of the regular expression make it too large",
                limit="regex size",
                hint=r"use fewer word boundaries, or the flag a for ASCII \w",
            )
        return _substitute(expr, spelled, {})


def _tree_size(expr: Expr) -> int:
    return 1 + sum(_tree_size(part) for part in expr[1:] if isinstance(part, Expr))


def _spelled_size(expr: Expr, sizes: list[int], memo: dict[int, int]) -> int:
    if expr[0] == OP_REF:
        letter: int = expr[1]
        return sizes[letter]
    size = memo.get(id(expr))
    if size is None:
        size = 1 + sum(_spelled_size(part, sizes, memo) for part in expr[1:] if isinstance(part, Expr))
        memo[id(expr)] = size
    return size


def _substitute(expr: Expr, spelled: list[Expr], memo: dict[int, Expr]) -> Expr:
    if expr[0] == OP_REF:
        index: int = expr[1]
        return spelled[index]
    done = memo.get(id(expr))
    if done is None:
        parts = [_substitute(part, spelled, memo) for part in expr[1:] if isinstance(part, Expr)]
        done = memo[id(expr)] = rebuilt(expr, parts)
    return done
