"""What users write, turned into the IR: one subpackage per notation, and the character sets that they share."""

from maskwright.frontends.grammar_readers import READERS
from maskwright.ir import GrammarIR


def _lark(source: str) -> GrammarIR:
    from maskwright.frontends.lark import lark_to_ir

    return lark_to_ir(source)


def _ebnf(source: str) -> GrammarIR:
    from maskwright.frontends.ebnf import ebnf_to_ir

    return ebnf_to_ir(source)


def _regex(source: str) -> GrammarIR:
    from maskwright.frontends.regex import whole_regex_to_expr
    from maskwright.ir import Rule

    return GrammarIR((Rule("root", whole_regex_to_expr(source)),), 0)


READERS.update(lark=_lark, regex=_regex, ebnf=_ebnf, gbnf=_ebnf)
