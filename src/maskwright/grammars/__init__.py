"""Ready-made grammars of well-known formats, to use as they are or to copy and edit.

    >>> load("json")
    <Grammar of 9 rules, root 'root'>
    >>> source("json").language
    'ebnf'

Each is a file beside this one, in EBNF or Lark; what part of its format it covers, its first lines say. Every text of
a grammar is accepted by the format's usual parser.
Tested by tests/grammars/.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from maskwright.errors import GrammarError
from maskwright.grammar import Grammar

_LANGUAGES = {
    "arithmetic": "ebnf",
    "chess_san": "ebnf",
    "csv": "ebnf",
    "graphql_query": "lark",
    "iso_dates": "ebnf",
    "json": "ebnf",
    "markdown_table": "ebnf",
    "python_subset": "lark",
    "sql_select": "lark",
    "toml": "ebnf",
    "url": "ebnf",
    "xml": "lark",
}
NAMES = tuple(_LANGUAGES)


class Source(NamedTuple):
    """The text of a grammar, and the language it is written in: `ebnf` or `lark`."""

    text: str
    language: str


def source(name: str) -> Source:
    """Return the text of a ready-made grammar.

    Raises:
        GrammarError: There is none of this name.
    """
    language = _LANGUAGES.get(name) if isinstance(name, str) else None
    if language is None:
        raise GrammarError(f"there is no ready-made grammar {name!r:.60}", hint=f"there are: {', '.join(NAMES)}")
    return Source(files(__package__).joinpath(f"{name}.{language}").read_text("utf-8"), language)


def load(name: str) -> Grammar:
    """Return a ready-made grammar. It is read once per process.

    Raises:
        GrammarError: There is none of this name.
    """
    source(name)
    return _load(name)


@cache
def _load(name: str) -> Grammar:
    text, language = source(name)
    return Grammar.from_ebnf(text) if language == "ebnf" else Grammar.from_lark(text)
