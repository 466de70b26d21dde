"""Spellings of strings: lengths, patterns, formats and finite sets as one regular language inside the quotes.

    {"minLength": 2, "pattern": "^a"}   →   "\\"" (character{2,} & (a any*)) "\\""

Three sets of spellings, each with exactly one meaning per text:
  * every spelling that JSON has: free strings, and those of which only the length is bounded;
  * `TEXT_CHARACTER`: printable ASCII is written as it is (`/` also as `\\/`), all else in any way. Patterns, formats
    and their complements are made of these, which keeps their automata free of an escape for every letter;
  * canonical, as `json.dumps(ensure_ascii=False)`: values of `enum`, names of members, texts of grammars.

Lengths count characters, in whatever spelling (`\\u00e9` is one). Where patterns ask for a length anyway, it is not
counted; what could only be excluded at other lengths is not excluded.
Tested by tests/frontends/json_schema/sets/test_schema_strings.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Final

from maskwright.errors import RegexSyntaxError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, json_string_chars, utf8
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.escaped_grammars import any_text
from maskwright.frontends.json_schema.sets.formats import EXACT_FORMATS, WIDER_FORMATS, format_text
from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.frontends.json_schema.sets.quotes import QUOTE, closed
from maskwright.frontends.json_schema.sets.shape import StringShape
from maskwright.frontends.json_schema.sets.text_grammars import TextGrammar, regular_text
from maskwright.frontends.regex import anywhere, lower, parse
from maskwright.frontends.regex.ast import INFINITE
from maskwright.frontends.regex.ast import Node as RegexNode
from maskwright.frontends.regex.back_references import recalled_groups
from maskwright.frontends.regex.participation import with_groups_spelled
from maskwright.frontends.regex.plain import without
from maskwright.ir import (
    OP_LITERAL,
    OP_NOT,
    OP_SEQ,
    UNBOUNDED,
    Expr,
    alt,
    alt_of_distinct,
    and_,
    literal,
    never,
    not_,
    repeat,
    seq,
    star,
)
from maskwright.support.memos import remembered

CHARACTER: Final = json_string_chars(ALL_CHARACTERS)
ANY_TEXT: Final = star(CHARACTER)

_MUST_ESCAPE: Final = CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])


def spelling(text: str) -> bytes:
    """Return the canonical spelling of a string, with its quotes; half a surrogate pair stays an escape."""
    return encode_basestring(text).encode("utf-8", "backslashreplace")


_PLAIN: Final = CodePointSet.from_ranges([(0x20, 0x7E)]) - _MUST_ESCAPE
_NOT_PLAIN: Final = ~_PLAIN
_SLASH: Final = CodePointSet.from_string("/")
_ESCAPED_SLASH: Final = literal(b"\\/")
_PLAIN_NAME: Final = re.compile(r"[ !#-\[\]-~]+")


@lru_cache(maxsize=2048)
def text_characters(characters: CodePointSet) -> Expr:
    """One of these characters, in the spellings of `TEXT_CHARACTER`."""
    plain, other = characters & _PLAIN, characters & _NOT_PLAIN
    parts = [utf8(plain)]
    if other:
        parts.append(json_string_chars(other))
    if _SLASH.issubset(plain):
        parts.append(_ESCAPED_SLASH)
    return alt(*parts)


TEXT_CHARACTER: Final = text_characters(ALL_CHARACTERS)
_ANY_PLAIN_TEXT: Final = star(TEXT_CHARACTER)

# A name that is not declared is spelled like a text, but `/` only as it is.
ANY_NAME: Final = star(alt(utf8(_PLAIN), json_string_chars(_NOT_PLAIN)))
ANY_NAME_CLOSED: Final = seq(ANY_NAME, QUOTE)


@remembered(2048)
def name_spellings(name: str) -> tuple[Expr, Expr]:
    """The canonical spelling of a declared name, with its quotes, and every spelling that `ANY_NAME` has, without."""
    if not _PLAIN_NAME.fullmatch(name):
        return literal(spelling(name)), _text_spellings(name)
    plain = name.encode()
    return literal(b'"%b"' % plain), literal(plain)


@remembered(2048)
def _text_spellings(text: str) -> Expr:
    """Every spelling of a string in `TEXT_CHARACTER`s, without quotes. Half a surrogate pair has none."""
    if _PLAIN_NAME.fullmatch(text) and "/" not in text:
        return literal(text.encode())
    return seq(*[_spellings_of_character(character) for character in text])


@lru_cache(maxsize=4096)
def _spellings_of_character(character: str) -> Expr:
    return text_characters(CodePointSet.from_string(character))


@remembered(1024)
def other_name(names: tuple[str, ...]) -> Expr:
    """The spellings of all names but these, with their quotes."""
    return seq(QUOTE, and_(ANY_NAME_CLOSED, not_(seq(any_of_names(names), QUOTE))))


def any_of_names(names: Iterable[str]) -> Expr:
    """Every spelling of these names, without quotes."""
    return alt(*[name_spellings(name)[1] for name in names])


@remembered(64)
def pattern_tree(pattern: str) -> RegexNode:
    """Return the syntax tree of the texts in which a pattern is found."""
    return anywhere(with_groups_spelled(parse(pattern, dialect="ecma", back_references=True), pattern))


@remembered(4096)
def is_repeating(pattern: str) -> bool:
    """Whether a pattern has back-references to groups with many texts, so that its strings are not regular.

    Raises:
        RegexSyntaxError: It is not a valid regular expression.
    """
    return "\\" in pattern and bool(recalled_groups(pattern_tree(pattern)))


@remembered(1024)
def _pattern_text(pattern: str, in_json: bool) -> Expr:
    if is_repeating(pattern):
        raise RegexSyntaxError(
            "a back-reference to a group with many texts is possible only where the pattern alone limits the string",
            hint="leave out what stands beside the pattern, or let the group have at most 64 texts",
        ).as_unsupported()
    return lower(pattern_tree(pattern), text_characters if in_json else utf8, pattern)


def pattern_text(pattern: str, path: Path, *, in_json: bool = True) -> Expr:
    """Return the texts in which a `pattern` is found.

    Raises:
        SchemaError: It is not a valid regular expression.
        UnsupportedSchemaError: It is not a regular one.
    """
    try:
        return _pattern_text(pattern, in_json)
    except RegexSyntaxError as error:
        raise refuse_pattern(error, path) from error


def refuse_pattern(error: RegexSyntaxError, path: Path) -> SchemaError:
    """Return the error for a `pattern` that stands there."""
    kind = UnsupportedSchemaError if error.is_unsupported else SchemaError
    return kind(
        f"the pattern cannot be used: {error.message_with_place}",
        pointer=pointer_of(path),
        keyword="pattern",
        hint=error.hint or "write it without look-around and back-references",
    )


def name_matches(pattern: str, path: Path, name: str) -> bool:
    """Whether a `pattern` is found in a string."""
    try:
        data = name.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            "a name or value holds half a surrogate pair, which no pattern can match", pointer=pointer_of(path)
        ) from error
    opening = opening_of(pattern_text(pattern, path, in_json=False))
    return data.startswith(opening) and _pattern_matches(pattern, data)


def opening_of(text: Expr) -> bytes:
    """Return the bytes that all matches of an expression begin with, as far as that is plain to see."""
    first = text[1] if text[0] == OP_SEQ else text
    return bytes(first[1]) if first[0] == OP_LITERAL else b""


@remembered(4096)
def _pattern_matches(pattern: str, data: bytes) -> bool:
    return matches(_pattern_text(pattern, False), data)


def admits_string(shape: StringShape, value: str, *, wide: bool = False) -> bool:
    """Whether a string fits the shape; with `wide`, also if it might, where formats are known in part."""
    if not shape.admits_length(value) or (shape.values is not None and value not in shape.values):
        return False
    if not all(name_matches(pattern, path, value) for pattern, path in shape.patterns):
        return False
    if wide and not known_formats(shape):
        return True
    texts = [format_text(name, utf8, wide=wide) for name in shape.formats]
    texts += [regular_text(grammar, in_json=False) for grammar in shape.grammars]
    if texts:
        data = value.encode("utf-8", "surrogatepass")  # half a surrogate pair matches nothing
        if not all(matches(text, data) for text in texts):
            return False
    return not any(admits_string(excluded, value, wide=not wide) for excluded in shape.excluded)


def known_formats(shape: StringShape) -> bool:
    """Whether what is in none of the shape's formats is known too, at least in part."""
    return all(name in EXACT_FORMATS or name in WIDER_FORMATS for name in shape.formats)


