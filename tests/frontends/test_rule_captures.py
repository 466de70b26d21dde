"""The options `capture` and `stop_capture` of EBNF and Lark: what is told, and that the language stays the same."""

from __future__ import annotations

from itertools import product

import pytest

from maskwright import Grammar
from maskwright.errors import EbnfSyntaxError, LarkSyntaxError, LimitError, MaskwrightError
from maskwright.frontends.captured_ends import UnclearEndError, parted
from maskwright.frontends.texts import shortest, text_before
from maskwright.ir import GrammarIR, Rule, alt, and_, byte_set, literal, not_, seq, star
from oracle.accepting import accepts, matcher
from oracle.recognizer import matches

Captures = list[tuple[str, bytes]]


def captured(grammar: Grammar, output: str) -> tuple[Captures, Captures]:
    """What is captured of an output, and what is still open at its end."""
    reader = matcher(grammar)
    assert reader.accept_string(output)
    return reader.get_captures(), reader.get_open_captures()


PAIRS = r"""
    start: "{" pair ("," pair)* "}"
    pair: key ":" value
    key[capture]: NAME
    value[capture="v"]: "(" start ")" | INT+
    NAME: /[a-z]+/
    INT: /[0-9]+/
    %ignore " "
    %ignore /#[^\n]*/
    %ignore "\n"
"""


def test_captures_of_lark_leave_out_what_is_ignored() -> None:
    """After a last terminal, that is: what a repetition or another rule ends with belongs to it."""
    done, still = captured(Grammar.from_lark(PAIRS), "{ a : ( {b: 2 # two\n } ) , # next\n c : 3 }")
    nested = [("v", b"( {b: 2 # two\n } )"), ("key", b"b"), ("v", b"2 # two\n ")]
    assert done == [("key", b"a"), *nested, ("key", b"c"), ("v", b"3 ")]
    assert not still
    assert captured(Grammar.from_lark(PAIRS), "{a:(") == ([("key", b"a")], [("v", b"(")])


def test_captures_change_no_text() -> None:
    bare = Grammar.from_lark(PAIRS.replace("[capture]", "").replace('[capture="v"]', ""))
    for text in ["{a:1}", "{a : 1 2#\n}", "{#}\na:1}", "{a:1#}", "{a:#\n1,b:({c:#,\n3})}", "{:1}", "{a:}"]:
        assert accepts(Grammar.from_lark(PAIRS), text) == accepts(bare, text)


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ('root[capture="r"] ::= a root | "."\na[capture="a",lazy] ::= [0-9]+ ";"', "1;.", [b"1;.", b"1;", b"."]),
        ('root ::= a "x"\na[capture,stop=";", max_chars=3] ::= .*', "12;x", [b"12"]),
        ('root ::= a "x"\na[capture,stop=";", stop_capture="end"] ::= .*', "12;x", [b"12", b";"]),
        ('root ::= a "x"\na[stop=";", stop_capture="end"] ::= .*', "12;x", [b";"]),
        ('root ::= a "x"\na[capture, stop=""] ::= "1"+', "11x", [b"11"]),
        ('root ::= a+\na[capture, suffix="aa"] ::= [ab]*', "baabaaaaa", [b"b", b"b"]),
        ('root ::= a\na[capture,stop=/[.!?]/, stop_capture="end"] ::= .*', "12?", [b"12", b"?"]),
        ('root ::= a\na[capture,stop="END"i, stop_capture="end"] ::= .*', "eEnenD", [b"eEn", b"enD"]),
        ('root ::= a\na[capture,stop="The end of T"i] ::= .*', "tHe en! the End Of t", [b"tHe en! "]),
        ('root ::= a "."\na[capture,suffix=/\\n\\n+/, stop_capture="end"] ::= [^]*', "1\n2\n\n.", [b"1\n2", b"\n\n"]),
        ('root ::= a\na[capture,stop=/b|ab/, stop_capture="end"] ::= .*', "xab", [b"xa", b"b"]),
        ("root ::= a a\na[capture,stop=/\\w/] ::= .*", "..é-1", [b"..", b"-"]),
        ('root ::= a+\na[capture,stop=/aba|bb/, stop_capture="e"] ::= [ab]*', "ababb", [b"aba", b"bb"]),
        ('root ::= a "."\na[capture,stop=/x*/, stop_capture="end"] ::= [0-9]{1,2}', "1.", [b"1"]),
        ('root[max_chars=9] ::= a "x"\na[capture] ::= "1"+', "11x", []),
    ],
)
def test_captures_of_ebnf(source: str, output: str, expected: list[bytes]) -> None:
    assert [data for _, data in captured(Grammar.from_ebnf(source), output)[0]] == expected


def test_captures_of_parametric_rules() -> None:
    grammar = Grammar.from_lark('start: p::0\np[capture]::_: "a" p::incr(_) %if lt(_, 2) | "b"')
    assert captured(grammar, "aab")[0] == [("p", b"aab"), ("p", b"ab"), ("p", b"b")]


