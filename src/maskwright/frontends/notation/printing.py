r"""Grammars written out again: as EBNF, as Lark, as GBNF, and, where they are regular, as a regular expression.

    >>> from maskwright.frontends.ebnf import ebnf_to_ir
    >>> print(to_ebnf(ebnf_to_ir('root ::= "a" [^b-d]* | "(" root ")"')))
    root ::= "a" [^b-d]* | "(" root ")"

What is printed can be read again and has the same language and captures, those that leave out their end, as structural
tags have them, apart; the rules keep their names where the notation admits them, and the root of EBNF is called `root`,
that of Lark `start`. Parametric rules are printed in Lark, and unfolded for the others (`unfolding.py`). Bytes that
are not whole characters can be written in EBNF only, as `Byte("80-bf")`. GBNF is for other programs, which know neither
captures nor intersections. Each notation has a file; printer.py is what they share.
Tested by tests/frontends/test_printing.py, tests/frontends/test_printing_gbnf.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import GrammarError
from maskwright.frontends.notation.dead_ends import without_dead_ends
from maskwright.frontends.notation.ebnf_printer import EbnfPrinter
from maskwright.frontends.notation.gbnf_printer import GbnfPrinter
from maskwright.frontends.notation.lark_printer import LarkPrinter
from maskwright.frontends.notation.regex_printer import RegexPrinter
from maskwright.frontends.notation.spelled_booleans import without_booleans
from maskwright.frontends.notation.unfolding import unfolded
from maskwright.frontends.regular import spelled_out
from maskwright.ir import OP_SUBSTRINGS, GrammarIR, Rule, postorder, ref, uses_parameter

_REGULAR_HINT: Final = "use EBNF: Grammar.to_ebnf, or --to ebnf"


def to_ebnf(grammar: GrammarIR) -> str:
    """Write a grammar in EBNF."""
    return EbnfPrinter(unfolded(grammar)).grammar()


def to_lark(grammar: GrammarIR) -> str:
    """Write a grammar in Lark's syntax.

    Raises:
        GrammarError: It holds bytes that are not whole characters.
    """
    if uses_parameter(grammar.rules[grammar.root].body):  # which the root cannot in Lark
        rules = (*grammar.rules, Rule("start", ref(grammar.root)))
        grammar = GrammarIR(rules, len(grammar.rules), grammar.token_sets)
    return LarkPrinter(grammar).grammar()


def to_gbnf(grammar: GrammarIR) -> str:
    """Write a grammar in the GBNF of llama.cpp.

    Raises:
        GrammarError: It holds something that GBNF cannot write, or admits nothing.
        LimitError: It is too large without its intersections and complements.
    """
    return GbnfPrinter(without_dead_ends(without_booleans(unfolded(grammar)))).grammar()


def to_regex(grammar: GrammarIR) -> str:
    """Write a grammar as one regular expression.

    Raises:
        GrammarError: It is recursive, or holds tokens, intersections, complements, bytes that are not characters, or
            substrings of a long text.
    """
    grammar = unfolded(grammar)
    bodies = [rule.body for rule in grammar.rules]
    supplied = {index for index, _ in grammar.token_sets}
    root = spelled_out(bodies[grammar.root], lambda index: None if index in supplied else bodies[index])
    if root is None and any(node[0] == OP_SUBSTRINGS for body in bodies for node in postorder(body)):
        raise GrammarError("the grammar contains substrings of a text that is too long to print", hint=_REGULAR_HINT)
    if root is None or grammar.root in supplied:
        raise GrammarError("the grammar is not regular: it is recursive or contains tokens", hint=_REGULAR_HINT)
    return RegexPrinter(grammar).expression(root)
