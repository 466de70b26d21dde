"""Grammars without what matches nothing, for notations that cannot write it.

    root ::= "a" | "b" x,  x ::= "(" x    →   root ::= "a"

Tested by tests/frontends/test_printing_gbnf.py.
"""

from __future__ import annotations

from maskwright.errors import UnsatisfiableError
from maskwright.ir import OP_REF, Expr, GrammarIR, Rule, never, postorder
from maskwright.ir.rule_facts import is_productive, least
from maskwright.ir.walks import changed


def without_dead_ends(grammar: GrammarIR) -> GrammarIR:
    """Return the same grammar without the rules, and the alternatives, that match nothing.

    Raises:
        UnsatisfiableError: That is all of it.
    """
    supplied = [index for index, _ in grammar.token_sets]
    productive = least([postorder(rule.body) for rule in grammar.rules], is_productive, supplied)
    if not productive[grammar.root]:
        raise UnsatisfiableError("the grammar admits nothing")

    def change(node: Expr) -> Expr | None:
        return never() if node[0] == OP_REF and not productive[node[1]] else None

    known: dict[int, Expr] = {}
    rules = [Rule(rule.name, changed(rule.body, change, known)) for rule in grammar.rules]
    return grammar._replace(rules=tuple(rules))
