"""The rules of a grammar run over an automaton: does it accept all that they can write?

    RulesRun(bodies, tokens, automaton, most_steps).is_contained((call,))

Which states can each rule lead to, from each state? Rules that call themselves are run until nothing is added. Exact
but for intersections, where it may find too many states: what is said to be contained is.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.warnings.free_text import Automaton
from maskwright.ir import (
    OP_ALT,
    OP_AND,
    OP_CALL,
    OP_CAPTURE,
    OP_EMPTY,
    OP_GUARD,
    OP_LITERAL,
    OP_NEVER,
    OP_NOT,
    OP_REF,
    OP_REMEMBER,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SET,
    OP_SPAN,
    Expr,
)

MAX_DEPTH: Final = 100  # of expressions
_DEAD: Final = 1 << 1  # of an `Automaton`
_ALL_STATES: Final = -1


class TooMuch(Exception):
    """The search is not worth it."""


class _Escapes(Exception):
    """Something is not contained."""


class RulesRun:
    """By rule and state of an automaton, the states that the rule may lead to.

    Args:
        bodies: Those of the grammar's rules.
        tokens: The rules that stand for tokens: their text is not known.
        automaton: Of a regular language.
        most_steps: After which it is too much.
    """

    def __init__(self, bodies: list[Expr], tokens: frozenset[int], automaton: Automaton, most_steps: int) -> None:
        self.bodies, self.tokens, self.automaton, self.most_steps = bodies, tokens, automaton, most_steps
        self.steps = 0  # so far
        self.known: dict[tuple[int, int], int] = {}
        self.users: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self.waiting: list[tuple[int, int]] = []
        self.user: tuple[int, int] | None = None  # on whose behalf rules are looked up

    def is_contained(self, parts: tuple[Expr, ...]) -> bool:
        """Whether the automaton accepts all texts of these parts, one after the other, of which there are some.

        Raises:
            TooMuch: It takes too many steps to find out.
        """
        try:
            last = self._after_all(parts)
        except _Escapes:
            return False
        return last != 0 and not last & ~self.automaton.accepting

    def _after_all(self, parts: tuple[Expr, ...]) -> int:
        """The states after these parts, from the start.

        Raises:
            _Escapes: One of them may be dead.
        """
        while True:
            self.user = None
            states, size = 1, len(self.known)
            for part in parts:
                states = self._after(part, states, 0)
            if not self.waiting and size == len(self.known):
                return states
            while self.waiting:
                self._update(self.waiting.pop())

    def _update(self, key: tuple[int, int]) -> None:
        rule, state = key
        self.user = key
        if rule in self.tokens:
            raise _Escapes
        reached = self._after(self.bodies[rule], 1 << state, 0)
        if reached & _DEAD:
            raise _Escapes
        if reached != self.known[key]:
            self.known[key] = reached
            self.waiting.extend(self.users[key])

    def _rule(self, rule: int, states: int) -> int:
        reached = 0
        while states:
            lowest = states & -states
            states ^= lowest
            key = rule, lowest.bit_length() - 1
            if key not in self.known:
                self.known[key] = 0
                self.users[key] = set()
                self.waiting.append(key)
            if self.user is not None:
                self.users[key].add(self.user)
            reached |= self.known[key]
        return reached

    def _after(self, expr: Expr, states: int, depth: int) -> int:
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > self.most_steps:
            raise TooMuch
        if not states:
            return 0
        op = expr[0]
        if op == OP_LITERAL:
            for byte in expr[1]:
                states = self.automaton.after_bytes(states, 1 << byte)
            return states
        if op == OP_SET:
            return self.automaton.after_bytes(states, expr[1])
        if op in (OP_REF, OP_CALL):
            return self._rule(expr[1], states)
        if op == OP_SEQ:
            for part in expr[1:]:
                states = self._after(part, states, depth + 1)
            return states
        if op == OP_ALT:
            reached = 0
            for part in expr[1:]:
                reached |= self._after(part, states, depth + 1)
            return reached
        if op == OP_REPEAT:
            return self._repeated(expr, states, depth)
        if op == OP_AND:
            reached = _ALL_STATES
            for part in expr[1:]:
                reached &= self._after(part, states, depth + 1)
            return reached
        if op in (OP_CAPTURE, OP_GUARD, OP_SPAN, OP_SCOPE, OP_REMEMBER):
            return self._after(expr[1], states, depth + 1)
        if op in (OP_EMPTY, OP_NEVER):
            return states if op == OP_EMPTY else 0
        return _ALL_STATES if op == OP_NOT else _DEAD

    def _repeated(self, expr: Expr, states: int, depth: int) -> int:
        """As often as one likes, once at least if that is asked for: maybe more than the bounds allow."""
        reached = 0 if expr[2] else states
        while True:
            states = self._after(expr[1], states, depth + 1) & ~reached
            if not states:
                return reached
            reached |= states
