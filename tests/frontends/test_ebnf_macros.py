"""EBNF's macros, token literals, hints and rule options: what they admit."""

from __future__ import annotations

import pytest

from maskwright import Grammar
from oracle.accepting import AB, END_THINK, STOP, THINK, accepts, check

TAGS = 'x ::= "1"\ny ::= "2"\n'

# the grammar, accepted texts, rejected texts
CASES = [
    ('root ::= Substring("a ", "bc", "d")', ["", "a ", "bc", "bcd", "a bcd"], ["a", "c", "a d", "da "]),
    ('root ::= "<" Substring("ab", "ab", "c") ">"', ["<>", "<ab>", "<abab>", "<ababc>", "<abc>"], ["<ababab>", "<ca>"]),
    (
        'root ::= TagDispatch(("<a>", x))\n' + TAGS,
        ["", "hi", "<", "<a>1", "hi<a>1<a>1z", "<<a>1<"],
        ["<a>", "<a>2", "hi<a>1<a>", "<a>z"],
    ),
    (
        'root ::= TagDispatch(("<a>", x), loop_after_dispatch=false)\n' + TAGS,
        ["", "hi", "<a>1", "z<a>1"],
        ["<a>1z", "<a>1<a>1", "<a>"],
    ),
    (
        'root ::= TagDispatch(("<a>", x), stop_eos=false, stop_str=("END"))\n' + TAGS,
        ["END", "hiEND", "<a>1END", "EENDEND"[:4], "ENEND"],
        ["", "hi", "hiENDz", "<a>1", "ENDEND"],
    ),
    (
        'root ::= TagDispatch(("<a>", x), stop_str=("END", "FIN"))\n' + TAGS,
        ["", "hi", "hiEND", "FIN", "<a>1FIN"],
        ["hiENDz", "FINEND"],
    ),
    ('root ::= TagDispatch(("<a>", x), excludes=("bad", "<b"))\n' + TAGS, ["ba", "<a>1ba"], ["bad", "<a>1bad", "<b"]),
    (
        'root ::= TagDispatch(("<a>", x), ("<b>", y)) "zz"\n' + TAGS,
        ["zz", "<a>1zz", "<b>2<a>1zz", "zzzz", "qzz"],
        ["<a>1", "<a>2zz", "<b>1zz"],
    ),
    ('root ::= TagDispatch(("b", x), ("ab", y))\n' + TAGS, ["ab2", "b1", "a", "cb1", "aab2"], ["ab1", "b2", "ab", "b"]),
    ('root ::= TagDispatch(("aa", x))\n' + TAGS, ["a", "aa1", "aa1a", "aa1aa1"], ["aaa1", "aa1aa"]),
    ('root ::= "a" (= "b" | c)\nc ::= "d"', ["a"], ["ab", "ad"]),
    ('root ::= a "b"\na[lazy] ::= "a"* "b"?', ["b"], ["ab", "bb", "aabb"]),
    ('root ::= a "z"\na[lazy] ::= letter* "x"\nletter ::= [a-z]', ["xz", "abxz"], ["xxz", "z", "axxz"]),
    ('root ::= a "b"\na[max_chars=2] ::= [aé]*', ["b", "ab", "éab", "ééb"], ["aaab", "éééb"]),
    ('root ::= a "b"\na[suffix="x"] ::= [a-z]*', ["xb", "aaxb"], ["aaxxb", "aab", "axbb"]),
    ('root ::= a "b"\na[stop="</a>", max_chars=3] ::= .*', ["</a>b", "x<y</a>b"], ["wxyz</a>b", "</a>x</a>b"]),
    ('root ::= a "b"\na[stop=/[0-9]+/i] ::= .*', ["x1b", "1b"], ["xb", "x12b"]),
]


@pytest.mark.parametrize(("source", "accepted", "rejected"), CASES)
def test_texts(source: str, accepted: list[str], rejected: list[str]) -> None:
    check(Grammar.from_ebnf(source), accepted, rejected)


# the grammar, accepted outputs, rejected outputs: token ids
TOKEN_CASES = [
    ('root ::= Token(97, 98) "c"', [[97, 99], [98, 99]], [[99, 99], [AB, 99]]),
    ("root ::= Token(256)", [[THINK]], [list(b"<think>")]),
    ("root ::= <think> .* </think>", [[THINK, 120, END_THINK], [THINK, END_THINK]], [[THINK, 120], [120, END_THINK]]),
    ('root ::= Token("</think>") | <[97-98]>', [[END_THINK], [97], [98]], [[THINK], [99]]),
    ("root ::= !<think>", [[97], [AB], [END_THINK]], [[THINK], [STOP], [97, 98]]),
    ("root ::= <[^97,</think>]>+", [[98, AB], [THINK]], [[97], [END_THINK], [98, 97]]),
    ("root ::= <[*]>", [[97], [THINK]], [[STOP], [97, 97], []]),
    ("root ::= ExcludeToken(97)", [[98], [THINK]], [[97], [STOP]]),
    (
        'root ::= TokenTagDispatch((256, x), excludes=(98))\nx ::= "1"',
        [[], [97], [THINK, 49], [97, THINK, 49, 97]],
        [[THINK], [98], [THINK, 97], [THINK, 49, 98]],
    ),
    (
        'root ::= TokenTagDispatch(("<think>", x), loop_after_dispatch=false)\nx ::= "1"',
        [[97], [97, THINK, 49]],
        [[THINK, 49, 97], [THINK]],
    ),
]


@pytest.mark.parametrize(("source", "accepted", "rejected"), TOKEN_CASES)
def test_tokens(source: str, accepted: list[list[int]], rejected: list[list[int]]) -> None:
    grammar = Grammar.from_ebnf(source)
    for output in accepted:
        assert accepts(grammar, output), output
    for output in rejected:
        assert not accepts(grammar, output), output
