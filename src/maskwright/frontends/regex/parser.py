r"""From the text of a regular expression to its syntax tree.

One pass, left to right, with a stack of open groups of its own: nesting costs no Python frames, and is limited. What
the tree cannot hold is refused by name, with a way out (refused.py): back-references, recursion, conditionals, atomic
groups and possessive quantifiers.

    >>> str(parse("a(b|c)*?$"))
    "seq('a', repeat(group(alt('b', 'c')), 0, inf, lazy), end)"

Invariant: every character of the pattern is in the tree, or is a comment or blank of the `x` flag. Cost: linear.
Tested by tests/frontends/regex/test_regex.py, tests/frontends/regex/test_regex_dialects.py.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, get_args

from maskwright.errors import LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet
from maskwright.frontends.regex import ast
from maskwright.frontends.regex.brackets import Brackets
from maskwright.frontends.regex.classes import ASCII, fold
from maskwright.frontends.regex.refused import refused_flag, refused_group
from maskwright.frontends.regex.scanner import (
    ASCII_ONLY,
    DOT_ALL,
    IGNORE_CASE,
    MULTILINE,
    NO_UNICODE,
    VERBOSE,
    Dialect,
)
from maskwright.support.interruption import interrupt_checkpoint

MAX_COUNT: Final = 2**31 - 1

_PLAIN: Final = re.compile(r"[^\\\[(){*+?|.^$\ud800-\udfff]+")
_PLAIN_VERBOSE: Final = re.compile(r"[^\\\[(){*+?|.^$\ud800-\udfff# \t\n\r\f\v]+")
_BLANK: Final = re.compile(r"(?:[ \t\n\r\f\v]+|#[^\n]*)+")
_COUNT: Final = re.compile(r"[*+?]|\{(?:([0-9]+)(?:(,)([0-9]*))?|,([0-9]*))\}")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME: Final = re.compile(r"\(\?P?<([^>]*)>")
_BACK_REFERENCE: Final = re.compile(r"\\(?![0-3][0-7]{2})([1-9][0-9]?)|\\k<([^>]*)>|\(\?P=([^)]*)\)")
_ECMA_BACK_REFERENCE: Final = re.compile(r"\\([1-9][0-9]*)|\\k<([^>]*)>")
_FEWER: Final = "use a smaller count, or * or +"
_SIMPLE_COUNTS: Final = {"*": (0, ast.INFINITE), "+": (1, ast.INFINITE), "?": (0, 1)}
_FLAG_BITS: Final = {"i": IGNORE_CASE, "m": MULTILINE, "s": DOT_ALL, "x": VERBOSE, "a": ASCII_ONLY, "u": 0}
_BYTES_HINT: Final = "write (?a:…) for ASCII \\d \\w \\s \\b; bytes need allow_invalid_utf8, an option of Lark grammars"
_NOT_TEXT: Final = "under (?-u), this matches single bytes, which are not text"
_LOOKS: Final = {"(?=": (True, False), "(?!": (True, True), "(?<=": (False, False), "(?<!": (False, True)}


class _Frame:
    """An open group: what stands before it is with the frame below."""

    __slots__ = ("branches", "flags", "items", "kind", "look", "name", "number", "start")

    def __init__(self, start: int, kind: str, flags: int) -> None:
        self.start = start
        self.kind = kind
        self.flags = flags  # to come back to when the group closes
        self.items: list[ast.Node] = []
        self.branches: list[ast.Node] = []
        self.name: str | None = None
        self.number = 0  # of a group that captures
        self.look = (True, False)


def parse(
    pattern: str,
    flags: str = "",
    dialect: Dialect = "python",
    *,
    is_bytes: bool = False,
    back_references: bool = False,
) -> ast.Node:
    """Parse a regular expression.

    Args:
        pattern: The regular expression.
        flags: Letters of `imsxua`; `a` is ASCII-only `\\d \\w \\s \\b`, `u` (the default) is Unicode.
        dialect: `"python"` or `"ecma"`.
        is_bytes: Whether each character stands for a byte; `\\d \\w \\s \\b` are then ASCII.
        back_references: Whether the pattern may have some (back_references.py).

    Raises:
        RegexSyntaxError: The pattern is malformed, or holds something that is not regular.
        LimitError: It nests too deep.
    """
    if dialect not in get_args(Dialect):
        raise ValueError(f"unknown dialect {dialect!r}; known: {', '.join(get_args(Dialect))}")
    bits = ASCII_ONLY if is_bytes else 0
    for letter in flags:
        if letter not in _FLAG_BITS:
            refusal = refused_flag(letter)
            raise RegexSyntaxError(refusal.why, hint=refusal.instead)
        bits |= _FLAG_BITS[letter]
    if "a" in flags and "u" in flags:
        raise RegexSyntaxError("the flags a and u exclude each other", hint="u is the default: leave one out")
    return _Parser(pattern, dialect, bits, is_bytes, back_references).parse()


class _Parser(Brackets):
    def __init__(self, pattern: str, dialect: Dialect, flags: int, is_bytes: bool, back_references: bool) -> None:
        super().__init__(pattern, dialect)
        self.flags = flags
        self.is_bytes = is_bytes
        self.frame = _Frame(0, "whole", flags)
        self.stack: list[_Frame] = []
        self.names: dict[str, int] = {}  # and the numbers of these groups
        self.num_groups = 0
        self.closed: set[int] = set()  # groups
        self.back_references = back_references
        self.later: list[re.Match[str]] = []  # back-references to groups that were not closed before them
        # Whether a quantifier may come next: not at the start of a branch, nor after an anchor or another quantifier.
        self.quantifiable = False

    def parse(self) -> ast.Node:
        pattern, end = self.pattern, len(self.pattern)
        while self.position < end:
            interrupt_checkpoint()
            plain = (_PLAIN_VERBOSE if self.flags & VERBOSE else _PLAIN).match(pattern, self.position)
            if plain:
                self._text(plain.group())
            elif (handler := _HANDLERS.get(pattern[self.position])) is not None:
                handler(self)
            elif (blank := _BLANK.match(pattern, self.position)) is not None:
                self.position = blank.end()
            else:
                at = self.position
                raise self.error("a surrogate is not a character", at, at + 1, "write the character itself")
        if self.stack:
            raise self.error("the group is not closed", self.frame.start, self.frame.start + 1, "add )")
        for match in self.later:
            if self._group_number(match) not in self.closed:
                hint = "count the groups, or write \\xHH for a character by its number"
                raise self.error(f"the pattern has no group {_group_named(match)!r}", *match.span(), hint)
        return self._body()

    def _push(self, node: ast.Node, quantifiable: bool = True) -> None:
        self.frame.items.append(node)
        self.quantifiable = quantifiable

    def _push_text(self, node: ast.Chars | ast.Literal) -> None:
        """Push what matches characters, if these can be text."""
        if self.flags & NO_UNICODE and not self.is_bytes:
            is_text = node.text.isascii() if isinstance(node, ast.Literal) else node.chars.issubset(ASCII)
            if not is_text:
                raise self.error(_NOT_TEXT, *node.span, _BYTES_HINT)
        self._push(node)

    def _span(self, start: int) -> Span:
        return Span(start, self.position)

    def _text(self, text: str) -> None:
        start = self.position
        self.position += len(text)
        if not self.flags & IGNORE_CASE:
            self._push_text(ast.Literal(self._span(start), text))
            return
        for i, c in enumerate(text, start):
            self._push_text(_character(Span(i, i + 1), ord(c), self.flags))

    def _class(self) -> None:
        start = self.position
        chars = self.char_class(self.flags)
        self._push_text(ast.Chars(self._span(start), chars))

    def _escape(self) -> None:
        form = _BACK_REFERENCE if self.python else _ECMA_BACK_REFERENCE
        if self.back_references and (match := form.match(self.pattern, self.position)):
            self._back_reference(match)
            return
        start = self.position
        if self.back_references and self.python and self.pattern.startswith("\\k", start):
            raise self.error("this spelling of a back-reference is not supported", start, start + 2, "write \\k<name>")
        value = self.escape(self.flags, in_class=False)
        if isinstance(value, ast.Anchor):
            self._push(value, quantifiable=False)
        elif isinstance(value, CodePointSet):
            self._push_text(ast.Chars(self._span(start), value))
        elif 0xD800 <= value <= 0xDFFF:
            raise self.error("a lone surrogate matches no text", start, self.position, "write \\u{…} or a pair")
        else:
            self._push_text(_character(self._span(start), value, self.flags))

    def _back_reference(self, match: re.Match[str]) -> None:
        number = self._group_number(match)
        if number not in self.closed and not self.python:
            self._back_reference_to_later(match)
            return
        if number not in self.closed:
            hint = "write it after the group; for a character by its number, write \\xHH"
            raise self.error(f"no group {_group_named(match)!r} ends before this back-reference", *match.span(), hint)
        if self.flags & IGNORE_CASE:
            hint = "write (?-i:…) around it, for the very same text"
            raise self.error("a back-reference under the flag i is not supported", *match.span(), hint).as_unsupported()
        start, self.position = self.position, match.end()
        self._push(ast.BackReference(self._span(start), number))

    def _back_reference_to_later(self, match: re.Match[str]) -> None:
        """In ECMA-262, a back-reference is empty before the end of its group; lookbehinds are read from their end."""
        if any(not frame.look[0] for frame in (*self.stack, self.frame)):
            hint = "write the back-reference behind the lookbehind"
            raise self.error("a back-reference in a lookbehind comes before its group", *match.span(), hint)
        start, self.position = self.position, match.end()
        self.later.append(match)
        self._push(ast.Seq(self._span(start), ()))

    def _group_number(self, match: re.Match[str]) -> int:
        return int(match[1][:9]) if match[1] else self.names.get(match[match.lastindex or 0], 0)

    def _dot(self) -> None:
        start = self.position
        self.position += 1
        excluded = CodePointSet(()) if self.flags & DOT_ALL else self.newlines()
        self._push_text(ast.Chars(self._span(start), ~excluded))

    def _anchor(self) -> None:
        start = self.position
        self.position += 1
        kind = "start" if self.pattern[start] == "^" else "end"
        if self.flags & MULTILINE:
            node = ast.Anchor(self._span(start), f"line_{kind}", self.newlines())
        else:
            node = ast.Anchor(self._span(start), kind)
        self._push(node, quantifiable=False)

    def _quantifier(self) -> None:
        start = self.position
        match = _COUNT.match(self.pattern, start)
        if match is None or (match.group() == "{,}" and not self.python):
            self.position += 1
            self._push(ast.Literal(self._span(start), "{"))
            return
        if not self.quantifiable:
            raise self.error("nothing to repeat", *match.span(), f"write \\{self.pattern[start]} for the character")
        minimum, maximum = self._counts(match)
        self.position = match.end()
        lazy = self.pattern.startswith("?", self.position)
        if lazy:
            self.position += 1
        elif self.pattern.startswith("+", self.position):
            hint = "leave out the last +; without it, the repetition may also match less"
            raise self.error(
                "a possessive quantifier is not supported", start, self.position + 1, hint
            ).as_unsupported()
        self._repeat(minimum, maximum, lazy)

    def _counts(self, match: re.Match[str]) -> tuple[int, int]:
        if match.group() in _SIMPLE_COUNTS:
            return _SIMPLE_COUNTS[match.group()]
        low, comma, high, only_high = match.groups()
        if any(digits and len(digits.lstrip("0")) > 10 for digits in (low, high, only_high)):
            raise self.error(f"a count above {MAX_COUNT:,} is not supported", *match.span(), _FEWER).as_unsupported()
        if low is None and not self.python:
            raise self.error("the count has no lower bound", *match.span(), "write {0,n}")
        minimum = int(low or 0)
        maximum = minimum if low is not None and not comma else int(high or only_high or ast.INFINITE)
        if minimum > MAX_COUNT or MAX_COUNT < maximum < ast.INFINITE:
            raise self.error(f"a count above {MAX_COUNT:,} is not supported", *match.span(), _FEWER).as_unsupported()
        if maximum < minimum:
            raise self.error(
                "the upper bound is below the lower bound", *match.span(), f"write {{{maximum},{minimum}}}"
            )
        return minimum, maximum

    def _repeat(self, minimum: int, maximum: int, lazy: bool) -> None:
        items = self.frame.items
        item = items.pop()
        if isinstance(item, ast.Literal) and len(item.text) > 1:
            cut = item.span.end - 1
            items.append(ast.Literal(Span(item.span.start, cut), item.text[:-1]))
            item = ast.Literal(Span(cut, cut + 1), item.text[-1])
        span = self._span(item.span.start)
        if item.max_width == 0:
            # Conditions hold once or as often as one likes; if no time is enough, they do not matter.
            self._push(item if minimum else ast.Seq(span, ()), quantifiable=False)
        else:
            self._push(ast.Repeat(span, item, minimum, maximum, lazy), quantifiable=False)

    def _open(self) -> None:
        start, pattern = self.position, self.pattern
        if len(self.stack) >= ast.MAX_DEPTH:
            hint = "leave out groups that hold a single item, or use a grammar, whose rules may nest"
            raise LimitError(
                f"the regular expression nests more than {ast.MAX_DEPTH} groups", limit="regex depth", hint=hint
            )
        frame = _Frame(start, "capture", self.flags)
        if pattern.startswith(("(?", "(*"), start):
            if not self._open_special(frame):
                return
        else:
            self.position += 1
        if frame.kind == "capture":
            self._number_group(frame)
        self.stack.append(self.frame)
        self.frame = frame
        self.quantifiable = False

    def _number_group(self, frame: _Frame) -> None:
        self.num_groups += 1
        frame.number = self.num_groups
        if frame.name is not None:
            self.names[frame.name] = frame.number

    def _open_special(self, frame: _Frame) -> bool:
        """Read what follows `(?`; False when it opens no group."""
        start, pattern = self.position, self.pattern
        for opening, look in _LOOKS.items():
            if pattern.startswith(opening, start):
                frame.kind, frame.look = "look", look
                self.position += len(opening)
                return True
        if pattern.startswith(("(?<", "(?P<"), start):
            self._group_name(frame)
            return True
        if self.python and pattern.startswith("(?#", start):
            end = pattern.find(")", start)
            if end < 0:
                raise self.error("the comment is not closed", start, start + 3, "add )")
            self.position = end + 1
            return False
        if self.back_references and self.python and (match := _BACK_REFERENCE.match(pattern, start)):
            self._back_reference(match)
            return False
        refused = refused_group(pattern, start, self.python)
        if refused is not None:
            raise self.refusal(refused[0], start, refused[1])
        return self._inline_flags(frame)

    def _group_name(self, frame: _Frame) -> None:
        match = _NAME.match(self.pattern, self.position)
        if match is None or not match[1].isidentifier():
            hint = "use letters, digits and _, as in (?<name>…)"
            raise self.error(
                "a group's name is missing or is not an identifier", self.position, self.position + 3, hint
            )
        if match[1] in self.names:
            raise self.error(f"two groups are named {match[1][:40]!r}", *match.span(), "use another name, or (?:…)")
        frame.name = match[1]
        self.position = match.end()

    def _inline_flags(self, frame: _Frame) -> bool:
        start = self.position
        match = _FLAGS.match(self.pattern, start)
        if match is None:
            raise self.error("unknown kind of group", start, start + 3, "write \\( for a parenthesis")
        bits = self.flags
        for letter in match[1]:
            bits |= self._flag(letter, match)
        if "u" in match[1]:
            if "a" in match[1]:
                raise self.error("the flags a and u exclude each other", *match.span(), "leave one of them out")
            bits &= ~(ASCII_ONLY | NO_UNICODE)
        for letter in match[2] or "":
            if letter == "a":
                raise self.error("the flag a cannot be switched off", *match.span(), "use (?u:…) for Unicode classes")
            bits &= ~self._flag(letter, match)
        if "u" in (match[2] or ""):
            bits |= ASCII_ONLY | NO_UNICODE
        self.flags = bits
        self.position = match.end()
        frame.kind = "plain"
        return match[3] == ":"

    def _flag(self, letter: str, match: re.Match[str]) -> int:
        if letter not in _FLAG_BITS:
            raise self.refusal(refused_flag(letter), *match.span())
        return _FLAG_BITS[letter]

    def _close(self) -> None:
        if not self.stack:
            raise self.error("unmatched ')'", self.position, self.position + 1, "write \\) for a parenthesis")
        self.position += 1
        body, frame = self._body(), self.frame
        span = self._span(frame.start)
        self.frame = self.stack.pop()
        self.flags = frame.flags
        if frame.kind == "look":
            self._push(ast.Look(span, body, *frame.look))
        elif frame.kind == "capture":
            self.closed.add(frame.number)
            self._push(ast.Group(span, body, frame.name, frame.number))
        else:
            # A literal taken out of its group would be torn apart by a quantifier.
            torn = isinstance(body, ast.Literal) and len(body.text) > 1
            self._push(ast.Seq(span, (body,)) if torn else body)

    def _end_branch(self) -> None:
        self.position += 1
        self.frame.branches.append(self._sequence())
        self.quantifiable = False

    def _sequence(self) -> ast.Node:
        items = self.frame.items
        self.frame.items = []
        if len(items) == 1:
            return items[0]
        start = items[0].span.start if items else self.position
        return ast.Seq(Span(start, items[-1].span.end if items else start), tuple(items))

    def _body(self) -> ast.Node:
        last = self._sequence()
        branches = self.frame.branches
        if not branches:
            return last
        return ast.Alt(Span(branches[0].span.start, last.span.end), (*branches, last))


def _group_named(match: re.Match[str]) -> str:
    return match[match.lastindex or 0][:40]


def _character(span: Span, code_point: int, flags: int) -> ast.Chars | ast.Literal:
    chars = _cases(code_point, bool(flags & ASCII_ONLY)) if flags & IGNORE_CASE else None
    return ast.Literal(span, chr(code_point)) if chars is None else ast.Chars(span, chars)


@lru_cache(maxsize=4096)
def _cases(code_point: int, ascii_only: bool) -> CodePointSet | None:
    """The character in all its cases; None if it has but one."""
    chars = fold(CodePointSet(((code_point, code_point),)), ascii_only)
    return chars if len(chars) > 1 else None


_HANDLERS: Final = {
    "[": _Parser._class,
    "\\": _Parser._escape,
    ".": _Parser._dot,
    "^": _Parser._anchor,
    "$": _Parser._anchor,
    "*": _Parser._quantifier,
    "+": _Parser._quantifier,
    "?": _Parser._quantifier,
    "{": _Parser._quantifier,
    "(": _Parser._open,
    ")": _Parser._close,
    "|": _Parser._end_branch,
}
