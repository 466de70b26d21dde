"""What people write in grammar texts that belongs to other notations, and what to write instead.

    >>> hint_at("x ::= a, b", 7), hint_at_head("x := a", 0, "::=")
    ('parts follow each other without commas', 'write x ::= body')

Only hints: what is a mistake is decided by the parsers.
Tested by tests/frontends/test_mistakes.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from maskwright.errors import Span
from maskwright.frontends.notation.rule_options import OPTION_NAMES
from maskwright.support.entrances import USE_EBNF, USE_LARK, USE_REGEX, USE_SCHEMA, USE_TAG

_STATEMENTS: Final = f"statements such as %ignore are Lark syntax: {USE_LARK}"
_STATEMENT: Final = re.compile(r"(?:import|ignore|declare|override|extend|as)\b(?=[ \t]+[\w\".(/])")
_EMBEDDED: Final = re.compile(r"%(?:json|regex|lark)\b")
_FENCE: Final = "leave out the lines with ```"
_A_FILE: Final = "this looks like a file name: pass the file's contents"
_HINTS: Final[tuple[tuple[str, str], ...]] = (
    (r"//|--|/\*", "a comment begins with #"),
    (r"/", 'separate alternatives with |; write a regular expression as Regex("…")'),
    (r",", "parts follow each other without commas"),
    (r";", "a rule ends where the next one begins; remove the semicolon"),
    (r"[“”„‘’«»]", "write straight quotes, \" or '"),
    (r"```", _FENCE),
    (r"[$^\\]", "write text in quotes, and a regular expression in {regex}"),
    (r"[0-9]", "write text in quotes; names begin with a letter"),
    (r"@", "@name is Lark syntax for another grammar"),
    (r"\.\.", 'a range is written "a".."z"'),
    (r"\.", "write any character as /./"),
    (r"%if", f"conditions are Lark syntax: {USE_LARK}"),
    (r"%", _STATEMENTS),
    (r"!", "an excluded token is written !<name>"),
    (r"\?:", "a group is written ( … )"),
    (r"->", "the body of a rule is written after {sign}"),
    (r":=|::=|=|:", "a rule is written {rule}"),
    (r"[^\W_]", "names have only letters of ASCII, digits, _ and -; write text in quotes"),
)
_COMMENT: Final = re.compile(r"//|--|/\*|\(\*|;")
_CALLED: Final = re.compile(r"[A-Za-z_]\w*\Z")
_FILE_NAME: Final = re.compile(r"\s*[\w.~/\\:\- ]*[\w\-]\.(?:ebnf|gbnf|bnf|lark|txt|g|g4)\s*")
_HEAD: Final = re.compile(r"\s*[?!]*(<)?([A-Za-z_][\w.\-]*)>?\s*(::=|:=|->|→|=|:)")

# A name with options, parameters or a priority right behind it, and then the sign of a rule; or with options that do
# not end on their line.
_OPTIONS: Final = rf"\[\s*(?:{'|'.join(OPTION_NAMES)})\s*[=,:][^\n]*"
_MALFORMED_HEAD: Final = {
    ":": re.compile(rf"[?!]*([A-Za-z_][\w\-]*)(?:(?=[\[{{.]|::\s*_)[^\n]*?(?<!:):(?!:)|{_OPTIONS})"),
    "::=": re.compile(rf"([A-Za-z_.][\w.\-]*)(?:(?=\[)[^\n]*?::=|{_OPTIONS})"),
}
_BROKEN_OPTIONS: Final = re.compile(_OPTIONS)
_HEAD_WITH_BROKEN_OPTIONS: Final = re.compile(rf"[?!]*[A-Za-z_.][\w.\-]*{_OPTIONS}")
NO_OPERAND: Final = (
    "nothing to intersect",
    'write a & b for what both match, and "" for the empty text; a lookahead stands in a regular expression',
)
PRODUCTION_NUMBER: Final = re.compile(r"\[[0-9]+[a-z]?\]")  # before a rule, in W3C's grammars
NUMBERED: Final = "leave out the number of the rule"
CLOSE_OPTIONS: Final = "close the brackets on this line, and write a line break as \\n"
_CLASS: Final = re.compile(
    r"\[(?=\^|_?(?:[^\]\n]{0,80}?[^\w\]\n])?\w-\w|\\|[0-9]|[^\w\"'\]\n]+\])(?:[^\]\\\n]|\\.)*\](?:[*+?]|\{[0-9, ]*\})?"
)


def malformed_head_at(source: str, position: int, sign: str) -> str | None:
    """The rule at whose head, on a line of its own, something is wrong; None where a position is not in one."""
    begin = source.rfind("\n", 0, position) + 1
    head = _MALFORMED_HEAD[sign].match(source, begin)
    return head.group(1) if head is not None and position < head.end() else None


def has_broken_options(source: str, position: int) -> bool:
    """Whether the options of a rule begin here and do not end on their line."""
    return _BROKEN_OPTIONS.match(source, position) is not None


def class_around(source: str, position: int) -> str | None:
    """What to write for a character class of other notations that holds this position: `[a-z]+`."""
    begin = source.rfind("[", source.rfind("\n", 0, position) + 1, position + 1)
    found = None if begin < 0 else _CLASS.match(source, begin)
    if found is None or found.end() <= position:
        return None
    escaped = found[0].replace("/", "\\/")
    return f"write /{escaped[:60]}/"


def macro_meant(source: str, begin: int, macros: Sequence[str]) -> tuple[str, Span, str] | None:
    """The misspelled macro whose parenthesis opens at `begin`: its name, where that stands, and what is meant."""
    name = _CALLED.search(source, max(0, begin - 60), begin)
    if name is None:
        return None
    by_lower = {macro.lower(): macro for macro in macros}
    near = get_close_matches(name[0].lower(), list(by_lower), 1, 0.75)
    return (name[0], Span(*name.span()), f"did you mean {by_lower[near[0]]}?") if near else None


def hint_at(source: str, position: int, sign: str = "::=", regex: str = 'Regex("…")') -> str | None:
    """What to say of a character that no token begins with; `sign` stands between a rule's name and its body."""
    if _FILE_NAME.fullmatch(source):
        return _A_FILE
    for pattern, hint in _HINTS:
        if re.compile(pattern).match(source, position):
            return hint.replace("{sign}", sign).replace("{rule}", _rule("name", sign)).replace("{regex}", regex)
    return None


