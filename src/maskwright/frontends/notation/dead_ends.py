"""Grammars without what matches nothing, for notations that cannot write it.

    root ::= "a" | "b" x,  x ::= "(" x    →   root ::= "a"

Tested by tests/frontends/test_printing_gbnf.py.
"""

from __future__ import annotations

from maskwright.errors import UnsatisfiableError
from maskwright.ir import (
    OP_ALT,
    OP_NEVER,
    OP_REF,
    OP_REPEAT,
    Expr,
    GrammarIR,
    Rule,
    never,
    operands,
    postorder,
)
from maskwright.ir.walks import changed


def without_dead_ends(grammar: GrammarIR) -> GrammarIR:
    """Return the same grammar without the rules, and the alternatives, that match nothing.

    Raises:
        UnsatisfiableError: That is all of it.
    """
    productive = {index for index, _ in grammar.token_sets}
    orders = [postorder(rule.body, operands) for rule in grammar.rules]
    before = -1
    while before < len(productive):
        before = len(productive)
        productive.update(index for index, order in enumerate(orders) if _is_productive(order, productive))
    if grammar.root not in productive:
        raise UnsatisfiableError("the grammar admits nothing")

    def change(node: Expr) -> Expr | None:
        return never() if node[0] == OP_REF and node[1] not in productive else None

    known: dict[int, Expr] = {}
    rules = [Rule(rule.name, changed(rule.body, change, known)) for rule in grammar.rules]
    return grammar._replace(rules=tuple(rules))


def _is_productive(order: list[Expr], productive: set[int]) -> bool:
    done: dict[int, bool] = {}
    for node in order:
        parts = [done[id(part)] for part in operands(node)]
        if node[0] == OP_ALT:
            done[id(node)] = any(parts)
        elif node[0] == OP_REF:
            done[id(node)] = node[1] in productive
        else:
            done[id(node)] = node[0] != OP_NEVER and ((node[0] == OP_REPEAT and node[2] == 0) or all(parts))
    return done[id(order[-1])]
