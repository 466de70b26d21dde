r"""Free text: which regular expressions let almost anything through, as small automata over bytes.

    >>> from maskwright.frontends.texts import ANY_TEXT
    >>> from maskwright.ir import literal
    >>> automaton_of(ANY_TEXT).is_free(), automaton_of(literal(b"a")).is_free()
    (True, False)

A text is *free* if, from some point on, it may go on with any printable characters and end anywhere: `/(.|\n)*/`,
`/.+/`, `/[^{](.|\n)*/`, but neither a name nor a quoted string. Automata are made by derivatives, few states or none.

Source: J. Brzozowski, "Derivatives of Regular Expressions", JACM 1964.
Cost: about ten microseconds for a state and class of bytes that is looked at; automata are kept by their expressions.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from maskwright.frontends.derivatives import derivative, nullable
from maskwright.ir import (
    ALL_BYTES,
    OP_ALT,
    OP_LITERAL,
    OP_REPEAT,
    OP_SET,
    UNBOUNDED,
    Expr,
    never,
    postorder,
)

PRINTABLE: Final = (1 << 127) - (1 << 32)  # ASCII, as a set of bytes
MAX_STATES: Final = 48
MAX_DERIVATIVES: Final = 1_000
MAX_NODES: Final = 300  # of an expression
_MAX_CLASSES: Final = 40

_NEVER: Final = never()


class TooLarge(Exception):
    """The automaton has too many states to be looked at."""


class Automaton:
    """A deterministic automaton over bytes, made as far as it is looked at. Sets of states are bits of an int.

    State 0 is the start, state 1 is dead: no text ends after it. What reads bytes raises `TooLarge`.

    Attributes:
        accepting: of the states made so far, those in which a text may end.
    """

    def __init__(self, expr: Expr, classes: list[int]) -> None:
        self.classes = classes
        self.states = [expr, _NEVER]
        self.numbers = {expr: 0, _NEVER: 1}
        self.steps: list[dict[int, int]] = [{}, dict.fromkeys(classes, 1)]
        self.accepting = int(nullable(expr))
        self.num_made = 0

    def after_bytes(self, states: int, members: int) -> int:
        """Where one byte of a set leads from some of these states."""
        classes = [chars for chars in self.classes if chars & members]
        reached = 0
        while states:
            lowest = states & -states
            states ^= lowest
            state = lowest.bit_length() - 1
            steps = self.steps[state]
            for chars in classes:
                target = steps.get(chars)
                reached |= 1 << (self._made(state, chars) if target is None else target)
        return reached

    def _made(self, state: int, chars: int) -> int:
        self.num_made += 1
        if len(self.states) > MAX_STATES or self.num_made > MAX_DERIVATIVES:
            raise TooLarge
        target = derivative(self.states[state], (chars & -chars).bit_length() - 1)
        number = self.numbers.get(target)
        if number is None:
            number = self.numbers[target] = len(self.states)
            self.states.append(target)
            self.steps.append({})
            if nullable(target):
                self.accepting |= 1 << number
        self.steps[state][chars] = number
        return number

    def is_free(self) -> bool:
        """Whether in some state printable characters may follow for ever, and the text end after each."""
        return self._closed(PRINTABLE) != 0

    def takes_all(self) -> bool:
        """Whether ASCII texts are taken from the start, all of them."""
        return bool(self._closed((1 << 128) - 1) & 1)

    def _closed(self, members: int) -> int:
        """The accepting states from which these bytes lead to such states only."""
        for state, _ in enumerate(self.states):  # grows meanwhile
            self.after_bytes(1 << state, ALL_BYTES)
        closed, left = 0, self.accepting
        while closed != left:
            closed = left
            for state in range(len(self.states)):
                if closed >> state & 1 and self.after_bytes(1 << state, members) & ~closed:
                    left &= ~(1 << state)
        return closed


def may_hold_anything(node: Expr) -> bool:
    """Whether an expression repeats, without bound, what may be any printable character."""
    return bool(node[0] == OP_REPEAT and node[3] == UNBOUNDED and _single_bytes(node[1]) & PRINTABLE == PRINTABLE)


def _single_bytes(expr: Expr) -> int:
    """The bytes that an expression matches as single-byte strings, as far as one shallow look shows."""
    if expr[0] == OP_ALT:
        found = 0
        for branch in expr[1:]:
            found |= _one_byte(branch)
        return found
    return _one_byte(expr)


def _one_byte(expr: Expr) -> int:
    if expr[0] == OP_SET:
        members: int = expr[1]
        return members
    return 1 << expr[1][0] if expr[0] == OP_LITERAL and len(expr[1]) == 1 else 0


@lru_cache(maxsize=64)
def automaton_of(expr: Expr) -> Automaton | None:
    """The automaton of a regular expression; None if that is large."""
    classes = _byte_classes(expr)
    return None if classes is None else Automaton(expr, classes)


def _byte_classes(expr: Expr) -> list[int] | None:
    """The bytes, grouped by which sets of the expression they are in; None if it is large."""
    nodes = postorder(expr)
    size = len(nodes)
    classes = [ALL_BYTES]
    for node in nodes:
        if node[0] == OP_LITERAL:
            size += len(node[1])
            sets = [1 << byte for byte in set(node[1])]
        else:
            sets = [node[1]] if node[0] == OP_SET else []
        for members in sets:
            classes = [part for known in classes for part in (known & members, known & ~members) if part]
        if size > MAX_NODES or len(classes) > _MAX_CLASSES:
            return None
    return classes
