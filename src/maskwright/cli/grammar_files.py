"""Grammar files: which language they are in, and how to read them.

The language is that of the file's ending, or what the user says.
Tested by tests/cli/test_lint_command.py, tests/cli/test_convert.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from maskwright import Grammar
from maskwright.errors import GrammarError, MaskwrightError, Span

from .errors import CommandError
from .sources import check_schema_text, placed, read_text

LANGUAGES = ("ebnf", "lark", "regex", "schema")
_ENDINGS = {".ebnf": "ebnf", ".gbnf": "ebnf", ".lark": "lark", ".regex": "regex", ".re": "regex", ".json": "schema"}


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


def read_grammar_file(argument: str, language: str | None, *, strict: bool = False, relax: bool = False) -> GrammarFile:
    """Read a grammar from a file, or from stdin for `-`.

    Raises:
        CommandError: It cannot be read, its language is not known, or it is wrong.
    """
    label, text = read_text(argument, "FILE", "a file, or - for stdin with --from")
    language = language or language_of(argument)
    if language is None:
        endings = ", ".join(_ENDINGS)
        raise CommandError(f"{label}: unknown language\n  hint: pass --from, or a file that ends in {endings}")
    if language != "schema" and (strict or relax):
        raise CommandError(f"{label}: --strict and --relax need a JSON Schema\n  hint: leave them out")
    if language == "schema":
        check_schema_text(label, text)
    try:
        grammar = _read(text, language, strict, relax)
    except MaskwrightError as error:
        raise CommandError(placed(label, error, with_from=True)) from error
    return GrammarFile(label, text, language, grammar)


def language_of(name: str) -> str | None:
    """The language of a file by its ending."""
    return _ENDINGS.get(Path(name).suffix)


def _read(text: str, language: str, strict: bool, relax: bool) -> Grammar:
    if language == "ebnf":
        return Grammar.from_ebnf(text)
    if language == "lark":
        return Grammar.from_lark(text)
    if language == "regex":
        return Grammar.from_regex(text.rstrip("\n"))
    return Grammar.from_json_schema(text, strict_mode=strict, on_unsupported="relax" if relax else "error")
