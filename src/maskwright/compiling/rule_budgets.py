"""Which rule of a grammar has a budget (`max_tokens`) that none of its texts fits in.

    root ::= a
    a[max_tokens=2] ::= "a long text"      max_tokens=2 is too few for this rule: its shortest text needs 7 tokens

Only for errors: the rule is compiled alone, with other budgets, until one fits.
Tested by tests/contract/test_budgets.py.
"""

from __future__ import annotations

from maskwright.compiling.compiled_grammar import CompiledGrammar
from maskwright.errors import Span, UnsatisfiableError
from maskwright.grammar import Grammar
from maskwright.ir import OP_SPAN, GrammarIR, Rule, span
from maskwright.report.sources import Source, rule_places
from maskwright.tokenizer import TokenizerInfo

_LARGEST = 1 << 16
_LIMIT_BYTES = 64 << 20  # of what is compiled to find out


def why_over_budget(grammar: Grammar, source: Source, info: TokenizerInfo) -> UnsatisfiableError | None:
    """Return the error that names the first such rule of a text in EBNF or Lark; None if each has a text that fits."""
    ir, places = grammar.compact_ir, rule_places(source)
    for index, rule in enumerate(ir.rules):
        if rule.body[0] != OP_SPAN or rule.body[2] is None or rule.name not in places:
            continue
        budget: int = rule.body[2]
        if _fits(ir, index, budget, info) or not _fits(ir, index, _LARGEST, info):
            continue
        too_few, least = budget, _LARGEST
        while too_few + 1 < least:
            middle = min(2 * too_few + 1, (too_few + least) // 2)
            if _fits(ir, index, middle, info):
                least = middle
            else:
                too_few = middle
        line, column = places[rule.name]
        start = sum(len(text) + 1 for text in source.text.split("\n")[: line - 1]) + column - 1
        return UnsatisfiableError(
            f"max_tokens={budget} is too few for this rule: its shortest text needs {least} tokens",
            hint=f"write max_tokens={least} or more",
            source=source.text,
            span=Span(start, start + len(rule.name)),
            rule=rule.name,
        )
    return None


def _fits(ir: GrammarIR, index: int, budget: int, info: TokenizerInfo) -> bool:
    """Whether a text of the rule has at most so many tokens."""
    rule = ir.rules[index]
    alone = Rule(rule.name, span(rule.body[1], budget, rule.body[3]))
    rules = (*ir.rules[:index], alone, *ir.rules[index + 1 :])
    try:
        CompiledGrammar(Grammar(ir._replace(rules=rules, root=index)), info, memory_budget_bytes=_LIMIT_BYTES)
    except UnsatisfiableError:
        return False
    return True
