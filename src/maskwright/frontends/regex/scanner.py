r"""The escapes of a regular expression, in two dialects.

`python` is what Python and Rust users write: Unicode `\d \w \s`, `\A \Z`, `\b{start}`, `\U{1F600}`. `ecma` is
ECMA-262 with the `u` flag, which JSON Schema's `pattern` means: ASCII `\d \w`, its own `\s` and newlines. Where a
dialect gives an escape no meaning, or one that users of the other would not expect, it is refused with the reason and
a way out (refused.py).

    >>> chr(Scanner(r"\U{1F600}", "python").escape(0, in_class=False))
    '😀'

Sources: ECMA-262 section 22.2.1; Python's re; Rust's regex-syntax.
Tested by tests/frontends/regex/test_regex.py, tests/frontends/regex/test_regex_dialects.py.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, TypeAlias

from maskwright.errors import RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.regex import ast
from maskwright.frontends.regex.classes import (
    ASCII_SHORTHANDS,
    ECMA_CASELESS_SHORTHANDS,
    ECMA_NEWLINES,
    ECMA_SHORTHANDS,
    LINE_FEED,
    Shorthands,
    fold,
    property_set,
    unicode_shorthands,
)
from maskwright.frontends.regex.refused import BACK_REFERENCE, ECMA_ESCAPES, ESCAPES, WORD_EDGES, Refusal

Dialect: TypeAlias = Literal["python", "ecma"]

IGNORE_CASE: Final = 1
MULTILINE: Final = 2
DOT_ALL: Final = 4
VERBOSE: Final = 8
ASCII_ONLY: Final = 16
NO_UNICODE: Final = 32  # what Rust's `(?-u:…)` says beyond ASCII_ONLY: no character but those of ASCII can match

_CONTROLS: Final = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
_PYTHON_CONTROLS: Final = {**_CONTROLS, "a": 7, "e": 27}
_PYTHON_ANCHORS: Final = {"A": "start", "Z": "end", "z": "end"}
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|[xuU]\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_LOW_SURROGATE: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_OCTAL: Final = re.compile(r"0[0-7]{0,2}|[1-3][0-7]{2}")
_PROPERTY: Final = re.compile(r"[pP](?:([A-Za-z])|\{(\^?)([^{}]*)\})")
_WORD_EDGE: Final = re.compile(r"\{(start|end)(-half)?\}")
_PROPERTIES: Final = "use a category (\\p{Lu}), a script (\\p{Greek}) or a binary property (\\p{Alphabetic})"
_NAMED: Final = re.compile(r"N\{([^{}]+)\}")


class Scanner:
    """A place in a pattern, and what can be read there without regard to groups."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern = pattern
        self.dialect: Dialect = dialect
        self.python = dialect == "python"
        self.position = 0

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> RegexSyntaxError:
        return RegexSyntaxError(message, source=self.pattern, span=Span(start, end), hint=hint)

    def refusal(self, refusal: Refusal, start: int, end: int) -> RegexSyntaxError:
        return self.error(refusal.why, start, end, refusal.instead).as_unsupported()

    def shorthands(self, flags: int) -> Shorthands:
        if flags & ASCII_ONLY:
            return ASCII_SHORTHANDS
        if self.python:
            return unicode_shorthands()
        return ECMA_CASELESS_SHORTHANDS if flags & IGNORE_CASE else ECMA_SHORTHANDS

    def newlines(self) -> CodePointSet:
        return LINE_FEED if self.python else ECMA_NEWLINES

    def escape(self, flags: int, in_class: bool) -> int | CodePointSet | ast.Anchor:
        """Read the escape at the position: a code point, a set, or (outside classes) an anchor."""
        start = self.position
        if start + 1 == len(self.pattern):
            raise self.error("the pattern ends with a backslash", start, start + 1, "write \\\\ for a backslash")
        letter = self.pattern[start + 1]
        self.position = start + 2
        if not (letter.isascii() and letter.isalnum()):
            if letter in WORD_EDGES and self.python and not in_class:
                raise self.refusal(WORD_EDGES[letter], start, start + 2)
            return ord(letter)
        controls = _PYTHON_CONTROLS if self.python else _CONTROLS
        if letter in controls:
            return controls[letter]
        if letter in "dDwWsS":
            return self._shorthand(letter, flags)
        if letter in "bB":
            return self._boundary(letter, flags, in_class)
        if letter in "xuU":
            return self._hex(start)
        if letter in "pP":
            return self._property(start, flags)
        if letter in "0123456789":
            return self._number(start, in_class)
        if letter == "c":
            return self._control(start)
        if self.python and letter == "N":
            return self._named(start)
        if self.python and letter in _PYTHON_ANCHORS and not in_class:
            return ast.Anchor(Span(start, start + 2), _PYTHON_ANCHORS[letter])
        refusal = (ESCAPES if self.python else ECMA_ESCAPES).get(letter)
        if refusal is not None:
            raise self.refusal(refusal, start, start + 2)
        raise self.error(f"unknown escape \\{letter}", start, start + 2, f"write {letter} for the letter")

    def _shorthand(self, letter: str, flags: int) -> CodePointSet:
        meanings = self.shorthands(flags)
        chars = {"d": meanings.digit, "w": meanings.word, "s": meanings.space}[letter.lower()]
        return ~chars if letter.isupper() else chars

    def _boundary(self, letter: str, flags: int, in_class: bool) -> int | ast.Anchor:
        span = Span(self.position - 2, self.position)
        if not in_class:
            word = self.shorthands(flags).word
            edge = _WORD_EDGE.match(self.pattern, self.position) if letter == "b" and self.python else None
            if edge is None:
                return ast.Anchor(span, "word" if letter == "b" else "not_word", word)
            self.position = edge.end()
            return ast.Anchor(Span(span.start, edge.end()), f"word_{edge[1]}{edge[2] or ''}", word)
        if letter == "B":
            raise self.error("\\B has no meaning in a class", *span, "write B for the letter")
        return 8

    def _hex(self, start: int) -> int:
        match = _HEX.match(self.pattern, start + 1)
        if match is None or (match.group().startswith(("x{", "U")) and not self.python):
            raise self.error(
                "incomplete escape", start, start + 2, "write \\xHH, \\uHHHH or \\u{H…} with hexadecimal digits"
            )
        self.position = match.end()
        value = int(match[match.lastindex or 0], 16)
        if value > 0x10FFFF:
            raise self.error("the code point is above U+10FFFF", start, self.position)
        if 0xD800 <= value < 0xDC00 and match.lastindex == 3:
            low = _LOW_SURROGATE.match(self.pattern, self.position)
            if low:
                self.position = low.end()
                return 0x10000 + ((value - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return value

    def _property(self, start: int, flags: int) -> CodePointSet:
        match = _PROPERTY.match(self.pattern, start + 1)
        if match is None:
            raise self.error("incomplete property", start, start + 2, "write \\p{Lu}, \\p{Letter} or \\p{Script=Greek}")
        self.position = match.end()
        name = match[1] or match[3]
        chars = property_set(name)
        if chars is None:
            raise self.error(f"unknown character property {name[:40]!r}", start, match.end(), _PROPERTIES)
        others = (self.pattern[start + 1] == "P") != bool(match[2])
        if not flags & IGNORE_CASE:
            return ~chars if others else chars
        if others and not self.python:  # without the flag v, ECMA-262 takes the complement first
            return fold(~chars)
        chars = fold(chars, bool(flags & ASCII_ONLY))
        return ~chars if others else chars

    def _number(self, start: int, in_class: bool) -> int:
        match = _OCTAL.match(self.pattern, start + 1)
        if match and self.python:
            self.position = match.end()
            return int(match.group(), 8)
        if self.pattern[start + 1] == "0" and not self.pattern[start + 2 : start + 3].isdigit():
            return 0
        if in_class or self.pattern[start + 1] == "0":
            raise self.error("ambiguous octal escape", start, start + 2, "write \\xHH")
        raise self.refusal(BACK_REFERENCE, start, start + 2)

    def _control(self, start: int) -> int:
        letter = self.pattern[start + 2 : start + 3]
        if not (letter.isascii() and letter.isalpha()):
            raise self.error("incomplete control escape", start, start + 2, "write \\cA to \\cZ")
        self.position = start + 3
        return ord(letter) & 31

    def _named(self, start: int) -> int:
        match = _NAMED.match(self.pattern, start + 1)
        if match is None:
            raise self.error("incomplete character name", start, start + 2, "write \\N{LATIN SMALL LETTER A}")
        self.position = match.end()
        try:
            return ord(unicodedata.lookup(match[1]))
        except (KeyError, TypeError):
            raise self.error("unknown character name", start, match.end(), "write \\uHHHH or \\UHHHHHHHH") from None
