r"""Grammars of JSON texts with some escapes only: `json_allowed_escapes` of `x-guidance`.

    letters 'nrbtf\"'    "é" | "\u00" ("e" | "E") "9"   →   "é"

Backslashes stand in strings alone, and each character that the front-end spells by an escape has all its spellings
side by side; so those with another letter behind the backslash can be left out. Values of `enum` and names of members
have one spelling: there another escape is put, or `/` for `\/`. What a complement excludes may stay as it is.
Cost: one walk over the grammar. Tested by tests/frontends/json_schema/read/test_schema_guidance.py.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from maskwright.errors import UnsupportedSchemaError
from maskwright.ir import (
    OP_ALT,
    OP_LITERAL,
    OP_NEVER,
    OP_REMEMBER,
    OP_SEQ,
    OP_SET,
    OP_SUBGRAMMAR,
    Expr,
    GrammarIR,
    Rule,
    alt,
    byte_set,
    changed,
    literal,
    never,
    seq,
    subgrammar,
)

LETTERS: Final = 'nrbtf\\"u/'
_ESCAPE: Final = re.compile(rb"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEANINGS: Final = {b"n": 10, b"r": 13, b"b": 8, b"t": 9, b"f": 12, b"\\": 0x5C, b'"': 0x22}


def with_escapes(grammar: GrammarIR, letters: str) -> GrammarIR:
    """Return the grammar of the texts of a grammar in which backslashes stand before these letters alone.

    Raises:
        UnsupportedSchemaError: A value or name of the schema cannot be written then.
    """
    return _Escapes(letters).grammar(grammar)


class _Escapes:
    def __init__(self, letters: str) -> None:
        self.letters = letters.encode()
        self._bits = sum(1 << byte for byte in set(self.letters))
        self._known: dict[int, Expr] = {}
        self._subgrammars: dict[int, Expr] = {}

    def grammar(self, grammar: GrammarIR) -> GrammarIR:
        rules = [Rule(rule.name, self._respelled(rule.body)) for rule in grammar.rules]
        return GrammarIR(tuple(rules), grammar.root)

    def _respelled(self, root: Expr) -> Expr:
        return changed(root, self._change, self._known)

    def _change(self, expr: Expr) -> Expr | None:
        op = expr[0]
        if op == OP_LITERAL:
            return self._literal(expr)
        if op == OP_SUBGRAMMAR:
            number = expr[1].number
            if number not in self._subgrammars:
                self._subgrammars[number] = subgrammar(_Escapes(self.letters.decode()).grammar(expr[1].ir))
            return self._subgrammars[number]
        if op == OP_REMEMBER and self._known[id(expr[1])] != expr[1]:
            raise UnsupportedSchemaError(
                "the text of a group that is referred back to takes escapes that json_allowed_escapes leaves out",
                pointer="/x-guidance/json_allowed_escapes",
                keyword="json_allowed_escapes",
                hint="allow these escapes, or no such characters in the group",
            )
        return self._sequence(expr) if op == OP_SEQ else None

    def _sequence(self, expr: Expr) -> Expr:
        parts = [self._known[id(expr[1])]]
        for before, part in pairwise(expr[1:]):
            parts.append(self._after_backslash(part) if _is_open(before) else self._known[id(part)])
        return seq(*parts)

    def _after_backslash(self, expr: Expr) -> Expr:
        """What may stand behind a backslash, of an expression that does."""
        op = expr[0]
        if op == OP_SET:
            return byte_set(expr[1] & self._bits)
        if op == OP_ALT:
            return alt(*map(self._after_backslash, expr[1:]))
        if op == OP_SEQ:
            first = self._after_backslash(expr[1])
            return first if first[0] == OP_NEVER else seq(first, *self._sequence_behind(expr))
        assert op == OP_LITERAL, "a backslash and its letter are in one sequence"
        return expr if self._is_allowed(b"\\" + expr[1]) else never()

    def _sequence_behind(self, expr: Expr) -> list[Expr]:
        return [
            self._after_backslash(part) if _is_open(before) else self._respelled(part)
            for before, part in pairwise(expr[1:])
        ]

    def _literal(self, expr: Expr) -> Expr:
        data = expr[1]
        if self._is_allowed(data):
            return expr
        if not data.startswith(b'"'):
            return never()  # one of many spellings
        return literal(_ESCAPE.sub(self._other_spelling, data))

    def _is_allowed(self, data: bytes) -> bool:
        return b"\\" not in data or all(escape[1][0] in self.letters for escape in _ESCAPE.finditer(data))

    def _other_spelling(self, match: re.Match[bytes]) -> bytes:
        escape = match[1]
        if escape[0] in self.letters:
            return match[0]
        if escape == b"/":
            return escape
        if escape in _MEANINGS and ord("u") in self.letters:
            return b"\\u%04x" % _MEANINGS[escape]
        raise UnsupportedSchemaError(
            f"a value or name takes the escape {match[0].decode()}, which json_allowed_escapes leaves out",
            pointer="/x-guidance/json_allowed_escapes",
            keyword="json_allowed_escapes",
            hint=f"add {chr(escape[0])!r} to it",
        )


def _is_open(expr: Expr) -> bool:
    """Whether an expression ends in a backslash whose letter is still to come."""
    if expr[0] != OP_LITERAL:
        return False
    data = expr[1]
    return (len(data) - len(data.rstrip(b"\\"))) % 2 == 1
