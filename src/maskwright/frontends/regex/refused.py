r"""What other engines read and this one refuses by name: why, and what to write instead.

    >>> ESCAPES["h"].instead
    'write [ \\t] for blanks, or [0-9a-fA-F] for hexadecimal digits'

Two kinds of things are here: what is not regular or has no meaning for a whole match (back-references, recursion,
`\G`, `\K`), and what two dialects read differently, so that a pattern would silently change its meaning (`\<`, the
flag `U`). Each has a way out. Nested classes are in brackets.py, quantifiers in parser.py.
Sources: PCRE2's pcre2pattern; Rust's regex; Python's re; ECMA-262 section 22.2.1.
Tested by tests/frontends/regex/test_regex_dialects.py.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Refusal(NamedTuple):
    """Why something is refused, and what to write instead."""

    why: str
    instead: str


_REPEAT: Final = "repeat the expression of the group instead"
BACK_REFERENCE: Final = Refusal(
    "a back-reference is not regular",
    f"{_REPEAT}; only a regular expression that is the whole grammar, and a pattern in JSON Schema, may have one",
)
_CALL: Final = Refusal(
    "a call of a group is not regular", f"{_REPEAT}, or use a rule of a grammar, which may be recursive"
)
_RECURSION: Final = "use a grammar (EBNF or Lark), whose rules may be recursive"
_QUOTING: Final = Refusal("quoting with \\Q…\\E is not supported", "write a backslash before each special character")

# By the letter after the backslash. Those with a meaning in the dialect at hand are read before this is looked at.
ESCAPES: Final = {
    "k": BACK_REFERENCE,
    "g": Refusal(
        "a back-reference or a call of a group is not regular",
        f"{_REPEAT}; where back-references are allowed, they are written \\1 and \\k<name>",
    ),
    "G": Refusal("\\G, the end of the previous match, is not supported", "leave it out: a text is matched once"),
    "K": Refusal("\\K, which resets the start of the match, is not supported", "leave it out: the whole text counts"),
    "R": Refusal("\\R, any line break, is not supported", "write (?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])"),
    "X": Refusal(
        "\\X, a grapheme cluster, is not supported",
        "write . for one character, or \\P{M}\\p{M}* for one with its combining marks",
    ),
    "Q": _QUOTING,
    "E": _QUOTING,
    "h": Refusal("\\h is not supported", "write [ \\t] for blanks, or [0-9a-fA-F] for hexadecimal digits"),
    "H": Refusal("\\H is not supported", "write [^ \\t], or [^0-9a-fA-F] if hexadecimal digits are meant"),
    "V": Refusal("\\V is not supported", "write [^\\n\\v\\f\\r\\u0085\\u2028\\u2029]"),
    "C": Refusal("\\C, a single byte, is not supported", "write . for one character"),
    "o": Refusal("\\o{…} is not supported", "write the number in hexadecimal, \\xHH"),
}
# The same for the dialect `ecma`, where Python's escapes have no meaning.
ECMA_ESCAPES: Final = {
    **ESCAPES,
    "A": Refusal("\\A is not part of ECMA-262", "write ^"),
    "Z": Refusal("\\Z is not part of ECMA-262", "write $"),
    "z": Refusal("\\z is not part of ECMA-262", "write $"),
    "a": Refusal("\\a is not part of ECMA-262", "write \\x07"),
    "e": Refusal("\\e is not part of ECMA-262", "write \\x1b"),
    "N": Refusal("\\N is not part of ECMA-262", "write \\uHHHH for a character, or [^\\n] for all but line breaks"),
}
# Punctuation that has a meaning of its own in Rust and is a plain character in Python.
WORD_EDGES: Final = {
    "<": Refusal(
        "\\< is the character < in Python and the start of a word in Rust",
        "write < for the character, or \\b{start} for the start of a word",
    ),
    ">": Refusal(
        "\\> is the character > in Python and the end of a word in Rust",
        "write > for the character, or \\b{end} for the end of a word",
    ),
}

GROUPS: Final = {
    "(?P=": BACK_REFERENCE,
    "(?P>": _CALL,
    "(?&": _CALL,
    "(?R)": Refusal(
        "(?R) is recursion in PCRE, which is not regular, and CRLF mode in Rust, which is not supported",
        f"{_RECURSION}, or write \\r?\\n for line breaks",
    ),
    "(?(": Refusal("a conditional group is not regular", "write both cases as alternatives, (?:…|…)"),
    "(?>": Refusal("an atomic group is not supported", "write (?:…), which may also match in other ways"),
    "(?|": Refusal("a branch-reset group is not supported", "write (?:…): groups need no numbers here"),
    "(?'": Refusal("this spelling of a named group is not supported", "write (?<name>…)"),
    "(?{": Refusal("code in a pattern is not supported", "leave it out"),
    "(??": Refusal("code in a pattern is not supported", "leave it out"),
    "(*": Refusal("a verb is not supported", "leave it out, or write \\* for the character"),
}
ECMA_GROUPS: Final = {
    **GROUPS,
    "(?#": Refusal("a comment is not part of ECMA-262", "leave it out"),
}
_NUMBERED_CALL: Final = re.compile(r"\(\?([+-]?)([0-9]+)\)")
_ANCHORED_IN_SLASHES: Final = re.compile(r"/(\^.*|(?:.*[^\\])?\$)/([a-z]*)", re.DOTALL)

KNOWN_FLAGS: Final = "known: i, m, s, x, u, a"
FLAGS: Final = {
    "U": Refusal("the flag U, which swaps greedy and lazy, is not supported", "write *? for a lazy repetition"),
    "R": Refusal("the flag R, CRLF mode, is not supported", "write \\r?\\n for line breaks, or \\r?$ before one"),
    "l": Refusal(
        "the flag l depends on the locale of the process, and is not supported",
        "leave it out for Unicode, or write (?a) for ASCII",
    ),
    "g": Refusal("the flag g is about repeated searches, and has no meaning here", "leave it out"),
    "y": Refusal("the flag y is about repeated searches, and has no meaning here", "leave it out"),
    "n": Refusal("the flag n is not supported", "leave it out, and write (?:…) for groups that capture nothing"),
    "v": Refusal(
        "the flag v of ECMA-262 is not supported", "leave it out: set operations in classes need no flag here"
    ),
}
FLAGS["L"] = FLAGS["l"]


def refused_group(pattern: str, start: int, is_python: bool) -> tuple[Refusal, int] | None:
    """Why the group that opens at `start` is refused, and where its opening ends; None if it is not."""
    call = _NUMBERED_CALL.match(pattern, start)
    if call is not None:
        is_whole = not call[1] and not int(call[2][:9])
        return (Refusal("recursion is not regular", _RECURSION) if is_whole else _CALL), call.end()
    for opening, refusal in (GROUPS if is_python else ECMA_GROUPS).items():
        if pattern.startswith(opening, start):
            return refusal, start + len(opening)
    return None


def without_slashes(pattern: str) -> str | None:
    """What to do about `/^…$/`, as JavaScript and Perl write a pattern: here it asks for slashes outside the text."""
    found = _ANCHORED_IN_SLASHES.fullmatch(pattern)
    if found is None:
        return None
    flags = "".join([letter for letter in "ims" if letter in found[2]])
    meant = f"(?{flags}:{found[1]})" if flags else found[1]
    return f"leave out the slashes around the pattern: {meant}"


def refused_flag(letter: str) -> Refusal:
    """Why a flag is refused."""
    return FLAGS.get(letter) or Refusal(f"unknown flag {letter!r}", KNOWN_FLAGS)
