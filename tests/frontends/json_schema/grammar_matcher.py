"""Whether a text is in the language of a grammar: for tests of grammars without left recursion.

Adds rule references to the matcher of regular expressions.
"""

from __future__ import annotations

import json
from typing import Any

from maskwright.frontends.json_schema.matching import _Matcher
from maskwright.ir import OP_REF, Expr, GrammarIR


class _GrammarMatcher(_Matcher):
    def __init__(self, grammar: GrammarIR, data: bytes) -> None:
        super().__init__(data)
        self.rules = grammar.rules

    def compound(self, expr: Expr, op: int, starts: int) -> int:
        if op == OP_REF:
            return self.ends(self.rules[expr[1]].body, starts)
        return super().compound(expr, op, starts)


def accepts_text(grammar: GrammarIR, text: str) -> bool:
    data = text.encode()
    matcher = _GrammarMatcher(grammar, data)
    return bool(matcher.ends(grammar.rules[grammar.root].body, 1) >> len(data) & 1)


def accepts(grammar: GrammarIR, value: Any) -> bool:
    return accepts_text(grammar, json.dumps(value, ensure_ascii=False))
