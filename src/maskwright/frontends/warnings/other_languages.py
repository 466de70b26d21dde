r"""Regular expressions that are surely meant as something else: a grammar, a JSON Schema or a structural tag.

    language_of('root ::= "a"')                 OtherLanguage("EBNF", "use compile_grammar, …", ":")
    language_of(r'root \:\:= "a"')              None: escaped, it says that these characters are meant

Most of them are regular expressions, too, which match little more than their own text, so none is refused for that.
What may well be meant as a regular expression is not reported: `start: [0-9]+`, `{"name": "[a-z]+"}`.
Tested by tests/frontends/warnings/test_other_languages.py.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from maskwright.errors import GrammarWarning, RegexSyntaxError
from maskwright.support.entrances import USE_EBNF, USE_LARK, USE_SCHEMA, USE_TAG

_EBNF: Final = re.compile(r"\s*(?:#[^\n]*\s+)*[A-Za-z_][\w.\-]*\s*::=")
_LARK: Final = re.compile(
    r"""\s*(?:(?://|\#)[^\n]*\s+)*
    (?: %(?:import|ignore)[ ]
    | [?!]?start\s*:[ \t]*(?: (?=[^\n]*["/]) | (?=[^\n]*\n\s*[?!]?[A-Za-z_]\w*\s*:) )  # text, or another definition
      (?: "(?:[^"\\\n]|\\.)*" | /(?:[^/\\\n]|\\.)+/ | [\w|+*?() \t] )+ (?:\n|\Z) )""",
    re.VERBOSE,
)
_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_KEYWORDS: Final = ("$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf", "enum")
_MAX_JSON: Final = 100_000  # characters that are read to see what they are


class OtherLanguage(NamedTuple):
    """What a text is meant as, what reads that, and the character that such a text has to have."""

    name: str
    way_out: str
    sign: str


def warning_of_other_language(pattern: str) -> GrammarWarning | None:
    """Return a warning if a regular expression is written in another language."""
    found = language_of(pattern)
    if found is None:
        return None
    hint = f"{found.way_out}; to match these very characters, write \\{found.sign} for {found.sign}"
    message = f"this looks like {found.name}, but is matched as a regular expression"
    return GrammarWarning(message, rule=None, hint=hint)


def with_language(error: RegexSyntaxError, pattern: str) -> RegexSyntaxError:
    """The error of a pattern that is no regular expression, with the way out if it is written in another language."""
    found = language_of(pattern)
    if found is None:
        return error
    hint = f"this looks like {found.name}: {found.way_out}"
    return RegexSyntaxError(error.message, source=error.source, span=error.span, hint=hint)


def language_of(pattern: str) -> OtherLanguage | None:
    """The language that a text is surely written in; None for what may well be a regular expression."""
    if _EBNF.match(pattern):
        return OtherLanguage("EBNF", USE_EBNF, ":")
    if _LARK.match(pattern):
        return OtherLanguage("Lark", USE_LARK, "%" if pattern.lstrip().startswith("%") else ":")
    if pattern.lstrip().startswith("{") and len(pattern) <= _MAX_JSON:
        return _of_json(pattern)
    return None


def _of_json(pattern: str) -> OtherLanguage | None:
    try:
        data = json.loads(pattern)
    except (ValueError, RecursionError):
        return None
    if data.get("type") == "structural_tag":
        return OtherLanguage("a structural tag", USE_TAG, "{")
    if data.get("type") in _TYPES or any(isinstance(data.get(each), (dict, list, str)) for each in _KEYWORDS):
        return OtherLanguage("a JSON Schema", USE_SCHEMA, "{")
    return None
