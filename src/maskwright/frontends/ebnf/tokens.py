"""The tokens of EBNF: one pattern, whose last group says of which kind a token is.

    >>> token = TOKEN.match('name ::= "a"')
    >>> token.lastindex == IS_DEFINITION, token[IS_NAME]
    (True, 'name')

Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.frontends.notation.quoted import STRING
from maskwright.frontends.notation.rule_options import BRACKETS
from maskwright.ir import UNBOUNDED

# No alternative can match the same text in two ways, so a token that fails, fails in linear time.
TOKEN: Final = re.compile(
    rf"""(?:
        ({STRING})
        | \[((?:[^\]\\\n]|\\.)*)\]
        | (Regex|Substring|TagDispatch|TokenTagDispatch|ExcludeToken|Token|Byte|Distinct)\s*\(
        | ([A-Za-z_][A-Za-z0-9_]*)=(?=[^\s=|)])
        | (?=\.*[A-Za-z0-9_\-])([A-Za-z0-9_.\-]+)
          ((?:\s*({BRACKETS}))?\s*::=)?
        | (\{{\s*([0-9]*)\s*(?:(,)\s*([0-9]*)\s*)?\}})
        | (!?<(?:\[[^\]\n]*\]|[^<>\s]+)>)
        | (\(=|[()|*+?.&~])
        | (\s+|\#[^\n]*)
        | (\$[A-Za-z_][A-Za-z0-9_]*)
    )[ ]*""",
    re.VERBOSE,
)
IS_STRING, IS_CLASS, IS_MACRO, IS_BINDING, IS_NAME, IS_DEFINITION, OPTIONS, IS_COUNT = 1, 2, 3, 4, 5, 6, 7, 8
IS_TOKEN, IS_SYMBOL, IS_BLANK, IS_RECALL = 12, 13, 14, 15
COUNTS: Final = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
UNEXPECTED: Final = {
    '"': ("unterminated string", 'add ", and write a line break as \\n'),
    "'": ("unterminated string", "add ', and write a line break as \\n"),
    "[": ("unterminated character class", "add ]"),
    "{": ("malformed repetition", "write {n}, {n,}, {n,m} or {,m}; ( … )* for any number of times"),
    "<": ("malformed token literal", "write <name> or <[1,2-5]>"),
}
