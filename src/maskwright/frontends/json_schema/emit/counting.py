"""Count elements and members: `contains`, `uniqueItems`, `minProperties`, `maxProperties`.

What was counted so far is the state of a finite automaton, and each state becomes a rule: "what may come after this, to
the closing bracket". States are made as they are reached; a schema that needs too many is refused.

    {"contains": X}   →   "[" (any , none | X , one)     none ::= "," any none | "," X one     one ::= "," any one | "]"

counted_arrays.py and counted_objects.py say what the states are.
Cost: at most MAX_STEPS steps between states for one array or object.
Tested by tests/frontends/json_schema/emit/test_schema_counting.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Final

from maskwright.frontends.json_schema.emit.layout import Style
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.ir import OP_ALT, OP_EMPTY, OP_NEVER, Expr, alt, never, seq

MAX_STEPS: Final = 4096


class TooManyError(Exception):
    """There are more than MAX_STEPS steps, or elements that cannot be told apart."""


class Automaton:
    """Makes the rules of the states reachable from the first one. A subclass says what the states are."""

    def __init__(self, emitter: SchemaRules, style: Style, name: str, close: Expr) -> None:
        self.emitter = emitter
        self.style = style
        self.name = name
        self.close = seq(style.trail, close)
        self.steps = 0
        self.rules: dict[Hashable, Expr] = {}
        self.waiting: list[Any] = []

    def accepts(self, state: Any) -> bool:
        raise NotImplementedError

    def steps_from(self, state: Any) -> Iterator[tuple[Expr, Any]]:
        """Yield what may come next, and the state after it."""
        raise NotImplementedError

    def after(self, state: Any) -> Expr:
        """Return the reference to what may come after this state."""
        known = self.rules.get(state)
        if known is None:
            known = self.rules[state] = self.emitter.builder.declare(self.name)
            self.waiting.append(state)
        return known

    def begin(self, state: Any) -> list[Expr]:
        """Return the ways to go on from the first state.

        Raises:
            TooManyError: They lead to too many states.
        """
        define = self.emitter.builder.define
        try:
            ways = self._ways(state)
            while self.waiting:
                other = self.waiting.pop()
                onward = [seq(self.style.comma, way) for way in self._ways(other)]
                define(self.rules[other], alt(self.ending(other), *onward))
        except TooManyError:
            for rule in self.rules.values():
                define(rule, never())
            raise
        return ways

    def _ways(self, state: Any) -> list[Expr]:
        ways = []
        for item, following in self.steps_from(state):
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise TooManyError
            if item[0] != OP_NEVER:
                ways.append(self.way(state, item, following))
        return ways

    def way(self, state: Any, item: Expr, following: Any) -> Expr:
        """Return the way from one state to another over an item."""
        return seq(item, self.after(following))

    def ending(self, state: Any) -> Expr:
        """Return what may come if nothing follows this state."""
        return self.close if self.accepts(state) else never()


def apart_from_empty(body: Expr) -> tuple[Expr, bool]:
    """Return the alternatives that are not the empty text, and whether that is one."""
    ways = body[1:] if body[0] == OP_ALT else (body,)
    filled = [way for way in ways if way[0] != OP_EMPTY]
    return alt(*filled), len(filled) < len(ways)