def string_text(shape: StringShape) -> Expr:
    """Return the spellings of a shape's strings, with their quotes."""
    if shape.values is not None:
        values = [v for v in shape.values if admits_string(shape, v)] if shape.is_restricted() else shape.values
        return alt_of_distinct([literal(spelling(v)) for v in values]) if values else never()
    body = string_body(shape)
    return seq(QUOTE, closed(body)) if body is not never() else body


def string_body(shape: StringShape, *, wide: bool = False) -> Expr:
    """Return the spellings of a shape's strings inside the quotes; with `wide`, of all that might be, and more.

    If it is an intersection, at least one operand is no complement.
    """
    if shape.values is not None:
        return alt(*[_text_spellings(v) for v in shape.values if admits_string(shape, v, wide=wide)])
    parts = [pattern_text(pattern, path) for pattern, path in shape.patterns]
    parts += [format_text(name, text_characters, wide=wide) for name in shape.formats]
    parts += [regular_text(grammar) for grammar in shape.grammars]
    least, most = _lengths_of_patterns(shape)
    if shape.min_length > most or (shape.max_length is not None and shape.max_length < least):
        return never()
    minimum = shape.min_length if shape.min_length > least else 0
    maximum = shape.max_length if shape.max_length is not None and shape.max_length < most else UNBOUNDED
    if minimum or maximum != UNBOUNDED:
        parts.append(repeat(TEXT_CHARACTER if parts or shape.excluded else CHARACTER, minimum, maximum))
    excluded = [other for other in shape.excluded if _may_agree(other, shape)]
    finite = [value for other in excluded if other.is_finite() for value in other.values or ()]
    if finite:
        parts.append(not_(alt(*map(_text_spellings, finite))))  # in one piece: automata grow with every complement
    parts += [_complement(other, shape, wide) for other in excluded if not other.is_finite()]
    one_spelling = None if shape.grammars else _grammar_in(shape.excluded)
    if one_spelling is not None:  # what a grammar excludes, it excludes in one spelling
        parts.append(any_text(one_spelling.spelling))
    elif shape.excluded and all(part[0] == OP_NOT for part in parts):
        parts.append(_ANY_PLAIN_TEXT)
    return and_(*parts) if parts else ANY_TEXT


