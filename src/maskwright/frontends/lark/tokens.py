r"""The tokens of Lark grammars: one pattern, in which the name of the group that matches tells the kind.

    >>> token = TOKEN.match("b{x}.2: y")
    >>> token.lastgroup, token[DEFINED], token[PARAMETERS]
    ('definition', 'b', '{x}')

The numbers are those of the groups inside: what a definition, a string, a count consists of. No alternative can match
the same text in two ways, so a token that fails, fails in linear time.
Tested by tests/frontends/test_lark.py.
"""

from __future__ import annotations

import re

from maskwright.frontends.quoted import STRING
from maskwright.frontends.rule_options import BRACKETS

_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*"
_HEADER = rf"(?:(\{{[^{{}}\n]*\}})?(?:\s*({BRACKETS}))?(?:\.-?[0-9]+)?\s*(::\s*_\s*)?:(?!:))"
TOKEN = re.compile(
    rf"""(?:
        (?P<blank>\s+|//[^\n]*|\#[^\n]*)
        | (?P<definition>[?!]{{0,2}}({_NAME}){_HEADER})
        | (?P<parametric>({_NAME})::(?!:))
        | (?P<name>{_NAME})
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
        | (?P<side>@([A-Za-z0-9_\-]+))
        | (?P<condition>%if\b)
        | (?P<embedded>%(json|regex|lark)\s*(?=\{{))
        | (?P<statement>%[a-z_]+)
    )[ ]*""",
    re.VERBOSE | re.DOTALL,
)
IMPORT = re.compile(rf"%import[ \t]+(\.*{_NAME}(?:\.{_NAME})*)(?:[ \t]*(\()|[ \t]*->[ \t]*({_NAME}))?")
IMPORT_NAMES = re.compile(rf"\s*({_NAME}\s*(?:,\s*{_NAME}\s*)*),?\s*\)")
DECLARE = re.compile(rf"%declare((?:[ \t]+{_NAME})+)")
WORD = re.compile(_NAME)
_GROUP = TOKEN.groupindex
DEFINED = _GROUP["definition"] + 1
PARAMETERS, OPTION_BRACKETS, IS_PARAMETRIC = DEFINED + 1, DEFINED + 2, DEFINED + 3
PARAMETRIC_NAME = _GROUP["parametric"] + 1
STRING_TEXT, STRING_FLAG = _GROUP["string"] + 1, _GROUP["string"] + 2
PATTERN_TEXT, PATTERN_FLAGS = _GROUP["pattern"] + 1, _GROUP["pattern"] + 2
COUNT_LOW = _GROUP["count"] + 1
RANGE_END = _GROUP["range"] + 1
SIDE_NAME = _GROUP["side"] + 1
EMBEDDED_KIND = _GROUP["embedded"] + 1
