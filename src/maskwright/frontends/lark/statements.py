"""The statements of Lark grammars that a pattern or JSON reads whole: imports, declarations and options.

    %import common.INT -> NUMBER      %import common (INT, WS)
    %declare INDENT DEDENT            %llguidance {"no_forcing": true}

Each function takes the cursor after the statement's name, which begins at `start`, and moves it past the statement.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.errors import Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.cursor import Cursor
from maskwright.frontends.lark.grammar_options import wrong_option
from maskwright.frontends.lark.tokens import DECLARE, IMPORT, IMPORT_NAMES, WORD


def read_declaration(cursor: Cursor, start: int) -> list[ast.Name]:
    """Read `%declare NAME NAME`."""
    match = DECLARE.match(cursor.source, start)
    if match is None:
        raise cursor.error("malformed %declare", start, cursor.position, "write %declare NAME NAME")
    cursor.position = match.end()
    words = WORD.finditer(cursor.source, match.start(1), match.end(1))
    return [ast.Name(Span(*word.span()), word.group()) for word in words]


def read_import(cursor: Cursor, start: int) -> list[ast.Import]:
    """Read `%import module.name`, with an alias or without, or `%import module (name, name)`."""
    match = IMPORT.match(cursor.source, start)
    if match is None:
        raise cursor.error("malformed %import", start, cursor.position, "write %import common.NAME")
    path, opening, alias = match.groups()
    cursor.position = match.end()
    if opening is not None:
        return _imported_names(cursor, start, path)
    module, _, name = path.rpartition(".")
    if not module.strip("."):
        hint = "write %import module.name, or %import module (name, name)"
        raise cursor.error("the import does not name a module", *match.span(1), hint)
    return [ast.Import(Span(*match.span(1)), module, name, alias or name)]


def _imported_names(cursor: Cursor, start: int, module: str) -> list[ast.Import]:
    names = IMPORT_NAMES.match(cursor.source, cursor.position)
    if names is None:
        raise cursor.error("malformed %import", start, cursor.position, "write %import common (NAME, NAME)")
    cursor.position = names.end()
    words = WORD.finditer(cursor.source, names.start(1), names.end(1))
    return [ast.Import(Span(*word.span()), module, word.group(), word.group()) for word in words]


def read_options(cursor: Cursor, start: int) -> dict[str, Any]:
    """Read `%llguidance {…}` or `%grammar_options {…}`."""
    value = cursor.read_json(start)
    if not isinstance(value, dict):
        raise cursor.error("grammar options must be an object", start, cursor.position, 'write {"option": value}')
    for name, chosen in value.items():
        wrong = wrong_option(name, chosen)
        if wrong is not None:
            raise cursor.error(wrong[0], start, cursor.position, wrong[1])
    return value
