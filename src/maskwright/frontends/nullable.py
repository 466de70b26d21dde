"""Rules within a budget of no tokens, which match nothing but the empty text.

    >>> from maskwright.ir import EMPTY, Rule, ref, span, star, text
    >>> rules = (Rule("root", span(ref(1), 0)), Rule("a", star(text("a"))))
    >>> print(without_empty_budgets(GrammarIR(rules, 0)).dump())
    root ::= ""

Tested by tests/corpus/lark.toml.
"""

from __future__ import annotations

from maskwright.ir import EMPTY, OP_ALT, OP_SEQ, OP_SPAN, Expr, GrammarIR, Rule, alt, never, seq
from maskwright.ir.rule_facts import may_be_empty, nullable_rules


def without_empty_budgets(grammar: GrammarIR) -> GrammarIR:
    """The same, with what must lie in no token at all replaced by what it can match: nothing but the empty text."""
    found = nullable_rules([rule.body for rule in grammar.rules])
    rules = [Rule(rule.name, _without_empty_budgets(rule.body, found)) for rule in grammar.rules]
    return GrammarIR(tuple(rules), grammar.root, grammar.token_sets)


def _without_empty_budgets(body: Expr, found: list[bool]) -> Expr:
    """Options are of whole rules, so they stand in sequences and alternatives only."""
    if body[0] == OP_SPAN:
        return body if body[2] != 0 else EMPTY if may_be_empty(body[1], found) else never()
    if body[0] in (OP_SEQ, OP_ALT):
        parts = [_without_empty_budgets(part, found) for part in body[1:]]
        return seq(*parts) if body[0] == OP_SEQ else alt(*parts)
    return body
