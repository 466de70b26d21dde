"""Spellings of strings: lengths, patterns, formats and finite sets as one regular language inside the quotes.

    {"minLength": 2, "pattern": "^a"}   →   "\\"" (character{2,} & (a any*)) "\\""

Lengths count characters, in whatever spelling (`\\u00e9` is one). Values of `enum` and member names are written in
their canonical spelling, as `json.dumps(ensure_ascii=False)` does; what is *excluded* is excluded in every spelling.
Tested by tests/frontends/json_schema/test_schema_strings.py.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json.encoder import encode_basestring

from maskwright.errors import RegexSyntaxError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, json_string_chars, utf8
from maskwright.frontends.json_schema.formats import FORMATS
from maskwright.frontends.json_schema.intersect import admits_length
from maskwright.frontends.json_schema.matching import matches
from maskwright.frontends.json_schema.pointers import pointer_of
from maskwright.frontends.json_schema.shape import Path, StringShape
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import OP_ALT, OP_AND, OP_NOT, Expr, alt, and_, literal, never, not_, repeat, seq, star

CHARACTER = json_string_chars(ALL_CHARACTERS)
ANY_TEXT = star(CHARACTER)
QUOTE = literal(b'"')

_MUST_ESCAPE = CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])


def spelling(text: str) -> bytes:
    """Return the canonical spelling of a string, with its quotes; half a surrogate pair stays an escape."""
    return encode_basestring(text).encode("utf-8", "backslashreplace")


@lru_cache(maxsize=4096)
def _spellings_of_character(character: str) -> Expr:
    return json_string_chars(CodePointSet.from_string(character))


# Names of members that are not declared: escapes where JSON needs them, and where ASCII output does.
_NAME_CHARACTERS = CodePointSet.from_ranges([(0x20, 0x7E)]) - _MUST_ESCAPE
NAME_CHARACTER = alt(utf8(_NAME_CHARACTERS), json_string_chars(~_NAME_CHARACTERS))
ANY_NAME = star(NAME_CHARACTER)
_ANY_NAME_CLOSED = seq(ANY_NAME, QUOTE)
_PLAIN_NAME = re.compile(r"[ !#-\[\]-~]+")


def name_spellings(name: str) -> Expr:
    """Every spelling of a name that `ANY_NAME` has, without quotes."""
    return literal(name.encode()) if _PLAIN_NAME.fullmatch(name) else all_spellings(name)


@lru_cache(maxsize=1024)
def other_name(names: tuple[str, ...]) -> Expr:
    """The spellings of all names but these, with their quotes."""
    return seq(QUOTE, and_(_ANY_NAME_CLOSED, not_(seq(alt(*map(name_spellings, names)), QUOTE))))


def all_spellings(text: str) -> Expr:
    """Every spelling of a string, without quotes. A lone surrogate has none."""
    return seq(*map(_spellings_of_character, text))


def _canonical(characters: CodePointSet) -> Expr:
    """One character, raw wherever JSON allows that."""
    return alt(utf8(characters - _MUST_ESCAPE), json_string_chars(characters & _MUST_ESCAPE))


@lru_cache(maxsize=1024)
def _pattern_text(pattern: str, in_json: bool) -> Expr:
    return regex_to_expr(pattern, search=True, encode=json_string_chars if in_json else utf8, dialect="ecma")


@lru_cache(maxsize=128)
def _format_text(name: str, spelled: str) -> Expr:
    encode = {"canonical": _canonical, "all": json_string_chars, "plain": utf8}[spelled]
    return regex_to_expr(FORMATS[name], encode=encode, dialect="ecma")


def pattern_text(pattern: str, path: Path, *, in_json: bool = True) -> Expr:
    """Return the texts in which a `pattern` is found.

    Raises:
        UnsupportedSchemaError: It is no regular expression, or not a regular one.
    """
    try:
        return _pattern_text(pattern, in_json)
    except RegexSyntaxError as error:
        raise UnsupportedSchemaError(
            f"the pattern cannot be used: {error.message}",
            pointer=pointer_of(path),
            keyword="pattern",
            hint=error.hint or "write it without look-around and back-references",
        ) from error


def name_matches(pattern: str, path: Path, name: str) -> bool:
    """Whether a `pattern` is found in a string."""
    try:
        data = name.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            "a name or value holds half a surrogate pair, which no pattern can match", pointer=pointer_of(path)
        ) from error
    return matches(pattern_text(pattern, path, in_json=False), data)


def admits_string(shape: StringShape, value: str) -> bool:
    """Whether a string fits the shape."""
    if not admits_length(shape, value) or (shape.values is not None and value not in shape.values):
        return False
    if not all(name_matches(pattern, path, value) for pattern, path in shape.patterns):
        return False
    if shape.formats and not all(matches(_format_text(f, "plain"), value.encode()) for f in shape.formats):
        return False
    return not any(admits_string(excluded, value) for excluded in shape.excluded)


def string_text(shape: StringShape) -> Expr:
    """Return the spellings of a shape's strings, with their quotes."""
    if shape.values is not None:
        checked = shape.patterns or shape.formats or shape.excluded
        values = [v for v in shape.values if admits_string(shape, v)] if checked else shape.values
        return alt(*[literal(spelling(v)) for v in values])
    body = string_body(shape)
    return seq(QUOTE, closed(body)) if body is not never() else body


def closed(body: Expr) -> Expr:
    """The body and the closing quote.

    The quote goes into intersections and complements, so that their rules end at a quote and nowhere else: a rule that
    may end after any character leaves every token open to what follows it.
    """
    if body[0] == OP_ALT:
        return alt(*map(closed, body[1:]))
    if body[0] == OP_AND:
        return and_(seq(ANY_TEXT, QUOTE), *map(_closed_operand, body[1:]))
    return seq(body, QUOTE)


def _closed_operand(body: Expr) -> Expr:
    return not_(seq(body[1], QUOTE)) if body[0] == OP_NOT else seq(body, QUOTE)


def string_body(shape: StringShape, *, complete: bool = False) -> Expr:
    """Return the spellings of a shape's strings inside the quotes.

    Args:
        shape: Which strings.
        complete: Give every spelling of every string, as a complement needs it.
    """
    if shape.values is not None:
        return alt(*[all_spellings(v) for v in shape.values if admits_string(shape, v)])
    parts = [pattern_text(pattern, path) for pattern, path in shape.patterns]
    parts += [_format_text(name, "all" if complete else "canonical") for name in shape.formats]
    if shape.min_length or shape.max_length is not None:
        maximum = -1 if shape.max_length is None else shape.max_length
        parts.append(repeat(CHARACTER, shape.min_length, maximum))
    if shape.excluded:
        parts += [not_(string_body(excluded, complete=True)) for excluded in shape.excluded]
        if len(parts) == len(shape.excluded):
            parts.append(ANY_TEXT)
    return and_(*parts) if parts else ANY_TEXT