@pytest.mark.parametrize("pattern", ["[ab]*", "a*", "(ab)*", "b?a*b?", "(a|bb)*", "[ab]{0,3}"])
@pytest.mark.parametrize("end", ["a", "aa", "ab", "aba", "abab", "aaa"])
def test_text_before_an_end_is_the_shortest_without_it(pattern: str, end: str) -> None:
    body, data = Grammar.from_regex(pattern).ir.rules[0].body, literal(end.encode())
    apart, whole = (
        GrammarIR((Rule("root", expr),), 0)
        for expr in (
            seq(text_before(body, [literal(bytes((b,))) for b in end.encode()]), data),
            shortest(seq(body, data)),
        )
    )
    for length in range(8):
        for letters in product(b"ab", repeat=length):
            assert matches(apart, bytes(letters)) == matches(whole, bytes(letters)), bytes(letters)


ENDS = ["a|b", "ab|b", "ab|ba", "aa|b", "aba|bb", "a+b", "ab*", "b{1,3}", "(ab|a)(ab)?", "bab|ba|aab", "aba|baab", "a*"]


@pytest.mark.parametrize("pattern", ["[ab]*", "a*", "(ab)*", "b?a*b?", "(a|bb)*", "[ab]{0,3}", "~(.*aa.*)"])
@pytest.mark.parametrize("end", ENDS)
def test_parts_of_a_text_and_its_end_are_the_shortest(pattern: str, end: str) -> None:
    body, ends = (
        Grammar.from_regex(each.removeprefix("~(").removesuffix(")")).ir.rules[0].body for each in (pattern, end)
    )
    body = and_(star(byte_set(6 << 96)), not_(body)) if pattern.startswith("~") else body
    apart = GrammarIR((Rule("root", alt(*(seq(*pair) for pair in parted(body, ends)))),), 0)
    whole = GrammarIR((Rule("root", shortest(seq(body, ends))),), 0)
    for length in range(8):
        for letters in product(b"ab", repeat=length):
            assert matches(apart, bytes(letters)) == matches(whole, bytes(letters)), bytes(letters)


@pytest.mark.parametrize("pattern", ["[ab]*", "a*", "(ab)*", "b?a*b?"])
@pytest.mark.parametrize("end", ["a", "aa", "ab", "aba"])
def test_text_before_an_end_in_any_case(pattern: str, end: str) -> None:
    source = f'root ::= a "."\na[%ssuffix="{end}"i] ::= Regex("{pattern}", flags="i")'
    apart, whole = (Grammar.from_ebnf(source % option).ir for option in ("capture, ", ""))
    for length in range(6):
        for letters in product(b"abA", repeat=length):
            assert matches(apart, bytes((*letters, 46))) == matches(whole, bytes((*letters, 46))), bytes(letters)


def test_ends_that_nest_deep() -> None:
    terminals = "\n".join(f'T{i}: (T{i + 1} "a")?' for i in range(3_000))
    with pytest.raises(MaskwrightError):
        Grammar.from_lark(f'start: a\na[capture, suffix=T0]: /b*/\n{terminals}\nT3000: "c"')


@pytest.mark.parametrize("end", ["a[ab]*a", "b+ab", "(a|b){8}a|a", ".{33}"])
def test_ends_that_overlap_and_are_many(end: str) -> None:
    body, ends = (Grammar.from_regex(each).ir.rules[0].body for each in ("[ab]*", end))
    with pytest.raises(UnclearEndError):
        parted(body, ends)


def test_options_hold_within_rules_with_options() -> None:
    grammar = Grammar.from_ebnf('root[max_chars=5] ::= a "y"\na[max_chars=1] ::= "x"*')
    assert accepts(grammar, "xy")
    assert not accepts(grammar, "xxy")
    with pytest.raises(EbnfSyntaxError, match="must be regular"):
        Grammar.from_ebnf('root[lazy] ::= a\na[lazy] ::= root "x" | "y"')
    nested = "\n".join(f"r{i}[lazy] ::= r{i + 1}" for i in range(1_000))
    with pytest.raises(LimitError):
        Grammar.from_ebnf(f'root ::= r0\n{nested}\nr1000 ::= "a"')


# a header with options, part of the message
REFUSED = [
    ("a[capture, stop=/x[^x]*x/]", "a stop whose matches overlap"),
    ('a[stop_capture="e", suffix=/x+y+x/]', "a suffix whose matches overlap"),
    ('a[stop_capture="e"]', "stop_capture needs"),
    ('a[capture, stop="x", suffix="y"]', "both suffix and stop"),
    ("a[capture=3]", "a name in quotes"),
    ('a[capture=""]', "a name in quotes"),
    ('a[stop_capture, stop="x"]', "a name in quotes"),
    ('a{x}[capture="y"]', "a template cannot have options"),
]


@pytest.mark.parametrize(("header", "message"), REFUSED)
def test_refused(header: str, message: str) -> None:
    with pytest.raises(LarkSyntaxError, match=message):
        Grammar.from_lark(f'start: a\n{header}: "a"')
    if "{" not in header:
        with pytest.raises(EbnfSyntaxError, match=message):
            Grammar.from_ebnf(f'root ::= a\n{header} ::= "a"')


def test_ends_that_overlap_with_themselves_too_often() -> None:
    with pytest.raises(LimitError, match="overlaps with itself"):
        Grammar.from_ebnf(f'root[capture, stop="{"a" * 100}"] ::= .*')
