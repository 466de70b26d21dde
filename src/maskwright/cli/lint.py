"""`maskwright lint`: what looks wrong in a grammar file, and its figures.

Tested by tests/cli/test_lint_command.py.
"""

from __future__ import annotations

import argparse

from maskwright import lint

from .errors import EXIT_OK, EXIT_PROBLEMS
from .grammar_files import read_grammar_file
from .sources import in_options, json_options
from .texts import printable


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    file = read_grammar_file(arguments.file, arguments.language, json_options(arguments))
    report = lint(file.grammar)
    # What an embedded schema brings along unused is nobody's mistake.
    problems = tuple([p for p in report.problems if p.kind != "unused" or file.place(p.rule)])
    hints = tuple([hint for hint in report.hints if file.place(hint.rule)])
    for each in problems + hints:
        place = f"{file.label}:" if each.line is not None else f"{file.place(each.rule) or file.label}: "
        print(in_options(f"{place}{each}", with_from=True))
    for finding in file.grammar.report:
        print(printable(f"{file.label}: #{finding.pointer}: {finding.reason}"))
    print(report._replace(problems=problems, hints=hints).figures)
    return EXIT_PROBLEMS if problems else EXIT_OK
