"""Options stand at rules: what has some in the middle of a rule becomes a rule of its own to be printed.

    "a" (capture x of "b")   →   "a" x,  x[capture="x"] ::= "b"

Expressions are known by identity, as rules share many.
Tested by tests/frontends/test_printing.py.
"""

from __future__ import annotations

import re
from operator import is_

from maskwright.ir import OP_CAPTURE, OP_SPAN, Expr, GrammarIR, Rule, call, operands, postorder, ref, uses_parameter
from maskwright.ir.parameters import SELF


def is_written(node: Expr) -> bool:
    """Whether an expression is a capture that can be written as an option of a rule."""
    return bool(node[0] == OP_CAPTURE and not node[3])


def with_options_as_rules(grammar: GrammarIR) -> GrammarIR:
    """The same, with spans and captures only as whole bodies of rules: options stand at rules."""
    rules = list(grammar.rules)
    plain: set[int] = set()  # expressions without options, by identity: rules share many
    for index in range(len(rules)):
        body = rules[index].body
        whole_body = [body, body[1]] if body[0] == OP_SPAN else [body]
        moved: dict[int, Expr] = {}
        for node in postorder(body, lambda part: () if id(part) in plain else operands(part)):
            old = operands(node)
            if node[0] not in (OP_SPAN, OP_CAPTURE) and all(id(part) in plain for part in old):
                plain.add(id(node))
                continue
            new = [moved.get(id(part), part) for part in old]
            whole = node if all(map(is_, new, old)) else Expr((node[0], *new, *node[1 + len(new) :]))
            if (node[0] == OP_SPAN and node is not body) or (
                is_written(node) and not any(node is part for part in whole_body)
            ):
                name = re.sub(r"\W", "_", node[2]) if node[0] == OP_CAPTURE else f"{rules[index].name}_span"
                rules.append(Rule(name, whole))
                whole = call(len(rules) - 1, SELF) if uses_parameter(whole) else ref(len(rules) - 1)
            moved[id(node)] = whole
        rules[index] = Rule(rules[index].name, moved.get(id(body), body))
    return GrammarIR(tuple(rules), grammar.root, grammar.token_sets)
