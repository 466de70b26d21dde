"""Stop texts that have to come twice: `stop=` keeps its text in the match here, and it is written again behind it.

    text[stop="</a>"]: /.*/        start: text "</a>"        matches x</a></a>, and not x</a>

Elsewhere (guidance, llguidance) such a text is taken out of the output, so grammars put it back.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise

from maskwright.frontends.warnings.shadowing import Shadowed
from maskwright.ir import OP_ALT, OP_CAPTURE, OP_LITERAL, OP_REF, OP_SEQ, Expr, GrammarIR, postorder


def doubled_stops(grammar: GrammarIR, stops: Mapping[int, str]) -> list[Shadowed]:
    """Find rules with a stop text that is followed by the same text. `stops` are these rules, and their texts."""
    found: dict[str, Shadowed] = {}
    for index, rule in enumerate(grammar.rules if stops else ()):
        for node in postorder(rule.body):
            for part, following in pairwise(node[1:]) if node[0] == OP_SEQ else ():
                stop = stops.get(part[1]) if part[0] == OP_REF else None
                if stop and _begins_with(following, stop.encode(), grammar):
                    shown, name = json.dumps(stop, ensure_ascii=False), grammar.rules[part[1]].name
                    message = f"the stop text {shown} must occur twice: {name} matches it, and it is written again"
                    hint = f"remove it after {name}: stop and suffix keep their text in the output"
                    found.setdefault(f"{index} {name}", Shadowed(index, message, hint))
    return list(found.values())


def _begins_with(expr: Expr, data: bytes, grammar: GrammarIR) -> bool:
    """Whether an expression is, or begins with, a literal that begins with some bytes."""
    for _ in range(10):
        if expr[0] == OP_LITERAL:
            return bool(expr[1].startswith(data))
        if expr[0] == OP_REF:
            expr = grammar.rules[expr[1]].body
        elif expr[0] in (OP_SEQ, OP_CAPTURE, OP_ALT):  # of an alternative, with and without an ignored comment
            expr = expr[1]
        else:
            break
    return False
