"""Where the parser of Lark grammars stands in the text, and the errors that it raises there.

Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from maskwright.errors import LarkSyntaxError, Span
from maskwright.frontends.notation.mistakes import class_around, hint_at, malformed_head_at
from maskwright.support.json_mistakes import hint_for

MALFORMED_REPETITION: Final = ("malformed repetition", "write {n}, {n,}, {n,m} or {,m}; ( … )* for any number of times")
_UNEXPECTED: Final = {
    '"': ("unterminated string", 'add ", and write a line break as \\n'),
    "'": ("unterminated string", "add ', and write a line break as \\n"),
    "/": ("unterminated regex", "add /, and write \\/ for a slash inside"),
    "{": MALFORMED_REPETITION,
    "<": ("malformed token literal", "write <name> or <[1,2-5]>"),
}


class Cursor:
    """A position in the text of a grammar.

    Attributes:
        source: the text.
        position: where the next token begins.
        rule: the name of the definition whose body is open, which errors give.
    """

    __slots__ = ("position", "rule", "source")

    def __init__(self, source: str, position: int) -> None:
        self.source = source
        self.position = position
        self.rule: str | None = None

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> LarkSyntaxError:
        rule = malformed_head_at(self.source, start, ":") or self.rule
        return LarkSyntaxError(message, source=self.source, span=Span(start, end), hint=hint, rule=rule)

    def unexpected(self, position: int) -> LarkSyntaxError:
        """Return the error for a character at which no token begins."""
        message, hint = _UNEXPECTED.get(self.source[position], ("unexpected character", None))
        if self.source.startswith("->", position):
            message, hint = "the alias has no name", "write -> name"
        meant = class_around(self.source, position)
        if meant is not None:
            message, hint = "unexpected character", meant
        hint = hint or hint_at(self.source, position, ":", "/…/")
        return self.error(message, position, position + 1, hint)

    def read_json(self, start: int) -> Any:
        """Read the JSON value at the position; `start` is where the statement begins."""
        try:
            begin = len(self.source) - len(self.source[self.position :].lstrip())
            value, self.position = json.JSONDecoder().raw_decode(self.source, begin)
        except json.JSONDecodeError as error:
            hint = hint_for(self.source, error.pos)
            raise self.error(f"not valid JSON: {error.msg}", error.pos, error.pos + 1, hint) from error
        except (RecursionError, ValueError) as error:
            raise self.error(
                "the JSON is nested too deeply, or a number in it is out of range", start, self.position
            ) from error
        return value


def extent(token: re.Match[str]) -> tuple[int, int]:
    """Where a token begins and ends, without the white space behind it."""
    assert token.lastgroup is not None
    return token.span(token.lastgroup)
