"""The rules that can begin with themselves: they cannot be captured.

    >>> from maskwright.ir import GrammarIR, Rule, alt, ref, seq, text
    >>> left_recursive(GrammarIR((Rule("sum", alt(seq(ref(0), text("+1")), text("1"))),), 0))
    {0}

Tested by tests/report/test_explain.py.
"""

from __future__ import annotations

from maskwright.ir import OP_AND, OP_CALL, OP_NOT, OP_REF, OP_SEQ, Expr, GrammarIR, leading_back
from maskwright.ir.rule_facts import may_be_empty, nullable_rules


def left_recursive(grammar: GrammarIR) -> set[int]:
    """Return the indices of the left-recursive rules. The grammar has no subgrammars."""
    bodies = [rule.body for rule in grammar.rules]
    nullable = nullable_rules(bodies)
    return leading_back([_first_rules(body, nullable) for body in bodies])


def _first_rules(body: Expr, nullable: list[bool]) -> set[int]:
    """The rules that a match may begin with."""
    found, waiting = set[int](), [body]
    while waiting:
        expr = waiting.pop()
        if expr[0] in (OP_REF, OP_CALL):
            found.add(expr[1])
        elif expr[0] == OP_SEQ:
            for part in expr[1:]:
                waiting.append(part)
                if not may_be_empty(part, nullable):
                    break
        elif expr[0] not in (OP_AND, OP_NOT):  # which are regular
            waiting += [part for part in expr[1:] if isinstance(part, Expr)]
    return found
