"""What people write in grammar texts that belongs to other notations, and what to write instead.

    >>> hint_at("x ::= a, b", 7), hint_at_head("x := a", 0, "::=")
    ('parts follow each other without commas', 'write x ::= body')

Only hints: what is a mistake is decided by the parsers.
Tested by tests/frontends/test_mistakes.py.
"""

from __future__ import annotations

import re
from typing import Final

_USE_LARK: Final = "use compile_lark, or Grammar.from_lark"
_USE_EBNF: Final = "use compile_grammar, or Grammar.from_ebnf"
_USE_SCHEMA: Final = "use compile_json_schema, or Grammar.from_json_schema"
_STATEMENTS: Final = f"statements such as %ignore are Lark syntax: {_USE_LARK}"
_A_FILE: Final = "this looks like a file name: pass the file's contents"
_HINTS: Final[tuple[tuple[str, str], ...]] = (
    (r"//|--|/\*", "a comment begins with #"),
    (r"/", 'separate alternatives with |; write a regular expression as Regex("…")'),
    (r",", "parts follow each other without commas"),
    (r";", "a rule ends where the next one begins; remove the semicolon"),
    (r"[“”„‘’«»]", "write straight quotes, \" or '"),
    (r"[$^\\]", "write text in quotes, and a regular expression in {regex}"),
    (r"[0-9]", "write text in quotes; names begin with a letter"),
    (r"@", "@name is Lark syntax for another grammar"),
    (r"%if", f"conditions are Lark syntax: {_USE_LARK}"),
    (r"%", _STATEMENTS),
    (r"!", "an excluded token is written !<name>"),
    (r"\?:", "a group is written ( … )"),
    (r"->", "the body of a rule is written after {sign}"),
    (r":=|::=|=|:", "a rule is written {rule}"),
)
_FILE_NAME: Final = re.compile(r"\s*[\w.~/\\:\- ]*[\w\-]\.(?:ebnf|gbnf|bnf|lark|txt|g|g4)\s*")
_HEAD: Final = re.compile(r"\s*[?!]*(<)?([A-Za-z_][\w.\-]*)>?\s*(::=|:=|->|→|=|:)")

# A name with options, parameters or a priority right behind it, and then the sign of a rule.
_MALFORMED_HEAD: Final = {
    ":": re.compile(r"[?!]*([A-Za-z_][\w\-]*)(?=[\[{.]|::\s*_)[^\n]*?(?<!:):(?!:)"),
    "::=": re.compile(r"([A-Za-z_.][\w.\-]*)(?=\[)[^\n]*?::="),
}


def malformed_head_at(source: str, position: int, sign: str) -> str | None:
    """The rule at whose head, on a line of its own, something is wrong; None where a position is not in one."""
    begin = source.rfind("\n", 0, position) + 1
    head = _MALFORMED_HEAD[sign].match(source, begin)
    return head.group(1) if head is not None and position < head.end() else None


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
    head = _HEAD.match(source, position)
    if head is None and source.startswith("%", position):
        return _STATEMENTS
    if head is None and source.startswith("{", position):
        return f"this looks like JSON: {_USE_SCHEMA}; for a structural tag, compile_structural_tag"
    if head is None:
        return f"write {_rule('name', sign)}"
    bracket, name, found = head.groups()
    if found == "::=" and sign == ":":
        return f"this looks like EBNF: {_USE_EBNF}; in Lark, write name: body"
    if found == ":" and sign == "::=":
        return f"this looks like Lark: {_USE_LARK}; in EBNF, write name ::= body"
    unbracketed = ", without < and >" if bracket else ""
    return f"write {_rule(name[:40], sign)}{unbracketed}"


def _rule(name: str, sign: str) -> str:
    return f"{name}: body" if sign == ":" else f"{name} {sign} body"
