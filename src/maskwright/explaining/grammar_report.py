"""`lint`: what looks like a mistake in a grammar that can be read, hints (`report/lint_hints.py`), and some figures.

    >>> report = lint(Grammar.from_ebnf('root ::= a | "x"\\na ::= a "y"\\nb ::= "z"'))
    >>> [(problem.kind, problem.rule) for problem in report.problems]
    [('unproductive', 'a'), ('unused', 'b')]

Nothing here changes what a grammar matches: unproductive rules are dropped and cycles cost nothing when masks are made.
Whether an intersection is empty is not asked; the compiler reports it if nothing is left at all.
Cost: linear, but for rules of many others, which are looked at again as those turn out productive.
Tested by tests/report/test_lint.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from maskwright.grammar import Grammar
from maskwright.ir import (
    OP_ALT,
    OP_CALL,
    OP_CAPTURE,
    OP_NEVER,
    OP_REF,
    OP_REPEAT,
    OP_SCOPE,
    OP_SEQ,
    OP_SPAN,
    GrammarIR,
    leading_back,
    operands,
    postorder,
    reachable,
)
from maskwright.ir.rule_facts import is_nullable, is_productive, least
from maskwright.report.lint_hints import hints
from maskwright.report.sources import rule_places
from maskwright.report.unproductive import of_nothing
from maskwright.support.arguments import instance


class GrammarProblem(NamedTuple):
    """Something in a rule.

    `kind` is "unused", "unproductive", "cycle" or, for what a `GrammarWarning` says, "warning"; for a hint it is
    "ambiguous" or "costly". `line` and `column` are those of the warning, from 1.
    """

    kind: str
    rule: str
    message: str
    hint: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.line}:{self.column}: "
        return f"{place}{self.kind}: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


class GrammarStatistics(NamedTuple):
    """The size of a grammar, of the rules that its root leads to."""

    rules: int
    expressions: int
    recursive_rules: int
    token_sets: int

    def __str__(self) -> str:
        return (
            f"{_counted(self.rules, 'rule')} ({self.recursive_rules} recursive), "
            f"{_counted(self.expressions, 'expression')}, {_counted(self.token_sets, 'token set')}"
        )


class GrammarReport(NamedTuple):
    """What `lint` finds: what is probably wrong, figures, and what is right but could be cheaper. As a `str`, what
    `maskwright lint` shows.
    """

    problems: tuple[GrammarProblem, ...]
    statistics: GrammarStatistics
    hints: tuple[GrammarProblem, ...] = ()

    @property
    def figures(self) -> str:
        """The statistics, and how many problems and hints there are, in words."""
        hints = f", {_counted(len(self.hints), 'hint')}" if self.hints else ""
        return f"{self.statistics}, {_counted(len(self.problems), 'problem')}{hints}"

    def __str__(self) -> str:
        return "\n".join([str(each) for each in self.problems + self.hints] + [self.figures])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # in IPython and notebooks
        printer.text(str(self))


def lint(grammar: Grammar) -> GrammarReport:
    """Look for rules that are never used, match nothing, or can derive themselves without consuming anything.

    Raises:
        ArgumentError: It is not a `Grammar`.

    >>> lint(Grammar.from_ebnf('root ::= [a-z]+')).problems
    ()
    """
    ir = instance("grammar", grammar, Grammar, _way_out(grammar)).ir
    facts = _Facts(ir)
    used = reachable([ir.root], facts.calls.__getitem__)
    problems = [
        GrammarProblem("warning", w.rule or ir.rules[ir.root].name, w.message, w.hint or "", w.line, w.column)
        for w in grammar.warnings
    ]
    for index, rule in enumerate(ir.rules):
        if index not in used:
            problems.append(
                GrammarProblem("unused", rule.name, f"rule {rule.name!r} is never used", "remove it, or use it")
            )
        elif not facts.productive[index]:
            hint = "add an alternative without recursion"
            if rule.body[0] == OP_NEVER:
                hint = of_nothing(rule.name, _is_defined(grammar, rule.name))
            problems.append(GrammarProblem("unproductive", rule.name, f"rule {rule.name!r} matches nothing", hint))
        elif index in facts.cyclic:
            message = f"rule {rule.name!r} can derive itself without consuming anything"
            problems.append(
                GrammarProblem("cycle", rule.name, message, "remove the cycle: it does not change what is matched")
            )
    sizes = [facts.sizes[index] for index in used]
    on_cycles = leading_back(facts.calls)
    statistics = GrammarStatistics(
        rules=len(used),
        expressions=sum(sizes),
        recursive_rules=sum(index in on_cycles for index in used),
        token_sets=sum(index in used for index, _ in ir.token_sets),
    )
    better = [
        GrammarProblem(h.kind, ir.rules[h.rule].name, h.message, h.hint)
        for h in hints(ir, facts.nodes, facts.empty, used)
    ]
    return GrammarReport(tuple(problems), statistics, tuple(better))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _way_out(given: object) -> str:
    """What to do with something that is not a grammar."""
    if isinstance(getattr(given, "grammar", None), Grammar):
        return "pass its grammar attribute"
    if isinstance(given, dict):
        return "for a JSON Schema, use maskwright.check"
    return "make one with Grammar.from_ebnf or Grammar.from_lark"


def _is_defined(grammar: Grammar, name: str) -> bool:
    source = grammar.source
    return source is None or source.kind not in ("ebnf", "lark") or name in rule_places(source)


class _Facts:
    """For each rule: what it calls, its size, whether it matches anything, whether it matches the empty string."""

    def __init__(self, ir: GrammarIR) -> None:
        self.nodes = [postorder(rule.body) for rule in ir.rules]
        self.sizes = [len(nodes) for nodes in self.nodes]
        self.calls = [list(dict.fromkeys(n[1] for n in nodes if n[0] in (OP_REF, OP_CALL))) for nodes in self.nodes]
        supplied = {index for index, _ in ir.token_sets}
        self.productive = least(self.nodes, is_productive, supplied)
        self.nullable = least(self.nodes, is_nullable, ())
        self.empty: dict[int, bool] = {}  # which expressions may be: rules share many
        self.cyclic = leading_back([self._links(index) for index in range(len(ir.rules))])

    def _links(self, index: int) -> list[int]:
        """The rules that this one may become with nothing around them."""
        empty = self.empty
        for node in self.nodes[index]:
            if id(node) not in empty:
                empty[id(node)] = is_nullable(node, [empty[id(part)] for part in operands(node)], self.nullable)
        links: dict[int, None] = {}
        pending, seen = [self.nodes[index][-1]], set()
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node[0] == OP_REF:
                links[node[1]] = None
            elif node[0] == OP_SEQ:
                parts = operands(node)
                filled = [part for part in parts if not empty[id(part)]]
                pending += filled if len(filled) == 1 else parts if not filled else []
            elif node[0] in (OP_ALT, OP_CAPTURE, OP_SPAN, OP_SCOPE) or (
                node[0] == OP_REPEAT and (node[2] <= 1 or empty[id(node[1])])
            ):
                pending += operands(node)
        return list(links)
