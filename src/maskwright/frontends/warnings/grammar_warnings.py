"""Warnings of grammars that compile but surely do not mean what they say, issued where the caller's code is.

    warnings_of(rules, source, ":", notes)       a `GrammarWarning` for each finding, with line and column in the source
    issue_warnings(rules, source, ":", notes)    the same, issued

What is found is in shadowing.py, doubled_stops.py, misread.py and lost_escapes.py.
Tested by tests/frontends/warnings/test_shadowing.py.
"""

from __future__ import annotations

import re

from maskwright.errors import GrammarWarning, Span, line_and_column
from maskwright.frontends.warnings.doubled_stops import doubled_stops
from maskwright.frontends.warnings.issuing import issue
from maskwright.frontends.warnings.notes import Notes
from maskwright.frontends.warnings.shadowing import shadowed
from maskwright.ir import GrammarIR


def issue_warnings(rules: GrammarIR, source: str, sign: str, notes: Notes) -> tuple[GrammarWarning, ...]:
    """Issue and return what is to be said of a grammar; the arguments are those of `warnings_of`."""
    found = warnings_of(rules, source, sign, notes)
    issue(found)
    return found


def warnings_of(rules: GrammarIR, source: str, sign: str, notes: Notes) -> tuple[GrammarWarning, ...]:
    """Return what is to be said of a grammar.

    Args:
        rules: The grammar.
        source: The text that it was read from.
        sign: What stands between a rule's name and its body there.
        notes: What the front-end noted of it.
    """
    found = []
    for finding in (*shadowed(rules, notes.embedded), *doubled_stops(rules, notes.stops)):
        rule = rules.rules[finding.rule].name
        line, column = place_of(rule, source, sign) or (None, None)
        found.append(GrammarWarning(finding.message, rule=rule, line=line, column=column, hint=finding.hint))
    for name, span, misread in notes.misread:
        line, column = line_and_column(source, span)
        found.append(GrammarWarning(misread.message, rule=name, line=line, column=column, hint=misread.hint))
    return tuple(found)


def place_of(rule: str, source: str, sign: str) -> tuple[int, int] | None:
    """Line and column of a rule's definition, from 1; None if it is not in the source."""
    found = re.search(rf"^[ \t]*[?!]*({re.escape(rule)})(?![\w-])[^\n:]*{sign}", source, re.MULTILINE)
    if found is None:
        return None
    return line_and_column(source, Span(*found.span(1)))
