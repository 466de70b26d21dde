"""`maskwright convert`: a grammar file in another language.

Tested by tests/cli/test_convert.py.
"""

from __future__ import annotations

import argparse

from maskwright import Grammar
from maskwright.errors import MaskwrightError

from .errors import EXIT_OK, CommandError
from .grammar_files import read_grammar_file
from .sources import json_options, placed, print_warnings
from .texts import print_findings

WRITERS = {
    "ebnf": Grammar.to_ebnf,
    "gbnf": Grammar.to_gbnf,
    "lark": Grammar.to_lark,
    "regex": Grammar.to_regex,
    "ir": Grammar.dump,
}


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    file = read_grammar_file(arguments.file, arguments.language, json_options(arguments))
    print_findings(file.grammar.report)
    print_warnings(file.grammar, with_from=True)
    try:
        print(WRITERS[arguments.to](file.grammar))
    except MaskwrightError as error:
        raise CommandError(placed(file.label, error, with_from=True)) from error
    return EXIT_OK
