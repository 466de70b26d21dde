r"""Constraints that have no effect, since free text beside them matches everything that they match.

    start: TEXT | call            call: "<tool>" %json {…}        TEXT: /(.|\n)*/

A grammar is its language: as TEXT matches every call, well-formed or not, `call` adds nothing. Engines with a lexer may
prefer the call there, so this is how their recipes are often written; here it is surely not what was meant. Three forms
are found:

    TEXT | call           an alternative is contained in free text
    (call)* TEXT          an optional part together with the free text at its side is
    (TEXT call)*          all repetitions but the last together with the free text of the next are

Containment is decided by running the grammar's rules over the automaton of the free text: which states can each rule
lead to? That is exact but for intersections, where it may find too many states, so a finding is always true. What
counts as a constraint is a rule that is recursive or that stands for another grammar (`%json`); beside text that takes
all characters also what has both fixed text and a part that is narrower than any text, such as `"<n>" /[0-9]+/`. A
keyword beside a name is none.

Cost: one walk over the grammar; the rest only where free text is found, and bounded by MAX_STEPS.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from maskwright.errors import LimitError
from maskwright.frontends.regular import spelled_out
from maskwright.frontends.warnings.free_text import (
    MAX_NODES,
    PRINTABLE,
    Automaton,
    TooLarge,
    automaton_of,
    may_hold_anything,
)
from maskwright.frontends.warnings.rules_run import MAX_DEPTH, RulesRun, TooMuch
from maskwright.frontends.warnings.shadow_marks import described, name_of, rewrite
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
    OP_SET,
    OP_SPAN,
    Expr,
    GrammarIR,
    depth,
    postorder,
    reachable,
)
from maskwright.ir.rule_facts import may_be_empty, nullable_rules

MAX_STEPS: Final = 20_000  # of rules over automata
MAX_FINDINGS: Final = 10
_MANY_RULES: Final = 100
_RULES_A_STEP: Final = 10

_PERHAPS, _SURE = 1, 2
_INNER: Final = frozenset((OP_CAPTURE, OP_GUARD, OP_SPAN, OP_SCOPE, OP_REMEMBER))
_WITH_ITEM: Final = _INNER | {OP_REPEAT}
_COMPOSITE: Final = frozenset((OP_SEQ, OP_ALT, OP_REPEAT, OP_AND, OP_CAPTURE, OP_GUARD, OP_SPAN, OP_SCOPE, OP_REMEMBER))
_RULES: Final = frozenset((OP_REF, OP_CALL))


class Shadowed(NamedTuple):
    """A part of a rule that has no effect."""

    rule: int
    message: str
    hint: str


def shadowed(grammar: GrammarIR, embedded: Mapping[int, str]) -> list[Shadowed]:
    """Find constraints without effect.

    Args:
        grammar: The rules.
        embedded: The rules that stand for grammars within the grammar, and how these are written.
    """
    if not _holds_free_text([rule.body for rule in grammar.rules]):
        return []
    free = [i for i, rule in enumerate(grammar.rules) if _holds_free_text([rule.body])]
    try:
        return _Search(grammar, embedded, free).run()
    except TooMuch:
        return []


def _holds_free_text(pending: list[Expr]) -> bool:
    """Whether one of these expressions, which are used up, can end with what could be any text, as far as
    a look at its parts tells.
    """
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        op = node[0]
        if op not in _COMPOSITE or id(node) in seen:
            continue
        seen.add(id(node))
        if op == OP_SEQ:
            for part in node[:0:-1]:
                pending.append(part)
                if part[0] in (OP_LITERAL, OP_SET):
                    break
        elif op in (OP_ALT, OP_AND):
            pending.extend(node[1:])
        elif op == OP_REPEAT and may_hold_anything(node):
            return True
        else:
            pending.append(node[1])
    return False


class _Search:
    def __init__(self, grammar: GrammarIR, embedded: Mapping[int, str], free: list[int]) -> None:
        self.bodies = [rule.body for rule in grammar.rules]
        self.names = tuple([embedded.get(i, rule.name) for i, rule in enumerate(grammar.rules)])
        self.root = grammar.root
        self.embedded = frozenset(embedded)
        self.tokens = frozenset(index for index, _ in grammar.token_sets)
        self.parts = [postorder(body) for body in self.bodies]
        if any(depth(body) > MAX_DEPTH for body in self.bodies):
            raise TooMuch
        self.calls = [list(dict.fromkeys(n[1] for n in nodes if n[0] in _RULES)) for nodes in self.parts]
        self.reached: dict[int, frozenset[int]] = {}
        self.near_free = self._leading_to(free)
        self.nullable = nullable_rules(self.bodies)
        self.automata: dict[int, Automaton | None] = {}
        self.strengths: dict[int, int] = {}
        self.ends_free: dict[int, bool] = {}
        self.steps = 0
        self.found: dict[tuple[int, str], Shadowed] = {}

    def run(self) -> list[Shadowed]:
        for index in sorted(self._reach(self.root)):
            if index in self.near_free and index not in self.embedded:
                for node in self.parts[index]:
                    self._look_at(index, node)
                    if len(self.found) >= MAX_FINDINGS:
                        break
        return list(self.found.values())

    # Candidates.

    def _look_at(self, rule: int, node: Expr) -> None:
        op = node[0]
        if op == OP_ALT:
            self._look_at_branches(rule, node)
        elif op == OP_SEQ:
            self._look_at_neighbours(rule, node[1:])
            self._look_at_neighbours(rule, node[:0:-1], backwards=True)
        elif op == OP_REPEAT and node[3] not in (0, 1):
            self._look_at_repetition(rule, node)

    def _look_at_branches(self, rule: int, node: Expr) -> None:
        branches = node[1:]
        constraints: list[Expr] | None = None
        for text, within in ((t, b) for b in branches for t in self._unit_branches(b)):
            if not self._ends_free(text):
                continue
            if constraints is None:
                constraints = [branch for branch in branches if self._strength(branch)]
            self._spend(len(constraints))
            for branch in constraints:
                if branch is not within and self._is_swallowed(branch, (branch,), text):
                    shown, free_name = described(branch, self.names), name_of(text, self.bodies, self.names)
                    message = (
                        f"the alternative {shown} has no effect: {free_name or 'the free text beside it'} matches"
                        " everything that it matches"
                    )
                    hint = rewrite(branch, free_name, self.bodies, at_start=True)
                    self._report(rule, free_name, message, hint)

    def _unit_branches(self, branch: Expr) -> Iterator[Expr]:
        """The branch, and those of the rule that it names."""
        pending, seen = [branch], set()
        for at in pending:  # grows meanwhile
            if at[0] == OP_REF and at[1] in self.near_free and at[1] not in seen:
                seen.add(at[1])
                body = self.bodies[at[1]]
                if body[0] in (OP_ALT, OP_REF):
                    pending.extend(body[1:] if body[0] == OP_ALT else (body,))
            yield at

    def _look_at_neighbours(self, rule: int, items: tuple[Expr, ...], backwards: bool = False) -> None:
        """Look for free text behind parts that may be empty; `items` come in the order to look in."""
        for i, item in enumerate(items):
            text = self._edge(item, not backwards)
            if not i or not self._ends_free(text):
                continue
            first = i
            while first and self._may_be_empty(items[first - 1]):
                first -= 1
                part = items[first]
                self._spend(1)
                if not self._strength(part):
                    continue
                run = (*items[first:i], text)
                if self._is_swallowed(part, run[::-1] if backwards else run, text):
                    shown, name = described(part, self.names), name_of(text, self.bodies, self.names)
                    message = (
                        f"the optional part {shown} has no effect: {_apposed(name, 'next to it')} matches everything"
                        " that it matches"
                    )
                    self._report(rule, name, message, rewrite(part, name, self.bodies, at_start=False))

    def _look_at_repetition(self, rule: int, node: Expr) -> None:
        item = self._inside(node[1])
        for backwards in (False, True) if item[0] == OP_SEQ else ():
            edge = self._edge(item[-1] if backwards else item[1], not backwards)
            if not self._ends_free(edge):
                continue
            if self._is_swallowed(item, (edge, item) if backwards else (item, edge), edge):
                name, which = name_of(edge, self.bodies, self.names), ("first", "last")[not backwards]
                message = (
                    f"in {described(node, self.names)} all repetitions but the {which} are unconstrained: "
                    f"{_apposed(name, 'in each')} matches everything that they match"
                )
                hint = rewrite(item, name, self.bodies, at_start=False, as_head=not backwards)
                self._report(rule, name + which, message, hint)

    def _edge(self, item: Expr, first: bool) -> Expr:
        """What an item begins (or else ends) with, as far as that is certain."""
        for _ in range(MAX_DEPTH):
            inner = self._inside(item)
            if self._ends_free(item) or inner[0] != OP_SEQ:
                return item
            item = inner[1] if first else inner[-1]
        return item

    def _inside(self, item: Expr) -> Expr:
        """The body of what is named, captured or given options."""
        for _ in range(MAX_DEPTH):
            if item[0] == OP_REF and item[1] not in self.tokens:
                item = self.bodies[item[1]]
            elif item[0] in _INNER:
                item = item[1]
            else:
                break
        return item

    def _report(self, rule: int, key: str, message: str, hint: str) -> None:
        self.found.setdefault((rule, key), Shadowed(rule, message, hint))

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise TooMuch

    # What the parts are.

    def _automaton(self, expr: Expr) -> Automaton | None:
        """The automaton of what is regular, and not large."""
        if id(expr) not in self.automata:
            self.automata[id(expr)] = self._new_automaton(expr)
        return self.automata[id(expr)]

    def _new_automaton(self, expr: Expr) -> Automaton | None:
        rules = {index for node in postorder(expr) if node[0] in _RULES for index in self._reach(node[1])}
        if sum(len(self.parts[index]) for index in rules) > MAX_NODES:
            return None
        try:
            plain = spelled_out(self._without_temperature(expr), self._plain_body)
        except LimitError:
            return None
        return None if plain is None else automaton_of(plain)

    def _plain_body(self, index: int) -> Expr | None:
        return None if index in self.tokens or index in self.embedded else self._without_temperature(self.bodies[index])

    def _without_temperature(self, body: Expr) -> Expr:
        return body[1] if body[0] == OP_SPAN and body[2] is None else body

    def _ends_free(self, expr: Expr) -> bool:
        """Whether an expression may end with what could be any text, as far as a look at its parts tells."""
        op = expr[0]
        if op in _RULES:
            rule: int = expr[1]
            if rule not in self.ends_free:
                self.ends_free[rule] = False  # meanwhile, if it calls itself
                self.ends_free[rule] = rule in self.near_free and self._ends_free(self.bodies[rule])
            return self.ends_free[rule]
        if op == OP_SEQ:
            for part in expr[:0:-1]:
                if self._ends_free(part):
                    return True
                if not self._may_be_empty(part):
                    return False
            return False
        if op == OP_ALT:
            return any(map(self._ends_free, expr[1:]))
        if op == OP_AND:
            return all(self._ends_free(part) for part in expr[1:] if part[0] != OP_NOT)
        if op == OP_REPEAT and may_hold_anything(expr):
            return True
        return op in _WITH_ITEM and self._ends_free(expr[1])

    def _is_swallowed(self, part: Expr, run: tuple[Expr, ...], text: Expr) -> bool:
        """Whether a part is a constraint, and free text contains what it matches in a run of neighbours."""
        strength = self._strength(part)
        text_automaton = self._automaton(text) if strength else None
        if text_automaton is None:
            return False
        try:
            return self._contains(text_automaton, run) and (
                text_automaton.is_free() if strength == _SURE else text_automaton.takes_all()
            )
        except TooLarge:
            return False

    def _strength(self, expr: Expr) -> int:
        """Whether a part was meant to hold the output to something: surely, or if all other text is free."""
        if id(expr) not in self.strengths:
            self.strengths[id(expr)] = self._new_strength(expr)
        return self.strengths[id(expr)]

    def _new_strength(self, expr: Expr) -> int:
        nodes = postorder(expr)
        rules: set[int] = set()
        for node in nodes:
            if node[0] in _RULES:
                rules |= self._reach(node[1])
        self._spend(len(rules) // _RULES_A_STEP)
        if not rules.isdisjoint(self.embedded) or len(rules) > _MANY_RULES:
            return _SURE
        if any(index in self._reach(called) for index in rules for called in self.calls[index]):
            return _SURE
        for index in rules:
            nodes = [*nodes, *self.parts[index]]
        has_text = any(node[0] == OP_LITERAL and len(node[1]) > 1 for node in nodes)
        has_narrow_part = any(node[0] == OP_REPEAT and _is_narrow(node[1]) for node in nodes)
        if not has_text or not has_narrow_part:
            return 0
        has_head = any(node[0] == OP_AND and any(map(may_hold_anything, postorder(node))) for node in nodes)
        return _SURE if has_head else 0 if any(node[0] == OP_CAPTURE for node in nodes) else _PERHAPS

    def _may_be_empty(self, expr: Expr) -> bool:
        return may_be_empty(expr, self.nullable)

    def _leading_to(self, rules: list[int]) -> set[int]:
        callers: list[list[int]] = [[] for _ in self.bodies]
        for caller, called in enumerate(self.calls):
            for index in called:
                callers[index].append(caller)
        return set(reachable(rules, callers.__getitem__))

    def _reach(self, rule: int) -> frozenset[int]:
        """The rules that a rule leads to, itself included."""
        known = self.reached.get(rule)
        if known is None:
            known = self.reached[rule] = frozenset(reachable([rule], self.calls.__getitem__))
        return known

    # Containment.

    def _contains(self, free: Automaton, parts: tuple[Expr, ...]) -> bool:
        """Whether an automaton takes all texts of these parts, one after the other, of which there are some."""
        run = RulesRun(self.bodies, self.tokens, free, MAX_STEPS - self.steps)
        try:
            return run.is_contained(parts)
        finally:
            self.steps += run.steps


def _apposed(name: str, where: str) -> str:
    return f"{name}, the free text {where}," if name else f"the free text {where}"


def _is_narrow(expr: Expr) -> bool:
    """Whether an item is one of a few bytes."""
    return bool(expr[0] == OP_SET and (expr[1] & PRINTABLE).bit_count() <= 64)
