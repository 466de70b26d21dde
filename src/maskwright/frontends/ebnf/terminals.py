r"""The terminals of EBNF: quoted literals, character classes, and the `Regex` macro, as expressions.

    >>> print(class_expr(r"\d_\-", 1, r"[\d_\-]").dump())
    [\-0-9_]
    >>> print(regex_expr(Quoted('"a+"', 6), Quoted('"i"', 12), 'Regex("a+", flags="i")').dump())
    [Aa]+

Escapes are those of GBNF and XGrammar; `\xHH` is the code point U+00HH. Within classes `\d \w \s` (and `\D \W \S`)
mean ASCII.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from maskwright.errors import EbnfSyntaxError, LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet, utf8
from maskwright.frontends.regex import regex_to_expr
from maskwright.frontends.regex.classes import ASCII_SHORTHANDS
from maskwright.ir import Expr

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
    r"|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
_SIMPLE = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "'": "'",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "e": "\x1b",
}
_IN_CLASS = {**_SIMPLE, "]": "]", "[": "[", "-": "-", "^": "^"}
_SETS = {"d": ASCII_SHORTHANDS.digit, "w": ASCII_SHORTHANDS.word, "s": ASCII_SHORTHANDS.space}
_KNOWN = r"known: \" \' \\ \/ \n \r \t \b \f \a \v \0 \e \xHH \uHHHH \UHHHHHHHH"


class Quoted(NamedTuple):
    """A string as it stands in the source, quotes included, and where."""

    text: str
    start: int


def string_value(quoted: Quoted, source: str) -> str:
    """The characters that a quoted string stands for."""
    body, start = quoted.text[1:-1], quoted.start + 1
    if "\\" in body:
        body = _ESCAPE.sub(lambda match: _character(match, _SIMPLE, start, source), body)
    if not body.isascii():
        _refuse_surrogates(body, quoted, source)
    return body


def _refuse_surrogates(text: str, quoted: Quoted, source: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        span = Span(quoted.start, quoted.start + len(quoted.text))
        raise EbnfSyntaxError(
            "a lone surrogate is no character", source=source, span=span, hint="write \\UHHHHHHHH"
        ) from None


def _character(match: re.Match[str], simple: dict[str, str], offset: int, source: str) -> str:
    hex2, high, low, hex4, hex8, letter = match.groups()
    if letter is not None:
        if letter in simple:
            return simple[letter]
        raise _escape_error("unknown or incomplete escape", match, offset, source, _KNOWN)
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    value = int(hex2 or hex4 or hex8, 16)
    if value > 0x10FFFF:
        raise _escape_error("there is no character beyond U+10FFFF", match, offset, source)
    if 0xD800 <= value <= 0xDFFF and simple is _SIMPLE:
        raise _escape_error("a lone surrogate is no character", match, offset, source, "write \\UHHHHHHHH or a pair")
    return chr(value)


def _escape_error(
    message: str, match: re.Match[str], offset: int, source: str, hint: str | None = None
) -> EbnfSyntaxError:
    span = Span(offset + match.start(), offset + match.end())
    return EbnfSyntaxError(message, source=source, span=span, hint=hint)


def class_expr(body: str, start: int, source: str) -> Expr:
    """One character out of a class; `body` is what stands between the brackets, `start` where it does."""
    cached = _plain_class(body) if len(body) <= 64 else None
    return cached if cached is not None else utf8(_class_set(body, start, source))


@lru_cache(maxsize=1024)
def _plain_class(body: str) -> Expr | None:
    """A class that holds no error; None if it does, for then its place matters."""
    try:
        return utf8(_class_set(body, 0, body))
    except EbnfSyntaxError:
        return None


def _class_set(body: str, start: int, source: str) -> CodePointSet:
    negated = body.startswith("^")
    at, end = int(negated), len(body)
    ranges: list[tuple[int, int]] = []
    sets = CodePointSet(())
    while at < end:
        begin = at
        low, at = _class_item(body, at, start, source)
        if not (at + 1 < end and body[at] == "-"):
            high: int | CodePointSet = low
        else:
            high, at = _class_item(body, at + 1, start, source)
            if isinstance(low, CodePointSet) or isinstance(high, CodePointSet) or high < low:
                wrong = "is empty" if isinstance(low, int) and isinstance(high, int) else "has a set at an end"
                span = Span(start + begin, start + at)
                raise EbnfSyntaxError(f"a range that {wrong}", source=source, span=span, hint="write \\- for a hyphen")
        if isinstance(low, CodePointSet):
            sets |= low
        else:
            assert isinstance(high, int)
            ranges.append((low, high))
    members = CodePointSet.from_ranges(ranges) | sets
    if not members and not negated:
        span = Span(start - 1, start + end + 1)
        raise EbnfSyntaxError(
            "a class that matches no character", source=source, span=span, hint="write \\] for a bracket in a class"
        )
    return ~members if negated else members


def _class_item(body: str, at: int, start: int, source: str) -> tuple[int | CodePointSet, int]:
    if body[at] != "\\":
        return ord(body[at]), at + 1
    match = _ESCAPE.match(body, at)
    assert match is not None, "the token pattern keeps a backslash and what follows it together"
    letter = match[6]
    if letter and letter in "dwsDWS":
        return ~_SETS[letter.lower()] if letter.isupper() else _SETS[letter], match.end()
    return ord(_character(match, _IN_CLASS, start, source)), match.end()


def regex_expr(pattern: Quoted, flags: Quoted | None, source: str) -> Expr:
    """The `Regex("…", flags="…")` macro: a full match."""
    try:
        letters = "" if flags is None else string_value(flags, source)
        return regex_to_expr(string_value(pattern, source), flags=letters)
    except (RegexSyntaxError, LimitError) as error:
        quoted = flags if isinstance(error, RegexSyntaxError) and error.source is None and flags else pattern
        span = Span(quoted.start, quoted.start + len(quoted.text))
        place = "" if not isinstance(error, RegexSyntaxError) or error.span is None else f" (at {error.span.start})"
        message = f"in Regex: {error.message}{place}"
        raise EbnfSyntaxError(message, source=source, span=span, hint=error.hint) from error
