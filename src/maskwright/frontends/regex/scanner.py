r"""The small parts of a regular expression: escapes and character classes, in two dialects.

`python` is what Python and Rust users write: Unicode `\d \w \s`, `\A \Z`, POSIX classes. `ecma` is ECMA-262 with the
`u` flag, which JSON Schema's `pattern` means: ASCII `\d \w`, its own `\s` and newlines, `[]` and `[^]`. Where a
dialect gives a text no meaning, or one that users of the other would not expect, it is refused with the reason and a
way out.

    >>> Scanner(r"[^\d_]", "python").char_class(0) == ~(unicode_shorthands().digit | CodePointSet.from_string("_"))
    True

Sources: ECMA-262 section 22.2.1; Python's re; Rust's regex-syntax.
Tested by tests/frontends/test_regex.py.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from maskwright.errors import RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.regex import ast
from maskwright.frontends.regex.classes import (
    ASCII_SHORTHANDS,
    ECMA_NEWLINES,
    ECMA_SHORTHANDS,
    LINE_FEED,
    POSIX,
    Shorthands,
    fold,
    property_set,
    unicode_shorthands,
)

Dialect: TypeAlias = Literal["python", "ecma"]

IGNORE_CASE: Final = 1
MULTILINE: Final = 2
DOT_ALL: Final = 4
VERBOSE: Final = 8
ASCII_ONLY: Final = 16

_CONTROLS: Final = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
_PYTHON_CONTROLS: Final = {**_CONTROLS, "a": 7, "e": 27}
_PYTHON_ANCHORS: Final = {"A": "start", "Z": "end", "z": "end"}
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|[xu]\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_LOW_SURROGATE: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_OCTAL: Final = re.compile(r"0[0-7]{0,2}|[1-3][0-7]{2}")
_PROPERTY: Final = re.compile(r"[pP](?:([A-Za-z])|\{(\^?)([^{}]*)\})")
_NAMED: Final = re.compile(r"N\{([^{}]+)\}")
_PLAIN_CLASS: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)+\]", re.DOTALL)
_POSIX_CLASS: Final = re.compile(r"\[([:.=])(\^?)(\w*)\1\]")
_REFUSED: Final = {
    "k": "a back-reference is not regular",
    "g": "a back-reference or a call of a group is not regular",
    "G": "there is no previous match to start from",
    "K": "there is no match to cut",
    "R": "write (?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])",
    "X": "grapheme clusters are not supported",
    "Q": "quoting with \\Q…\\E is not supported",
    "E": "quoting with \\Q…\\E is not supported",
    "h": "write [ \\t]",
    "H": "write [^ \\t]",
}
_ECMA_REFUSED: Final = {"A": "write ^", "Z": "write $", "z": "write $", "a": "write \\x07", "e": "write \\x1b"}


class Scanner:
    """A place in a pattern, and what can be read there without regard to groups."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern = pattern
        self.dialect: Dialect = dialect
        self.python = dialect == "python"
        self.position = 0

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> RegexSyntaxError:
        return RegexSyntaxError(message, source=self.pattern, span=Span(start, end), hint=hint)

    def shorthands(self, flags: int) -> Shorthands:
        if flags & ASCII_ONLY:
            return ASCII_SHORTHANDS
        return unicode_shorthands() if self.python else ECMA_SHORTHANDS

    def newlines(self) -> CodePointSet:
        return LINE_FEED if self.python else ECMA_NEWLINES

    def escape(self, flags: int, in_class: bool) -> int | CodePointSet | ast.Anchor:
        """Read the escape at the position: a code point, a set, or (outside classes) an anchor."""
        start = self.position
        if start + 1 == len(self.pattern):
            raise self.error("a backslash ends the pattern", start, start + 1, "write \\\\ for a backslash")
        letter = self.pattern[start + 1]
        self.position = start + 2
        if not (letter.isascii() and letter.isalnum()):
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
        hint = _REFUSED.get(letter) if self.python else _ECMA_REFUSED.get(letter, _REFUSED.get(letter))
        raise self.error(f"unknown escape \\{letter}", start, start + 2, hint)

    def _shorthand(self, letter: str, flags: int) -> CodePointSet:
        meanings = self.shorthands(flags)
        chars = {"d": meanings.digit, "w": meanings.word, "s": meanings.space}[letter.lower()]
        return ~chars if letter.isupper() else chars

    def _boundary(self, letter: str, flags: int, in_class: bool) -> int | ast.Anchor:
        span = Span(self.position - 2, self.position)
        if not in_class:
            return ast.Anchor(span, "word" if letter == "b" else "not_word", self.shorthands(flags).word)
        if letter == "B":
            raise self.error("\\B has no meaning in a class", *span)
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
            raise self.error("there is no character beyond U+10FFFF", start, self.position)
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
            raise self.error(f"unknown character property {name[:40]!r}", start, match.end())
        if flags & IGNORE_CASE:
            chars = fold(chars, bool(flags & ASCII_ONLY))
        return ~chars if (self.pattern[start + 1] == "P") != bool(match[2]) else chars

    def _number(self, start: int, in_class: bool) -> int:
        match = _OCTAL.match(self.pattern, start + 1)
        if match and self.python:
            self.position = match.end()
            return int(match.group(), 8)
        if self.pattern[start + 1] == "0" and not self.pattern[start + 2 : start + 3].isdigit():
            return 0
        if in_class or self.pattern[start + 1] == "0":
            raise self.error("ambiguous octal escape", start, start + 2, "write \\xHH")
        raise self.error("a back-reference is not regular", start, start + 2, "repeat the group's expression instead")

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
            raise self.error("unknown character name", start, match.end()) from None

    def char_class(self, flags: int) -> CodePointSet:
        """Read the class that starts at the position."""
        plain = _PLAIN_CLASS.match(self.pattern, self.position)
        chars = None if plain is None else _known_class(plain.group(), self.dialect, flags)
        if plain is None or chars is None:
            return self.new_class(flags)
        self.position = plain.end()
        return chars

    def new_class(self, flags: int) -> CodePointSet:
        """Read the class that starts at the position, item by item."""
        pattern, start = self.pattern, self.position
        negated = pattern.startswith("[^", start)
        self.position = first = start + 2 if negated else start + 1
        ranges: list[tuple[int, int]] = []
        chars = CodePointSet(())
        while True:
            at = self.position
            if at >= len(pattern):
                raise self.error("a class that is not closed", start, start + 1, "add ], or write \\[ for a bracket")
            if pattern[at] == "]" and not (self.python and at == first):
                break
            low = self._class_item(flags)
            high = self._range_end(flags, low, at)
            if isinstance(low, int) and isinstance(high, int):
                ranges.append((low, high))
                continue
            for item in (low,) if high is None else (low, ord("-"), high):
                if isinstance(item, int):
                    ranges.append((item, item))
                else:
                    chars |= item
        self.position = at + 1
        members = CodePointSet.from_ranges(ranges)
        if ranges and not members and not chars:
            raise self.error("a class of surrogates matches no text", start, self.position, "name the characters")
        if flags & IGNORE_CASE:
            members = fold(members, bool(flags & ASCII_ONLY))
        chars |= members
        return ~chars if negated else chars

    def _range_end(self, flags: int, low: int | CodePointSet, start: int) -> int | CodePointSet | None:
        """Read `-x` after a class item and return x; None when there is no range."""
        pattern, at = self.pattern, self.position
        if not pattern.startswith("-", at) or pattern.startswith("-]", at) or at + 1 == len(pattern):
            return None
        if self.python and pattern.startswith("--", at) and not pattern.startswith("]", at + 2):
            raise self._set_operation(at)
        self.position = at + 1
        high = self._class_item(flags)
        if isinstance(low, int) and isinstance(high, int):
            if high < low:
                raise self.error("a range that ends before it starts", start, self.position)
        elif self.python:
            raise self.error("a range between sets", start, self.position, "write \\- for a hyphen")
        return high  # with a set on either side, Annex B takes the hyphen for a character

    def _class_item(self, flags: int) -> int | CodePointSet:
        pattern, at = self.pattern, self.position
        c = pattern[at]
        if c == "\\":
            value = self.escape(flags, in_class=True)
            assert not isinstance(value, ast.Anchor)
            return value
        if self.python:
            if c == "[":
                posix = _POSIX_CLASS.match(pattern, at)
                if posix:
                    return self._posix_class(posix, flags)
            elif c in "&~-" and pattern.startswith(c, at + 1) and not (c == "-" and pattern.startswith("]", at + 2)):
                raise self._set_operation(at)
        self.position = at + 1
        return ord(c)

    def _set_operation(self, at: int) -> RegexSyntaxError:
        c = self.pattern[at]
        hint = f"write \\{c}\\{c} for the characters"
        return self.error(f"set operation {c}{c} is not supported", at, at + 2, hint)

    def _posix_class(self, match: re.Match[str], flags: int) -> CodePointSet:
        if match[1] != ":" or match[3] not in POSIX:
            raise self.error(f"unknown class {match.group()[:40]}", *match.span(), "known: " + ", ".join(POSIX))
        self.position = match.end()
        chars = POSIX[match[3]]
        if flags & IGNORE_CASE:
            chars = fold(chars, bool(flags & ASCII_ONLY))
        return ~chars if match[2] else chars


@lru_cache(maxsize=2048)
def _known_class(text: str, dialect: Dialect, flags: int) -> CodePointSet | None:
    """Return what a whole class means; None if it is none, for the reader of the whole pattern to say why."""
    scanner = Scanner(text, dialect)
    try:
        chars = scanner.new_class(flags)
    except RegexSyntaxError:
        return None
    return chars if scanner.position == len(text) else None
