"""EBNF's macros and literals for tokens: what they admit. Those for texts are in tests/corpus/ebnf.toml."""

from __future__ import annotations

import pytest

from maskwright import Grammar
from oracle.accepting import AB, END_THINK, STOP, THINK, accepts

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
