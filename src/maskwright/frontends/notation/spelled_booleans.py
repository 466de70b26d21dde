"""Intersections and complements as rules, for notations that have neither.

    [a-z]+ & ~("a" | "b")   →   r ::= [ab] r_2 | [c-z] r_3?,  r_2 ::= [a-z] r_3?,  r_3 ::= [a-z] r_3?

Each becomes a deterministic automaton over characters, by derivatives, and each of its states a rule: what may follow.
States from which nothing can be completed are left out. Of a complement, only texts of whole characters are written.
Cost: a derivative for each class of bytes of each state, at most MAX_STATES of these.
Tested by tests/frontends/test_printing_gbnf.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.errors import GrammarError, LimitError
from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, Range, utf8
from maskwright.frontends.derivatives import byte_classes, derivative, nullable
from maskwright.frontends.notation.spellings import ranges_of
from maskwright.frontends.regular import SpelledOut, first_bytes, spelled_out
from maskwright.ir import (
    EMPTY,
    OP_AND,
    OP_NEVER,
    OP_NOT,
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    never,
    operands,
    optional,
    postorder,
    reachable,
    ref,
    seq,
    star,
)
from maskwright.ir.walks import rebuilt

MAX_STATES: Final = 5_000
# The first bytes of characters of one byte, two, three and four, with the bits of theirs that say which character.
_LENGTHS: Final = ((0x00, 0x7F, 0x7F), (0xC2, 0xDF, 0x1F), (0xE0, 0xEF, 0x0F), (0xF0, 0xF4, 0x07))
_TEXT: Final = star(utf8(ALL_CHARACTERS))
_CONTINUATIONS: Final = ((1 << 0x40) - 1) << 0x80


def without_booleans(grammar: GrammarIR) -> GrammarIR:
    """Return the same grammar with rules in the place of intersections and complements.

    Raises:
        GrammarError: Operands are not regular.
        LimitError: An automaton has too many states.
    """
    automata = _Automata(grammar)
    done: dict[int, Expr] = {}  # by identity: rules share many expressions
    for index, rule in enumerate(grammar.rules):
        for node in postorder(rule.body, lambda part: () if _is_boolean(part) or id(part) in done else operands(part)):
            if id(node) not in done:
                parts = [] if _is_boolean(node) else [done[id(part)] for part in operands(node)]
                done[id(node)] = automata.rule(node, rule.name) if _is_boolean(node) else rebuilt(node, parts)
        automata.rules[index] = Rule(rule.name, done[id(rule.body)])
    return GrammarIR(tuple(automata.rules), grammar.root, grammar.token_sets)


def _is_boolean(node: Expr) -> bool:
    return bool(node[0] in (OP_AND, OP_NOT))


class _State(NamedTuple):
    is_final: bool
    ways: list[tuple[CodePointSet, Expr]]  # a character, and the state after it, by what may follow


class _Automata:
    """The automata of a grammar; equal states are one rule."""

    def __init__(self, grammar: GrammarIR) -> None:
        self.rules = list(grammar.rules)
        supplied = {index for index, _ in grammar.token_sets}
        self._bodies = [None if i in supplied else rule.body for i, rule in enumerate(grammar.rules)]
        self._spelled_out = SpelledOut()
        self._states: dict[Expr, _State] = {}
        self._written: dict[Expr, Expr] = {}  # what stands for a state

    def rule(self, node: Expr, name: str) -> Expr:
        """Return what stands for an expression; its rules are called like this one."""
        start = spelled_out(node, self._bodies.__getitem__, self._spelled_out)
        if start is None:
            hint = "use EBNF or Lark, which have & and ~: Grammar.to_ebnf, or --to ebnf"
            raise GrammarError("the grammar has an intersection or a complement of what is not regular", hint=hint)
        start = and_(_TEXT, start)
        order = self._explored(start)
        alive = self._alive(order)
        fresh = [state for state in order if state in alive and state not in self._written]
        for state in fresh:
            self._written[state] = EMPTY
            if self._states[state].ways:
                self._written[state] = ref(len(self.rules))
                self.rules.append(Rule(name, never()))  # until all have a number
        for state in fresh:
            if self._written[state] != EMPTY:
                ways = [self._way(*way) for way in self._states[state].ways if way[1] in alive]
                self.rules[self._written[state][1]] = Rule(name, alt(*ways))
        return self._with_end(start) if start in alive else never()

    def _way(self, characters: CodePointSet, after: Expr) -> Expr:
        return seq(utf8(characters), self._with_end(after))

    def _with_end(self, state: Expr) -> Expr:
        """What stands for a state, or nothing, if the text may end there."""
        return optional(self._written[state]) if self._states[state].is_final else self._written[state]

    def _explored(self, start: Expr) -> list[Expr]:
        order = {start: None}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state not in self._states:
                if len(self._states) >= MAX_STATES:
                    message = "the automaton of an intersection or a complement is too large to print"
                    raise LimitError(message, limit="printed size", hint="use EBNF or Lark, which have & and ~")
                self._states[state] = _State(nullable(state), _ways(state))
            for _, after in self._states[state].ways:
                if after not in order:
                    order[after] = None
                    waiting.append(after)
        return list(order)

    def _alive(self, order: list[Expr]) -> set[Expr]:
        """The states from which a text can be completed."""
        before: dict[Expr, list[Expr]] = {}
        for state in order:
            for _, after in self._states[state].ways:
                before.setdefault(after, []).append(state)
        final = [state for state in order if self._states[state].is_final]
        return set(reachable(final, lambda state: before.get(state, ())))


def _ways(state: Expr) -> list[tuple[CodePointSet, Expr]]:
    """The characters that may come next, and what may follow each, together where that is the same."""
    found: dict[Expr, list[Range]] = {}
    for number, (first, last, bits) in enumerate(_LENGTHS):
        of_length = ((1 << (last - first + 1)) - 1) << first
        waiting = [(state, of_length, [(0, 0)], number)]
        while waiting:
            at, allowed, known, more = waiting.pop()
            own_bits = bits if allowed == of_length else 0x3F
            for members in byte_classes(first_bytes(at) & allowed, at):
                after = derivative(at, members[0])
                if after[0] == OP_NEVER:
                    continue
                longer = _longer(known, [(low & own_bits, high & own_bits) for low, high in ranges_of(members)])
                if more > 0:
                    waiting.append((after, _CONTINUATIONS, longer, more - 1))
                else:
                    found.setdefault(after, []).extend(longer)
    return [(CodePointSet.from_ranges(ranges), after) for after, ranges in found.items()]


def _longer(known: list[Range], last_bits: list[Range]) -> list[Range]:
    """The beginnings of characters with six bits more."""
    if last_bits == [(0, 0x3F)]:
        return [(first << 6, last << 6 | 0x3F) for first, last in known]
    return [
        (part << 6 | low, part << 6 | high)
        for first, last in known
        for part in range(first, last + 1)
        for low, high in last_bits
    ]
