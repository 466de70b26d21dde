r"""The terminals of EBNF, as expressions: character classes, and the `Regex` macro.

    >>> print(class_expr(r"\d_\-", 1, r"[\d_\-]").dump())
    [\-0-9_]
    >>> print(regex_expr("a+", Span(6, 10), "i", Span(18, 21), False, 'Regex("a+", flags="i")').dump())
    [Aa]+

Within classes `\d \w \s` (and `\D \W \S`) mean ASCII.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import EbnfSyntaxError, LimitError, RegexSyntaxError, Span
from maskwright.frontends.charset import CodePointSet, json_string_chars, utf8
from maskwright.frontends.ebnf.escapes_in_quotes import way_out
from maskwright.frontends.notation.quoted import CLASS_ESCAPES, ESCAPE, escaped_character
from maskwright.frontends.regex import regex_to_expr
from maskwright.frontends.regex.classes import ASCII_SHORTHANDS
from maskwright.frontends.warnings.character_numbers import numbers_as_escapes
from maskwright.ir import Expr
from maskwright.support.memos import remembered

_SETS: Final = {"d": ASCII_SHORTHANDS.digit, "w": ASCII_SHORTHANDS.word, "s": ASCII_SHORTHANDS.space}


def class_expr(body: str, start: int, source: str) -> Expr:
    """One character of a class; `body` is what stands between the brackets, `start` where it does."""
    cached = _plain_class(body) if len(body) <= 64 else None
    return cached if cached is not None else utf8(_class_set(body, start, source))


@remembered(1024)
def _plain_class(body: str) -> Expr | None:
    """A class that holds no error; None if it does, for then its place matters."""
    try:
        return utf8(_class_set(body, 0, body))
    except EbnfSyntaxError:
        return None


def _class_set(body: str, start: int, source: str) -> CodePointSet:
    if body.startswith("[:") and body.endswith(":"):
        span, hint = Span(start - 1, start + len(body) + 1), f'write Regex("[[{body[1:]}]]")'
        raise EbnfSyntaxError("POSIX classes are only supported in Regex", source=source, span=span, hint=hint)
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
                wrong = "is empty" if isinstance(low, int) and isinstance(high, int) else "has a set as an endpoint"
                span = Span(start + begin, start + at)
                escaped = numbers_as_escapes(body)
                hint = f"write [{escaped[:60]}]" if escaped != body else "write \\- for a hyphen"
                raise EbnfSyntaxError(f"the range {wrong}", source=source, span=span, hint=hint)
        if isinstance(low, CodePointSet):
            sets |= low
        else:
            assert isinstance(high, int)
            ranges.append((low, high))
    members = CodePointSet.from_ranges(ranges) | sets
    if not members and not negated:
        span = Span(start - 1, start + end + 1)
        raise EbnfSyntaxError(
            "the class matches no character", source=source, span=span, hint="write \\] for a bracket in a class"
        )
    return ~members if negated else members


def _class_item(body: str, at: int, start: int, source: str) -> tuple[int | CodePointSet, int]:
    if body[at] != "\\":
        return ord(body[at]), at + 1
    match = ESCAPE.match(body, at)
    assert match is not None, "the token pattern keeps a backslash and what follows it together"
    letter = match[6]
    if letter and letter in "dwsDWS":
        return ~_SETS[letter.lower()] if letter.isupper() else _SETS[letter], match.end()
    if letter and letter in "pP":
        span, hint = Span(start + at, start + match.end()), 'write Regex("\\\\p{…}")'
        raise EbnfSyntaxError("Unicode properties are only supported in Regex", source=source, span=span, hint=hint)
    return ord(escaped_character(match, CLASS_ESCAPES, start, source, EbnfSyntaxError)), match.end()


def regex_expr(pattern: str, place: Span, flags: str, flags_place: Span, in_json: bool, source: str) -> Expr:
    """The `Regex` macro: a full match, or the content of a JSON string whose value is one; `place` is the pattern's."""
    try:
        return regex_to_expr(pattern, flags=flags, encode=json_string_chars if in_json else utf8)
    except (RegexSyntaxError, LimitError) as error:
        is_about_flags = isinstance(error, RegexSyntaxError) and error.source is None and flags
        message = f"in Regex: {error.message_with_place}"
        span = flags_place if is_about_flags else place
        hint = way_out(source[place.start : place.end], flags) or error.hint
        raise EbnfSyntaxError(message, source=source, span=span, hint=hint) from error
