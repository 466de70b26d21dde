r"""Character classes: `[a-z]`, POSIX classes in them, and Rust's nested classes and set operations.

    >>> Brackets("[a-e&&[^aeiou]]", "python").char_class(0)
    CodePointSet(62-64)
    >>> Brackets("[[a-e]--[b-d]]", "python").char_class(0)
    CodePointSet(61, 65)

In the dialect `python`, a bracket within a class is read in both ways. Python takes it for a character, so that the
class ends at the next `]`; Rust takes it for a nested class. Where Rust's reading does not come to an end, as in
`[^[\]]`, the bracket is a character. Where it does, and Python warns that it will read the same in future, Rust's
reading counts: in a class that begins with `[[` or has a set operation, and of which each operand is either made of
nested classes or without any. All else, such as `[a-c[x-z]]` or `[^[a-z]]`, would silently mean two things, and is
refused with both spellings. In the dialect `ecma` (without the flag `v`) a bracket is a character, and
there are no set operations.

Operations have equal precedence and associate to the left, as in Rust; case is folded before they are applied.
Sources: Rust's regex-syntax, "Character classes"; Python's re; ECMA-262 section 22.2.1.
Cost: linear, and up to MAX_TRIED characters more for readings that come to no end.
Tested by tests/frontends/regex/test_regex.py, tests/frontends/regex/test_regex_dialects.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.errors import LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import NO_CHARACTERS, CodePointSet
from maskwright.frontends.regex import ast
from maskwright.frontends.regex.classes import POSIX, fold
from maskwright.frontends.regex.scanner import ASCII_ONLY, IGNORE_CASE, VERBOSE, Dialect, Scanner
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.memos import remembered

MAX_TRIED: Final = 50_000

_PLAIN_CLASS: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)+\]", re.DOTALL)
_POSIX_CLASS: Final = re.compile(r"\[([:.=])(\^?)(\w*)\1\]")
_BLANKS: Final = " \t\n\r\f\v#"


class _Operand:
    """What stands between two set operators."""

    __slots__ = ("chars", "is_empty", "is_loose", "nested", "ranges")

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        self.chars = NO_CHARACTERS
        self.nested: Span | None = None  # the first nested class
        self.is_loose = False  # whether characters or escapes stand in it as well
        self.is_empty = True


class Brackets(Scanner):
    """A scanner that reads classes."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        super().__init__(pattern, dialect)
        self.tried = 0  # characters of readings that came to no end
        self.nests = False  # whether the class at hand has a nested class, in Rust's reading
        self.blank: int | None = None  # the first blank or # in the class
        self.ambiguous: Span | None = None  # a nested class that only Rust would read as such

    def char_class(self, flags: int) -> CodePointSet:
        """Read the class that starts at the position."""
        interrupt_checkpoint()
        plain = _PLAIN_CLASS.match(self.pattern, self.position)
        chars = None if plain is None else _known_class(plain.group(), self.dialect, flags)
        if plain is None or chars is None:
            return self.new_class(flags)
        self.position = plain.end()
        return chars

    def new_class(self, flags: int) -> CodePointSet:
        """Read the class that starts at the position, item by item."""
        start = self.position
        self._forget_class()
        try:
            chars = self._read(flags, None, 0)
        except RegexSyntaxError as error:
            if not self.nests:
                raise
            refused = error
        else:
            if self.ambiguous is not None:
                raise self._ambiguity(start, self.ambiguous)
            self._check_blanks(start, flags)
            return chars
        self.tried += self.position - start
        if self.tried > MAX_TRIED:
            raise LimitError(
                "the regular expression has too many classes with an unescaped [ in them",
                limit="regex classes",
                hint="write \\[ for the character",
            )
        self._forget_class()
        self.position = start
        chars = self._read(flags, refused, 0)
        self._check_blanks(start, flags)
        return chars

    def _forget_class(self) -> None:  # a function of its own, so that a type checker does not take None for granted
        self.nests, self.ambiguous, self.blank = False, None, None

    def _check_blanks(self, start: int, flags: int) -> None:
        """Refuse a class with blanks and other members under the flag x; of blanks only, Rust would not read it."""
        at = self.blank
        if at is None or not self.python or not flags & VERBOSE:
            return
        if self.pattern[start + 1 : self.position - 1].removeprefix("^").strip(_BLANKS):
            hint = f"leave it out, or write \\x{ord(self.pattern[at]):02x} for the character"
            message = "under the flag x, blanks and # in a class are characters in Python, and are skipped in Rust"
            raise self.error(message, at, at + 1, hint)

    def _read(self, flags: int, refused: RegexSyntaxError | None, depth: int) -> CodePointSet:
        """Read a class in Rust's way, or if that was refused with an error, in Python's."""
        pattern, start = self.pattern, self.position
        if depth > ast.MAX_DEPTH:
            message = f"the classes of the regular expression nest more than {ast.MAX_DEPTH} levels deep"
            raise LimitError(message, limit="regex depth", hint="write \\[ for the character")
        negated = pattern.startswith("[^", start)
        self.position = first = start + 2 if negated else start + 1
        result: CodePointSet | None = None
        operator, operand = "", _Operand()
        begin = operand
        while True:
            at = self.position
            if at >= len(pattern):
                raise self.error("the class is not closed", start, start + 1, "add ], or write \\[ for a bracket")
            if pattern[at] == "]" and not (self.python and at == first):
                break
            found = self._operator(at, first)
            if found:
                if refused is not None:
                    raise refused
                result = self._joined(start, result, operator, operand, flags)
                operator, operand = found, _Operand()
                self.position = at + 2
            else:
                self._member(operand, flags, refused, depth)
        if operator or not operand.is_empty:
            result = self._joined(start, result, operator, operand, flags)
        elif result is None:
            result = NO_CHARACTERS
        self.position = at + 1
        if negated and depth == 0 and begin.nested is not None:  # of which Python does not warn
            self.ambiguous = self.ambiguous or begin.nested
        return ~result if negated else result

    def _operator(self, at: int, first: int) -> str:
        """The set operator that starts here, or nothing."""
        c = self.pattern[at]
        if not self.python or c not in "&~-" or not self.pattern.startswith(c, at + 1):
            return ""
        return "" if at == first and self.pattern.startswith("--]", at) else c + c

    def _joined(
        self, start: int, left: CodePointSet | None, operator: str, operand: _Operand, flags: int
    ) -> CodePointSet:
        """Apply the operator before an operand that ends here, in the class that began at `start`."""
        at = self.position
        if operand.is_empty:
            c = operator[:1] if operator else self.pattern[at]
            place = (at - 2, at) if operator else (at, at + 2)
            side = "right" if operator else "left"
            message = f"the set operation {c}{c} has no {side} operand"
            raise self.error(message, *place, f"write \\{c} for the character {c}")
        if operand.nested is not None and operand.is_loose:
            self.ambiguous = self.ambiguous or operand.nested
        members = CodePointSet.from_ranges(operand.ranges)
        if operand.ranges and not members and not operand.chars:
            raise self.error("a class of surrogates matches no text", start, self.position + 1, "name the characters")
        if flags & IGNORE_CASE:
            members = fold(members, bool(flags & ASCII_ONLY))
        right = operand.chars | members
        if left is None:
            return right
        if operator == "&&":
            return left & right
        return left - right if operator == "--" else (left - right) | (right - left)

    def _member(self, operand: _Operand, flags: int, refused: RegexSyntaxError | None, depth: int) -> None:
        """Read one item, range or nested class."""
        pattern, at = self.pattern, self.position
        operand.is_empty = False
        if self.python and pattern[at] == "[":
            posix = _POSIX_CLASS.match(pattern, at)
            if posix:
                operand.chars |= self._posix_class(posix, flags)
                return
            if refused is None:
                self.nests = True
                operand.chars |= self._read(flags, None, depth + 1)
                operand.nested = operand.nested or Span(at, self.position)
                return
        operand.is_loose = True
        low = self._class_item(flags)
        high = self._range_end(flags, low, at)
        if isinstance(low, int) and isinstance(high, int):
            operand.ranges.append((low, high))
            return
        for item in (low,) if high is None else (low, ord("-"), high):
            if isinstance(item, CodePointSet):
                operand.chars |= item
            else:
                operand.ranges.append((item, item))

    def _range_end(self, flags: int, low: int | CodePointSet, start: int) -> int | CodePointSet | None:
        """Read `-x` after a class item and return x; None when there is no range."""
        pattern, at = self.pattern, self.position
        if not pattern.startswith("-", at) or pattern.startswith("-]", at) or at + 1 == len(pattern):
            return None
        if self.python and pattern.startswith("--", at):
            return None
        self.position = at + 1
        high = self._class_item(flags)
        if isinstance(low, int) and isinstance(high, int):
            if high < low:
                hint = f"write {pattern[at + 1 : self.position]}-{pattern[start:at]}, or \\- for a hyphen"
                raise self.error("the range ends before it starts", start, self.position, hint)
        elif self.python:
            hint = "write \\- for a hyphen, or -- for a difference"
            raise self.error("a range between sets", start, self.position, hint)
        return high  # with a set on either side, Annex B takes the hyphen for a character

    def _class_item(self, flags: int) -> int | CodePointSet:
        at = self.position
        c = self.pattern[at]
        if c == "\\":
            value = self.escape(flags, in_class=True)
            assert not isinstance(value, ast.Anchor)
            return value
        if self.blank is None and c in _BLANKS:
            self.blank = at
        self.position = at + 1
        return ord(c)

    def _posix_class(self, match: re.Match[str], flags: int) -> CodePointSet:
        if match[1] != ":" or match[3] not in POSIX:
            raise self.error(f"unknown POSIX class {match.group()[:40]}", *match.span(), "known: " + ", ".join(POSIX))
        self.position = match.end()
        chars = POSIX[match[3]]
        if flags & IGNORE_CASE:
            chars = fold(chars, bool(flags & ASCII_ONLY))
        return ~chars if match[2] else chars

    def _ambiguity(self, start: int, nested: Span) -> RegexSyntaxError:
        """The error for a class that dialects read differently, with a spelling for each reading."""
        pattern, end = self.pattern, self.position
        before, inner, after = (
            pattern[start + 1 : nested.start],
            pattern[nested.start + 1 : nested.end - 1],
            pattern[nested.end : end - 1],
        )
        message = "the [ in this class is a character in Python, and begins a nested class in Rust"
        hint = "write \\[ for the character, or the characters of both classes in one"
        if end - start < 60 and before == "^" and after:
            hint = f"write \\[ for the character, or [{pattern[start:end]}] for nested classes"
        is_simple = end - start < 60 and "[" not in inner + after and not inner.startswith("^")
        if is_simple and not any(operator in before + after for operator in ("&&", "--", "~~")):
            as_character = f"[{before}\\[{inner}]{after}\\]"
            if before.endswith("-"):
                hint = f"write {as_character} for the character, or [{before[:-1]}--[{inner}]{after}] for a difference"
            else:
                hint = f"write {as_character} for the character, or [{before}{inner}{after}] for a nested class"
        return self.error(message, *nested, hint)


@remembered(2048)
def _known_class(text: str, dialect: Dialect, flags: int) -> CodePointSet | None:
    """Return what a whole class means; None if it is not one, for the reader of the whole pattern to say why."""
    scanner = Brackets(text, dialect)
    try:
        chars = scanner.new_class(flags)
    except RegexSyntaxError:
        return None
    return chars if scanner.position == len(text) else None
