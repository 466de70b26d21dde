r"""Quoted strings of grammar texts: what their escapes stand for, with errors that point into the text.

    >>> from maskwright.errors import EbnfSyntaxError
    >>> string_value(Quoted(r'"a\n\x41"', 0), r'"a\n\x41"', EbnfSyntaxError)
    'a\nA'

Escapes are those of GBNF and XGrammar, of which Lark's are a part; `\xHH` is the code point U+00HH.
Tested by tests/frontends/test_ebnf.py, tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maskwright.errors import GrammarError, LarkSyntaxError, Span

BYTE_ORDER_MARK: Final = "\ufeff"  # that some editors begin files with
STRING: Final = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
    r"|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
SIMPLE_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "'": "'",
    "?": "?",
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
GBNF_ESCAPES: Final = {**SIMPLE_ESCAPES, "[": "[", "]": "]"}
CLASS_ESCAPES: Final = {**GBNF_ESCAPES, "-": "-", "^": "^"}
WRITTEN_TWICE: Final = "in quotes, a backslash is written twice"
MAX_SHOWN: Final = 60
_IN_REGEX: Final = re.compile(r"Regex\s*\(\s*\Z")
_IN_OPTION: Final = re.compile(r"\b(?:stop|suffix)\s*=\s*\Z")  # of a rule
_BACKSLASH: Final = re.compile(r"""\\(["'\\]?)""")
_KNOWN: Final = r"known: \" \' \? \\ \/ \n \r \t \b \f \a \v \0 \e \xHH \uHHHH \UHHHHHHHH"


class Quoted(NamedTuple):
    """A string as it stands in the source, quotes included, and where."""

    text: str
    start: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + len(self.text))


def string_value(
    quoted: Quoted, source: str, error: type[GrammarError], escapes: dict[str, str] = SIMPLE_ESCAPES
) -> str:
    """The characters that a quoted string stands for; `escapes` are those of one letter."""
    body, start = quoted.text[1:-1], quoted.start + 1
    if "\\" in body:
        body = ESCAPE.sub(lambda match: escaped_character(match, escapes, start, source, error), body)
    if not body.isascii():
        try:
            body.encode()
        except UnicodeEncodeError:
            message, hint = "a lone surrogate is not a character", "write \\UHHHHHHHH"
            raise error(message, source=source, span=quoted.span, hint=hint) from None
    return body


def escaped_character(
    match: re.Match[str], simple: dict[str, str], offset: int, source: str, error: type[GrammarError]
) -> str:
    """The character that a match of ESCAPE stands for; `offset` is where the text it was found in begins."""

    def refuse(message: str, hint: str | None = None) -> GrammarError:
        return error(message, source=source, span=Span(offset + match.start(), offset + match.end()), hint=hint)

    hex2, high, low, hex4, hex8, letter = match.groups()
    if letter is not None:
        if letter in simple:
            return simple[letter]
        is_incomplete = letter in "xuU"
        raise refuse(
            "unknown or incomplete escape", _KNOWN if is_incomplete else _way_out(match, offset, source, error)
        )
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    value = int(hex2 or hex4 or hex8, 16)
    if value > 0x10FFFF:
        raise refuse("the code point is above U+10FFFF")
    if 0xD800 <= value <= 0xDFFF and simple is not CLASS_ESCAPES:
        raise refuse("a lone surrogate is not a character", "write \\UHHHHHHHH or a pair")
    return chr(value)


def doubled_backslashes(body: str) -> str:
    """Write a regular expression for quotes: its backslashes twice, unless they are so, or stand before a quote."""
    return _BACKSLASH.sub(lambda found: found[0] if found[1] else "\\\\", body)


def _way_out(match: re.Match[str], start: int, source: str, error: type[GrammarError]) -> str:
    """What to write instead of an unknown escape: as a rule, a regular expression is meant."""
    letter, body, quote, before = match[6], match.string, source[start - 1], source[max(0, start - 40) : start - 1]
    doubled = doubled_backslashes(body)
    if len(doubled) > MAX_SHOWN:
        body, doubled = f"…\\{letter}…", f"…\\\\{letter}…"
    if quote not in ("'", '"'):  # a character class
        return f"write {letter} without a backslash, or \\\\ for a backslash"
    if _IN_REGEX.search(before):
        return f"write {quote}{doubled}{quote}: {WRITTEN_TWICE}"
    has_slashes = error is LarkSyntaxError or _IN_OPTION.search(before) is not None
    regex = "/" + body.replace("/", "\\/") + "/" if has_slashes else f"Regex({quote}{doubled}{quote})"
    plain = "" if letter.isalnum() else f"{letter} without a backslash, "
    return f"write {plain}{regex} for a regular expression, or \\\\ for a backslash"