def _grammar_in(shapes: tuple[StringShape, ...]) -> TextGrammar | None:
    """A grammar that one of the shapes has, or excludes."""
    for shape in shapes:
        found = shape.grammars[0] if shape.grammars else _grammar_in(shape.excluded)
        if found is not None:
            return found
    return None


def _lengths_of_patterns(shape: StringShape) -> tuple[int, int]:
    """Bounds of the lengths of what matches all patterns: a length that they ask for need not be counted."""
    lengths = [_pattern_lengths(pattern, path) for pattern, path in shape.patterns]
    return max([low for low, _ in lengths], default=0), min([high for _, high in lengths], default=INFINITE)


def _pattern_lengths(pattern: str, path: Path) -> tuple[int, int]:
    pattern_text(pattern, path)  # says where it stands if it cannot be used
    return _widths(pattern)


@remembered(1024)
def _widths(pattern: str) -> tuple[int, int]:
    tree = pattern_tree(pattern)
    return tree.min_width, tree.max_width


def _lengths(shape: StringShape) -> tuple[int, int]:
    """Bounds of the lengths of a shape's strings."""
    if shape.values is not None:
        return min(map(len, shape.values), default=0), max(map(len, shape.values), default=0)
    low, high = _lengths_of_patterns(shape)
    return max(low, shape.min_length), high if shape.max_length is None else min(high, shape.max_length)


def _may_agree(a: StringShape, b: StringShape) -> bool:
    """Whether some string may fit both, as far as lengths tell."""
    (low_a, high_a), (low_b, high_b) = _lengths(a), _lengths(b)
    return max(low_a, low_b) <= min(high_a, high_b)


def _complement(shape: StringShape, beside: StringShape, wide: bool) -> Expr:
    """All other strings, as far as they may fit `beside`.

    What a complement excludes is taken as it is, for automata grow with every complement.
    """
    constrained = shape.must_match() or shape.values is not None
    only_excludes = shape.excluded and not (constrained or shape.min_length or shape.max_length is not None)
    if only_excludes:
        return alt(*[string_body(excluded, wide=wide) for excluded in shape.excluded if _may_agree(excluded, beside)])
    return without(string_body(shape, wide=not wide), TEXT_CHARACTER)
