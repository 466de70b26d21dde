r"""Strings whose `pattern` has back-references to groups of many texts: grammars that remember the text of a group.

    "^<([a-z]+)>.*</\\1>$"   →   "<" #250=[a-z]+ ">" character* "</" #250 ">"

What is remembered are bytes, so each character of such a group has one spelling, that of `json.dumps`; all others have
every spelling that strings have. Such strings are not regular: nothing but the pattern may limit them.
Groups with few texts are none of these (frontends/regex/participation.py).
Tested by tests/frontends/json_schema/sets/test_repeating_patterns.py.
"""

from __future__ import annotations

from maskwright.errors import RegexSyntaxError
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.sets.one_spelling import one_of
from maskwright.frontends.json_schema.sets.quotes import QUOTE
from maskwright.frontends.json_schema.sets.shape import StringShape
from maskwright.frontends.json_schema.sets.strings import is_repeating, pattern_tree, refuse_pattern, text_characters
from maskwright.frontends.regex.back_references import lower_recalling
from maskwright.ir import Expr, seq
from maskwright.support.memos import remembered


def repeating_text(shape: StringShape) -> Expr | None:
    """Return the spellings of a shape's strings, with their quotes; None if other means will do.

    Raises:
        UnsupportedSchemaError: Its back-references are not supported.
    """
    if len(shape.patterns) != 1 or shape.formats or shape.excluded or shape.values is not None:
        return None
    [(pattern, path)] = shape.patterns
    if not _is_repeating(pattern, path):
        return None
    tree = pattern_tree(pattern)
    if shape.min_length > tree.min_width or (shape.max_length is not None and shape.max_length < tree.max_width):
        return None
    try:
        return _text(pattern)
    except RegexSyntaxError as error:
        raise refuse_pattern(error, path) from error


def _is_repeating(pattern: str, path: Path) -> bool:
    try:
        return is_repeating(pattern)
    except RegexSyntaxError as error:
        raise refuse_pattern(error, path) from error


@remembered(1024)
def _text(pattern: str) -> Expr:
    return seq(QUOTE, lower_recalling(pattern_tree(pattern), pattern, text_characters, one_of), QUOTE)
