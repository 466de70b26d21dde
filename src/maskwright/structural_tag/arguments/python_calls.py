"""Arguments as in a call in Python: keywords, and literals for values.

    city="Paris", days=3, options={"wind": True, "at": [1, None]}

Strings stand in double quotes, with the escapes that JSON and Python read alike; numbers are those of JSON. In the
style `python_any` strings may also stand in single quotes, between which no quote is escaped, and JSON's spellings of
the constants are accepted. Behind each comma is one space. Names of arguments are identifiers; an undeclared one is not
a keyword of Python, and plain ASCII.
Source: https://docs.python.org/3/reference/lexical_analysis.html
Tested by tests/structural_tag/arguments/test_python_calls.py.
"""

from __future__ import annotations

import json
import keyword
from typing import Final

from maskwright.frontends.charset import utf8
from maskwright.frontends.json_schema.read.places import Conj
from maskwright.frontends.json_schema.sets.quotes import QUOTE, closed
from maskwright.frontends.json_schema.sets.shape import FALSE, NULL, TRUE, StringShape
from maskwright.frontends.json_schema.sets.strings import (
    ANY_TEXT,
    admits_string,
    any_of_names,
    spelling,
    string_body,
    text_characters,
)
from maskwright.frontends.json_schema.sets.text_grammars import is_regular_text, quoted_text
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import Expr, alt, and_, literal, never, not_, seq, text
from maskwright.structural_tag.arguments.free_names import Spelling
from maskwright.structural_tag.arguments.raw_strings import text_of_shape
from maskwright.structural_tag.arguments.xml import Writer
from maskwright.structural_tag.formats.xml_styles import Kind
from maskwright.structural_tag.texts.tokens import Pieces

# Between the quotes. Python does not know the escape of `/`, and does not join the halves of a surrogate pair.
_TEXT: Final = regex_to_expr(
    r'(?:[^"\\\x00-\x1f]|\\(?:["\\bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})))*'
)
_IDENTIFIER: Final = regex_to_expr("[A-Za-z_][A-Za-z0-9_]*")
# The same between single quotes, where no quote is escaped: one that holds a single quote stands in double quotes.
_SINGLE_TEXT: Final = regex_to_expr(
    r"(?:[^'\\\x00-\x1f]|\\(?:[\\bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})))*"
)
_WITHOUT_QUOTES: Final = regex_to_expr(r"[^'\"]*")
_WITHOUT_ESCAPES: Final = regex_to_expr(r"[^'\\\x00-\x1f]*")
_SINGLE: Final = text("'")
_CONSTANTS: Final = ((TRUE, "true", "True"), (FALSE, "false", "False"), (NULL, "null", "None"))


class PythonWriter(Writer):
    """Writes the arguments of a call, and dictionaries in them."""

    _in_dict = False  # rather than among the arguments themselves

    def finish(self) -> None:
        self._in_dict = True
        super().finish()

    def enclosed(self, left: str, inner: Expr, right: str) -> Expr:
        return super().enclosed(left, inner, right) if self._in_dict else inner

    @property
    def opening(self) -> Pieces:
        return ("{name}", ": ") if self._in_dict else super().opening

    def why_unwritable(self, name: str) -> str | None:
        if self._in_dict or (name.isidentifier() and not keyword.iskeyword(name)):
            return None
        return f"{name[:60]!r} is not a valid argument name in Python"

    def name(self, name: str) -> Expr:
        return text(json.dumps(name, ensure_ascii=False) if self._in_dict else name)

    @property
    def name_spelling(self) -> Spelling:
        return text_characters if self._in_dict else utf8

    def other_name(self, declared: dict[str, Conj], *parts: Expr) -> Expr:
        if self._in_dict:
            taken = [not_(any_of_names(declared))] if declared else []
            return seq(QUOTE, closed(and_(_TEXT, *parts, *taken)))
        return and_(_IDENTIFIER, *parts, not_(alt(*map(text, (*declared, *keyword.kwlist)))))

    def captured_name(self, name: Expr) -> Expr:
        return self.captured("key" if self._in_dict else "name", name)

    def scalar(self, kind: Kind, strings: tuple[StringShape, ...], mask: int) -> Expr:
        if kind.spelling == "constant":
            return alt(*[self._constant_of(it) for it in _CONSTANTS if mask & it[0]])
        double = self.captured("value", alt(*map(_string, strings)))
        if not self.style.any_quotes:
            return double
        inner = alt(*map(_single_text, strings))
        return alt(double, self.captured("single", seq(_SINGLE, inner, _SINGLE)))

    def _constant_of(self, it: tuple[int, str, str]) -> Expr:
        _, in_json, in_python = it
        spelled = text(in_python)
        return self.captured(in_json, alt(spelled, text(in_json)) if self.style.any_quotes else spelled)


def _string(shape: StringShape) -> Expr:
    if shape.values is not None:
        return alt(*[literal(spelling(value)) for value in shape.values if admits_string(shape, value)])
    if shape.is_grammar():
        return quoted_text(shape.grammars[0])
    body = string_body(shape)
    return seq(QUOTE, closed(_TEXT if body is ANY_TEXT else and_(body, _TEXT)))


def _single_text(shape: StringShape) -> Expr:
    """The strings of a shape between single quotes: as they are, or with escapes and without a double quote."""
    if shape.values is not None:
        return alt(*[_single_spelling(value) for value in shape.values if admits_string(shape, value)])
    if shape.is_grammar() and not is_regular_text(shape.grammars[0]):
        return never()
    body = string_body(shape)
    if body is ANY_TEXT:
        return _SINGLE_TEXT
    return alt(and_(text_of_shape(shape), _WITHOUT_ESCAPES), and_(body, _SINGLE_TEXT, _WITHOUT_QUOTES))


def _single_spelling(value: str) -> Expr:
    """A string between single quotes; none if it holds one."""
    if "'" in value:
        return never()
    return literal(spelling(value)[1:-1].replace(b'\\"', b'"'))
