r"""Parts of grammars that are surely meant as something else, so that other texts match in silence.

    misread_pattern("[:alpha:]+")                matches characters of ":ahlp"
    misread_pattern("[0-9]{1, 3}")               matches a digit and these six characters
    misread_class('"+" "-"')                     matches one character of ' "+'
    misread_class("a..z")                        matches one character of ".az"
    misread_class("#x9#xA")                      matches one character of "#9Ax"
    misread_comment("#x20 b")                    matches nothing: it is a comment
    misread_range('"a".."z"', 3)                 matches a, two characters, z
    misread_text("[a-z]+", 'Regex("[a-z]+")')    matches these six characters

All of them are valid, so none is refused for that.
Tested by tests/frontends/warnings/test_misread.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.errors import GrammarWarning
from maskwright.frontends.warnings.blank_counts import blank_count
from maskwright.frontends.warnings.character_numbers import CHARACTER_NUMBER, numbers_as_escapes
from maskwright.frontends.warnings.lost_escapes import lost_escape
from maskwright.frontends.warnings.notes import Misread
from maskwright.frontends.warnings.posix_classes import lone_posix_class

_TIMES: Final = r"(?:[*+?]|\{[0-9])"
_REGEX: Final = re.compile(rf"\[\^?[^\[\]\n]*\w-\w[^\[\]\n]*\]{_TIMES}|\\[dsw]{_TIMES}")
_RANGE: Final = re.compile(r"([a-z])\.{2,3}([a-z])|([A-Z])\.{2,3}([A-Z])|([0-9])\.{2,3}([0-9])")
_ONE: Final = r"[^\"'\\\n]"  # a character that a string or a class holds as it is
_BEFORE_RANGE: Final = re.compile(rf"[\"']({_ONE})[\"']\s*\Z")
_AFTER_RANGE: Final = re.compile(rf"\.{{2,3}}\s*[\"']({_ONE})[\"']")
_LONGEST: Final = 40  # of what is shown


def misread_pattern(pattern: str, flags: str = "") -> Misread | None:
    """Return what is to be said of a regular expression that is surely meant as another."""
    return lost_escape(pattern, flags) or misread_but_for_escapes(pattern, flags)


def misread_but_for_escapes(pattern: str, flags: str) -> Misread | None:
    """Return the same where no escape can be lost: what is said of a lone POSIX class, or of a count with a blank."""
    count = blank_count(pattern)
    if count is not None:
        return Misread(count.message, count.hint)
    alone = lone_posix_class(pattern, flags)
    if alone is None:
        return None
    message = f"{alone} matches one of its own characters: a POSIX class stands within brackets"
    return Misread(message, f"write [{alone}]")


def warning_of_misread_pattern(pattern: str, flags: str = "") -> GrammarWarning | None:
    """Return a warning if a regular expression is surely meant as another."""
    found = misread_pattern(pattern, flags)
    return None if found is None else GrammarWarning(found.message, rule=None, hint=found.hint)


def misread_class(body: str) -> Misread | None:
    """Return what is to be said of a character class of EBNF; `body` is what stands between its brackets."""
    alone = lone_posix_class(f"[{body}]")
    if alone is not None:
        message = f"{alone} matches one of its own characters: POSIX classes are only supported in Regex"
        return Misread(message, f'write Regex("[{alone}]")')
    escaped = numbers_as_escapes(body)
    if escaped != body:
        return Misread("the class has #, x and digits as characters", f"write [{escaped[:_LONGEST]}]")
    for first, last in (list(filter(None, each)) for each in _RANGE.findall(body)):
        if first < last:
            return Misread("each full stop stands for itself in a class", f"write {first}-{last} for a range")
    quote = next((quote for quote in "\"'" if body.count(quote) > 1), None)
    if quote is None:
        return None
    message = f"the class matches one character, which may be {quote} itself: quotation marks are characters in a class"
    return Misread(message, "write ( … ) around texts, ( … )? around what may be missing, or [ab] for a or b")


def misread_comment(comment: str) -> Misread | None:
    """Return what is to be said of a comment that begins like the number of a character in W3C's notation."""
    number = CHARACTER_NUMBER.match(comment)
    if number is None or comment[number.end() : number.end() + 1].isalnum():
        return None
    return Misread("what begins with # is a comment", f'write "{numbers_as_escapes(number[0])}"')


def misread_range(source: str, position: int) -> Misread | None:
    """Return what is to be said of the full stops between two characters in quotes; the first is at `position`."""
    first = _BEFORE_RANGE.search(source, max(0, position - _LONGEST), position)
    last = _AFTER_RANGE.match(source, position)
    if first is None or last is None or first[1] >= last[1]:
        return None
    return Misread("each full stop matches any character here", f"write [{first[1]}-{last[1]}] for a range")


def misread_text(value: str, as_regex: str) -> Misread | None:
    """Return what is to be said of a text in quotes that is written like a regular expression.

    Args:
        value: The text.
        as_regex: How to write the regular expression instead.
    """
    if not _REGEX.search(value):
        return None
    shown = as_regex if len(as_regex) <= _LONGEST else "it as a regular expression"
    return Misread("in quotes, all characters stand for themselves", f"write {shown}, if that is what is meant")
