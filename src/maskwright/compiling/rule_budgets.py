"""Which rule of a grammar has a budget (`max_tokens`) that none of its texts fits in.

    root ::= a
    a[max_tokens=2] ::= "a long text"      max_tokens=2 is too few for this rule: its shortest text needs 7 tokens

Only for errors: the rule is compiled alone, without its budget, and its shortest text is asked for.
Tested by tests/contract/test_budgets.py.
"""

from __future__ import annotations

from maskwright import _kernel
from maskwright.compiling.compiled_grammar import CompiledGrammar
from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.grammar import Grammar
from maskwright.ir import OP_SPAN, GrammarIR, Rule
from maskwright.report.sources import Source, rule_places, span_of_rule
from maskwright.tokenizer import TokenizerInfo

_LIMIT_BYTES = 64 << 20  # of what is compiled to find out


def why_over_budget(grammar: Grammar, source: Source, info: TokenizerInfo) -> UnsatisfiableError | None:
    """Return the error that names the first such rule of a text in EBNF or Lark; None if each has a text that fits."""
    ir, places = grammar.compact_ir, rule_places(source)
    for index, rule in enumerate(ir.rules):
        if rule.body[0] != OP_SPAN or rule.body[2] is None or rule.name not in places:
            continue
        budget: int = rule.body[2]
        needed = _tokens_needed(ir, index, budget, info)
        if needed is None:
            continue
        least, enough = needed
        at_least = "" if least == enough else "at least "
        return UnsatisfiableError(
            f"max_tokens={budget} is too few for this rule: its shortest text needs {at_least}{least} tokens",
            hint=f"write max_tokens={enough} or more",
            source=source.text,
            span=span_of_rule(source.text, rule.name, places[rule.name]),
            rule=rule.name,
        )
    return None


def _tokens_needed(ir: GrammarIR, index: int, budget: int, info: TokenizerInfo) -> tuple[int, int] | None:
    """So many tokens the shortest text of the rule has at least, and so many are enough; None if it fits the budget, or
    that is not known.
    """
    alone = Rule(ir.rules[index].name, ir.rules[index].body[1])
    rules = (*ir.rules[:index], alone, *ir.rules[index + 1 :])
    grammar = Grammar(ir._replace(rules=rules, root=index))
    try:
        compiled = CompiledGrammar(grammar, info, memory_budget_bytes=_LIMIT_BYTES)
        _kernel.Matcher(compiled._native, [], False, budget, True, -1.0)
    except UnsatisfiableError as error:
        if error.least_tokens is not None and error.enough_tokens is not None:
            return error.least_tokens, error.enough_tokens
    except LimitError:
        pass
    return None
