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
    problems = [p for p in report.problems if p.kind != "unused" or file.place(p.rule)]
    for problem in problems:
        place = file.place(problem.rule) or file.label
        if problem.line is not None:
            place = f"{file.label}:{problem.line}:{problem.column}"
        print(f"{place}: {problem.kind}: {problem.message}\n  hint: {in_options(problem.hint, with_from=True)}")
    hints = [(at, hint) for hint in report.hints if (at := file.place(hint.rule))]
    for at, hint in hints:
        print(f"{at}: {hint.kind}: {hint.message}\n  hint: {hint.hint}")
    for finding in file.grammar.report:
        print(printable(f"{file.label}: #{finding.pointer}: {finding.reason}"))
    figures = report.statistics
    print(
        f"{_counted(figures.rules, 'rule')} ({figures.recursive_rules} recursive), "
        f"{_counted(figures.expressions, 'expression')}, {_counted(figures.token_sets, 'token set')}, "
        f"{_counted(len(problems), 'problem')}" + (f", {_counted(len(hints), 'hint')}" if hints else "")
    )
    return EXIT_PROBLEMS if problems else EXIT_OK


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
