"""Grammar files: which language they are in, and how to read them.

The language is that of the file's ending, or what the user says.
Tested by tests/cli/test_lint_command.py, tests/cli/test_convert.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from maskwright import Grammar
from maskwright.errors import GrammarError, MaskwrightError, Span

from .errors import CommandError
from .sources import ENDINGS, check_schema_text, language_of, pattern_of_file, placed, read_text


class GrammarFile(NamedTuple):
    """A grammar, and the text that it comes from."""

    label: str
    text: str
    language: str
    grammar: Grammar

    def place(self, rule: str) -> str | None:
        """`FILE:LINE:COLUMN` of a rule's definition; None if it does not stand in the file."""
        sign = {"ebnf": "::=", "lark": ":"}.get(self.language)
        match = sign and re.search(rf"^[ \t]*[?!]*({re.escape(rule)})[^\n:]*{sign}", self.text, re.MULTILINE)
        if not match:
            return None
        at = GrammarError("", source=self.text, span=Span(*match.span(1)))
        return f"{self.label}:{at.line}:{at.column}"


def read_grammar_file(
    argument: str, language: str | None, options: Mapping[str, Any], *, tools: str | None = None
) -> GrammarFile:
    """Read a grammar from a file, or from stdin for `-`.

    Args:
        argument: The file.
        language: Its language; None for what its ending says.
        options: Those of JSON Schema.
        tools: How the command takes tools, if it does.

    Raises:
        CommandError: It cannot be read, its language is not known, or it is wrong.
    """
    label, text = read_text(argument, "FILE", "a file, or - for stdin with --from")
    language = language or language_of(argument)
    if language is None:
        raise CommandError(f"{label}: unknown language\n  hint: pass --from, or a file that ends in {ENDINGS}")
    if language != "schema" and options:
        raise CommandError(f"{label}: layout and schema options need a JSON Schema\n  hint: leave them out")
    if language == "schema":
        check_schema_text(label, text, tools=tools)
    try:
        grammar = _read(text, language, options)
    except MaskwrightError as error:
        raise CommandError(placed(label, error, with_from=True)) from error
    return GrammarFile(label, text, language, grammar)


def _read(text: str, language: str, options: Mapping[str, Any]) -> Grammar:
    if language == "ebnf":
        return Grammar.from_ebnf(text)
    if language == "lark":
        return Grammar.from_lark(text)
    if language == "regex":
        return Grammar.from_regex(pattern_of_file(text))
    return Grammar.from_json_schema(text, **options)
