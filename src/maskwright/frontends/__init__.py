"""What users write, turned into the IR: one subpackage per notation, and the character sets that they share."""

from __future__ import annotations

from maskwright.frontends.grammar_readers import READERS, ReadGrammar


def _lark(source: str) -> ReadGrammar:
    from maskwright.frontends.lark import lark_to_ir
    from maskwright.frontends.warnings.grammar_warnings import warnings_of
    from maskwright.frontends.warnings.notes import no_notes

    notes = no_notes()
    made = lark_to_ir(source, notes=notes)
    return ReadGrammar(made, warnings_of(made, source, ":", notes))


def _ebnf(source: str) -> ReadGrammar:
    from maskwright.frontends.ebnf import ebnf_to_ir
    from maskwright.frontends.warnings.grammar_warnings import warnings_of
    from maskwright.frontends.warnings.notes import no_notes

    notes = no_notes()
    made = ebnf_to_ir(source, notes=notes)
    return ReadGrammar(made, warnings_of(made, source, "::=", notes))


def _regex(source: str) -> ReadGrammar:
    from maskwright.errors import RegexSyntaxError
    from maskwright.frontends.regex import whole_regex_to_expr
    from maskwright.frontends.warnings.misread import warning_of_misread_pattern
    from maskwright.frontends.warnings.other_languages import warning_of_other_language, with_language
    from maskwright.ir import GrammarIR, Rule

    try:
        made = GrammarIR((Rule("root", whole_regex_to_expr(source)),), 0)
    except RegexSyntaxError as error:
        raise with_language(error, source)  # noqa: B904
    found = (warning_of_other_language(source), warning_of_misread_pattern(source))
    return ReadGrammar(made, tuple([warning for warning in found if warning is not None]))


READERS.update(lark=_lark, regex=_regex, ebnf=_ebnf, gbnf=_ebnf)
