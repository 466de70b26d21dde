"""What makes a grammar ambiguous or expensive without changing what it matches: shapes that can be written better.

    root ::= item ws        item ::= name ws        a blank belongs to either `ws`
    e ::= e "+" e | n                               1+1+1 is read in two ways
    list ::= (item?)*                               how many empty items are there?
    (a{2,100}){2,100}                               each way to count the outer ones is followed

The language is the same, and masks are right; but each reading is followed by itself, which costs memory and time.
Cost: linear, but for the rules with which a rule may begin or end, which are collected for each.
Tested by tests/report/test_lint.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from maskwright.ir import (
    OP_ALT,
    OP_CAPTURE,
    OP_REF,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    UNBOUNDED,
    Expr,
    GrammarIR,
    operands,
    postorder,
)

MAX_EDGE_RULES = 50  # of the loops at one edge of a rule
MANY_TIMES = 16


class Hint(NamedTuple):
    """Something in a rule, by its index, that could be written better."""

    kind: str
    rule: int
    message: str
    hint: str


def hints(grammar: GrammarIR, nodes: list[list[Expr]], empty: dict[int, bool], used: dict[int, None]) -> list[Hint]:
    """Look at the rules that are used, once each.

    `nodes` has the parts of each rule's body in postorder; `empty` says by identity which of them may be empty.
    """
    return _Search(grammar, nodes, empty).run(used)


class _Search:
    def __init__(self, grammar: GrammarIR, nodes: list[list[Expr]], empty: dict[int, bool]) -> None:
        self.grammar, self.nodes, self.empty = grammar, nodes, empty
        self.loops = [rule.body[0] == OP_REPEAT and rule.body[3] == UNBOUNDED for rule in grammar.rules]
        self.begins = self._edges(1)
        self.ends = self._edges(-1)

    def run(self, used: dict[int, None]) -> list[Hint]:
        found = []
        for index in used:
            seen = set()
            for hint in self._rule_hints(index):
                if hint.message not in seen:
                    seen.add(hint.message)
                    found.append(hint)
        return found

    def _rule_hints(self, index: int) -> Iterator[Hint]:
        rule = self.grammar.rules[index]
        for branch in rule.body[1:] if rule.body[0] == OP_ALT else (rule.body,):
            if branch[0] == OP_SEQ and branch[1] == branch[-1] == (OP_REF, index):
                message = f"rule {rule.name!r} begins and ends with itself"
                yield Hint("ambiguous", index, message, "repeat the part: item (operator item)*")
        for node in self.nodes[index]:
            if node[0] == OP_REPEAT and node[3] not in (0, 1):
                yield from self._repeat_hints(index, node, self.empty[id(node[1])])
            elif node[0] == OP_SEQ:
                yield from self._neighbours(index, node)

    def _repeat_hints(self, index: int, node: Expr, item_may_be_empty: bool) -> Iterator[Hint]:
        name = self.grammar.rules[index].name
        if item_may_be_empty:
            message = f"rule {name!r} repeats an expression that may be empty"
            yield Hint("ambiguous", index, message, "write a* for (a?)*")
        if _is_counted(node) and any(_is_counted(part) for part in postorder(node[1])):
            yield Hint(
                "costly",
                index,
                f"rule {name!r} has a counted repetition inside a counted repetition",
                "bound one of them, or make one exact",
            )

    def _neighbours(self, index: int, node: Expr) -> Iterator[Hint]:
        for part, following in pairwise(node[1:]):
            if part[0] == following[0] == OP_REF:
                both = self.ends[part[1]].keys() & self.begins[following[1]].keys()
                for loop in sorted(both):
                    name, other = self.grammar.rules[index].name, self.grammar.rules[loop].name
                    message = f"in rule {name!r}, {other!r} ends one part and begins the next"
                    yield Hint("ambiguous", index, message, "keep it on one side only")

    def _edges(self, side: int) -> list[dict[int, None]]:
        """By rule, the loops that it may begin (side 1) or end with (side -1)."""
        rules = self.grammar.rules
        links = [[n[1] for n in _at_edge(rule.body, side) if n[0] == OP_REF] for rule in rules]
        found: list[dict[int, None]] = []
        for index in range(len(rules)):
            reached = {index: None}
            pending = [index]
            for at in pending:  # grows meanwhile
                for target in links[at]:
                    if target not in reached and len(reached) < MAX_EDGE_RULES:
                        reached[target] = None
                        pending.append(target)
            found.append({at: None for at in reached if self.loops[at]})
        return found


def _is_counted(node: Expr) -> bool:
    return bool(node[0] == OP_REPEAT and node[3] != node[2] and node[3] >= MANY_TIMES)


def _at_edge(body: Expr, side: int) -> Iterator[Expr]:
    """What a body begins or ends with, as it stands: a rule behind another that may be empty does not count."""
    pending = [body]
    for node in pending:  # grows meanwhile
        if node[0] == OP_SEQ:
            pending.append(node[1] if side == 1 else node[-1])
        elif node[0] in (OP_ALT, OP_CAPTURE, OP_REPEAT, OP_SCOPE):
            pending.extend(operands(node))
        else:
            yield node