def hint_at_head(source: str, position: int, sign: str) -> str:
    """What to say where a rule is expected and something else stands."""
    if _FILE_NAME.fullmatch(source):
        return _A_FILE
    if _HEAD_WITH_BROKEN_OPTIONS.match(source, position):
        return CLOSE_OPTIONS
    head = _HEAD.match(source, position)
    embedded = _EMBEDDED.match(source, position) if sign == ":" else None
    if embedded is not None:
        return f"write it within a rule, such as start: {embedded[0]} {{…}}"
    if head is None and source.startswith("```", position):
        return _FENCE
    statement = _STATEMENT.match(source, position) if sign == ":" else None
    if statement is not None:
        return "write -> for another name" if statement[0] == "as" else f"write %{statement[0]}"
    if head is None and source.startswith("%", position):
        return _STATEMENTS
    if head is None and PRODUCTION_NUMBER.match(source, position) is not None:
        return NUMBERED
    if head is None and _COMMENT.match(source, position) is not None:
        return "a comment begins with #"
    if head is None and source.startswith("{", position):
        return f"this looks like JSON: for a JSON Schema, {USE_SCHEMA}; for a structural tag, {USE_TAG}"
    if head is None:
        of_regex = "" if sign in source else f"; for a regular expression, {USE_REGEX}"
        return f"write {_rule('name', sign)}{of_regex}"
    bracket, name, found = head.groups()
    if found == "::=" and sign == ":":
        return f"this looks like EBNF: {USE_EBNF}; in Lark, write name: body"
    if found == ":" and sign == "::=":
        return f"this looks like Lark: {USE_LARK}; in EBNF, write name ::= body"
    unbracketed = ", without < and >" if bracket else ""
    return f"write {_rule(name[:40], sign)}{unbracketed}"


def hint_at_flags(source: str, begin: int, name: str, of_text: str) -> str | None:
    """What to say of a name that is not defined and begins right behind a text or a regular expression.

    `of_text`: how to write a text in upper or lower case.
    """
    behind = source[begin - 1 : begin]
    if behind == "/":
        return "the flags of a regular expression are i, m, s, x and a; put a space before a name"
    return of_text if behind in ("'", '"') and name in ("i", "I") else None


def hint_at_repetition(source: str, position: int, comment: str, regex: str) -> str:
    """What to say of a repetition that nothing stands before."""
    if source.startswith("(*", position - 1):
        return f"a comment begins with {comment}"
    if source.startswith("(?", position - 1):
        return f"groups such as (?:…) and (?i) belong to regular expressions: write {regex}, or ( … )"
    return 'write "…" around characters that stand for themselves'


def _rule(name: str, sign: str) -> str:
    return f"{name}: body" if sign == ":" else f"{name} {sign} body"
