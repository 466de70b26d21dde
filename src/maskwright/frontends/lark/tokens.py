r"""The tokens of Lark grammars: one pattern, in which the name of the group that matches tells the kind.

    >>> token = TOKEN.match("b{x}.2: y")
    >>> token.lastgroup, token[NAME], token[PARAMETERS]
    ('word', 'b', '{x}')

A word is a name, the head of a definition, or the beginning of a call with a parameter, all in one alternative: had
each its own, every name would be tried as a definition first, at each of its lengths. The numbers are those of the
groups inside: what a definition, a string, a count consists of. No alternative can match the same text in two ways, so
a token that fails, fails in linear time.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re
from typing import Final

from maskwright.frontends.notation.quoted import STRING
from maskwright.frontends.notation.rule_options import BRACKETS

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*"


def _header(opening: str) -> str:
    """What stands between the name and the body of a definition; `opening` begins a group."""
    template, options, parameter = rf"{opening}\{{[^{{}}\n]*\}})", rf"{opening}{BRACKETS})", rf"{opening}::\s*_\s*)"
    return rf"{template}?(?:\s*{options})?(?:\.-?[0-9]+)?\s*(?:{parameter}(?:{options}\s*)?)?:(?!:)"


TOKEN: Final = re.compile(
    rf"""(?:
        (?P<blank>\s+|//[^\n]*|\#[^\n]*)
        | (?P<binding>({_NAME})=(?=[^\s=|)]))
        | (?P<word>(?:[?!]{{1,2}}(?={_NAME}{_header("(?:")}))?({_NAME})(?:({_header("(")})|(::)(?!:))?)
        | (?P<string>({STRING})(i(?![A-Za-z0-9_]))?)
        | (?P<pattern>/(?!/)((?:[^/\\]|\\.)+)/([imslux]*))
        | (?P<count>\{{\s*([0-9]*)\s*(?:(,)\s*([0-9]*)\s*)?\}}|~\s*([0-9]+)(?:\s*\.\.\s*([0-9]+))?)
        | (?P<bar>\|)
        | (?P<times>[*+?])
        | (?P<open>[\[(])
        | (?P<close>[\])}}])
        | (?P<arguments>\{{)
        | (?P<comma>,)
        | (?P<tilde>~)
        | (?P<ampersand>&)
        | (?P<range>\.\.\s*({STRING}))
        | (?P<alias>->\s*{_NAME})
        | (?P<tokens>!?<(?:\[[^\]\n]*\]|[^<>\s]+)>)
        | (?P<recall>\$({_NAME}))
        | (?P<side>@([A-Za-z0-9_\-]+))
        | (?P<condition>%if\b)
        | (?P<embedded>%(json(?=\s*(?:\{{|true\b|false\b))|(?:regex|lark)(?=\s*\{{))\s*)
        | (?P<statement>%[a-z_]+)
    )\s*""",
    re.VERBOSE | re.DOTALL,
)
IMPORT: Final = re.compile(rf"%import[ \t]+(\.*{_NAME}(?:\.{_NAME})*)(?:[ \t]*(\()|[ \t]*->[ \t]*({_NAME}))?")
IMPORT_NAMES: Final = re.compile(rf"\s*({_NAME}\s*(?:,\s*{_NAME}\s*)*),?\s*\)")
DECLARE: Final = re.compile(rf"%declare((?:[ \t]+{_NAME})+)")
WORD: Final = re.compile(_NAME)
_GROUP: Final = TOKEN.groupindex
NAME, HEADER = _GROUP["word"] + 1, _GROUP["word"] + 2
PARAMETERS, OPTION_BRACKETS, IS_PARAMETRIC, LATE_BRACKETS, IS_CALL = range(HEADER + 1, HEADER + 6)
STRING_TEXT, STRING_FLAG = _GROUP["string"] + 1, _GROUP["string"] + 2
PATTERN_TEXT, PATTERN_FLAGS = _GROUP["pattern"] + 1, _GROUP["pattern"] + 2
COUNT_LOW: Final = _GROUP["count"] + 1
RANGE_END: Final = _GROUP["range"] + 1
SIDE_NAME: Final = _GROUP["side"] + 1
BINDING_NAME: Final = _GROUP["binding"] + 1
RECALLED_NAME: Final = _GROUP["recall"] + 1
EMBEDDED_KIND: Final = _GROUP["embedded"] + 1
