"""Whether a grammar admits no output at all, whatever the tokenizer.

    admits_nothing(ir)    True of  root ::= "[" root "]",  which never comes to an end

The kernel tells, by a vocabulary that can spell everything. Needed where an error or a report is made.
Tested by tests/report/test_emptiness.py.
"""

from __future__ import annotations

from functools import cache

from maskwright import _kernel
from maskwright.errors import UnsatisfiableError
from maskwright.ir import ANY_BYTE, OP_SPAN, OP_TOKENS, Expr, GrammarIR, Rule, changed, postorder, spelled_out

_MEMORY_BYTES = 1 << 20
_OF_TOKENS = frozenset((OP_TOKENS, OP_SPAN))


@cache
def _bytes() -> _kernel.Vocabulary:
    """Every byte is a token, and there are no others but a stop token."""
    return _kernel.Vocabulary([*(bytes((byte,)) for byte in range(256)), b""], [], [256], 257)


def admits_nothing(grammar: GrammarIR) -> bool:
    """Whether a grammar has no string. Every token that it names is there, and its budgets of tokens suffice.

    Raises:
        LimitError: It is too large.
    """
    return _admits_nothing(grammar) and (not _speaks_of_tokens(grammar) or _admits_nothing(_without_tokens(grammar)))


def _admits_nothing(grammar: GrammarIR) -> bool:
    try:
        _kernel.compile(_bytes(), grammar.rules, grammar.root, _MEMORY_BYTES)
    except UnsatisfiableError:
        return True
    return False


def _speaks_of_tokens(grammar: GrammarIR) -> bool:
    rules = spelled_out(grammar).rules
    return bool(grammar.token_sets) or any(part[0] in _OF_TOKENS for rule in rules for part in postorder(rule.body))


def _without_tokens(grammar: GrammarIR) -> GrammarIR:
    """The same with a byte for every token, and without budgets."""
    spelled = spelled_out(grammar)
    bodies = [_with_bytes(rule.body) for rule in spelled.rules]
    for index, _ in spelled.token_sets:
        bodies[index] = ANY_BYTE
    return GrammarIR(tuple(map(Rule, [rule.name for rule in spelled.rules], bodies)), spelled.root)


def _with_bytes(body: Expr) -> Expr:
    known: dict[int, Expr] = {}

    def change(part: Expr) -> Expr | None:
        return ANY_BYTE if part[0] == OP_TOKENS else known[id(part[1])] if part[0] == OP_SPAN else None

    return changed(body, change, known)
