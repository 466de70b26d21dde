"""Grammars printed and read again have the same language."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_matcher import matches

from maskwright import Grammar, GrammarError, LimitError, grammars
from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, utf8
from maskwright.frontends.ebnf import ebnf_to_ir
from maskwright.frontends.notation.characters import pieces
from maskwright.ir import (
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    byte_range,
    literal,
    never,
    not_,
    ref,
    repeat,
    seq,
    star,
    text,
)
from oracle.accepting import accepts, matcher
from oracle.sampling import NoSampleError, Sampler

SETS = st.lists(
    st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 3000)).map(lambda t: (t[0], min(sum(t), 0x10FFFF))), max_size=4
).map(CodePointSet.from_ranges)


@given(SETS)
def test_sets_of_characters_are_found_again(chars: CodePointSet) -> None:
    found = pieces(utf8(chars)) if chars else []
    as_sets = [CodePointSet.from_string(f) if isinstance(f, str) else f for f in found]
    assert as_sets == ([chars] if chars else [])


@given(st.lists(st.one_of(SETS.filter(bool).map(utf8), st.text(min_size=1).map(text)), min_size=1, max_size=4))
def test_sequences_come_apart_into_characters(parts: list[Expr]) -> None:
    assert not any(isinstance(piece, Expr) for piece in pieces(seq(*parts)))


# what is read, and what is printed
EBNF = [
    ('root ::= "a" | "b" "c"*', 'root ::= "b" "c"* | "a"'),
    ('root ::= "a\\n\\t\\"\\\\\\x00é\\u2028😀"', 'root ::= "a\\n\\t\\"\\\\\\x00é\\u2028😀"'),
    ("root ::= [^\\n\\]\\-a-c]", "root ::= [^\\n\\-\\]a-c]"),
    ("root ::= .", "root ::= [\\x00-\\U0010ffff]"),
    ("root ::= [é-ü€] 'é'", 'root ::= [é-ü€] "é"'),
    ("root ::= 'a'{3} 'b'{2,} ('c' 'd'){,4} 'e'?", 'root ::= "a"{3} "b"{2,} "cd"{0,4} "e"?'),
    ("root ::= (('a'{2}){3}){4,5}", 'root ::= (("a"{2}){3}){4,5}'),
    ("root ::= [a-z]+ & ~('if' | 'of')", 'root ::= [a-z]+ & ~("if" | "of")'),
    ("root ::= ('x' & ~[0-9]* | 'y')* 'z'", 'root ::= ("x" & ~[0-9]* | "y")* "z"'),
    ("root ::= <think> Token(1, 2, 3) !<a> ExcludeToken(4) Token('x y')", None),
    ('root ::= Byte("80-8f,ff") Byte("") | ""', 'root ::= ""'),
    ('root ::= Byte("80-8f,ff") "a"', 'root ::= Byte("80-8f,ff") "a"'),
]


@pytest.mark.parametrize(("source", "printed"), EBNF)
def test_ebnf(source: str, printed: str | None) -> None:
    grammar = Grammar.from_ebnf(source)
    if printed is not None:
        assert str(grammar) == printed
    assert Grammar.from_ebnf(str(grammar)).dump() == grammar.dump()


def test_names() -> None:
    rules = (("start", ref(1)), ("root", ref(2)), ("Token", ref(3)), ("a b", ref(4)), ("ü", text("x")))
    grammar = Grammar(GrammarIR(tuple(Rule(name, body) for name, body in rules), 0))
    assert str(grammar).splitlines() == [
        "root ::= root_2",
        "root_2 ::= rToken",
        "rToken ::= ra_b",
        "ra_b ::= r_",
        'r_ ::= "x"',
    ]
    assert grammar.to_lark().splitlines()[:2] == ["start: root", "root: r_token"]
    assert Grammar.from_lark(grammar.to_lark()).dump().endswith('"x"')


def test_bytes_that_are_no_characters() -> None:
    for body in (
        byte_range(0x80, 0xFF),
        literal(b"\xc3"),
        seq(literal(b"a\xe2\x82"), byte_range(0, 255)),
        literal(b"\xed\xa0\x80"),
    ):
        grammar = Grammar(GrammarIR((Rule("root", body),), 0))
        again = Grammar.from_ebnf(str(grammar)).ir.rules[0].body
        for data in (b"\x80", b"\xc3", b"\xc3\xa9", b"a\xe2\x82\xac", b"a\xe2\x82a", b"\xed\xa0\x80", b"a"):
            assert matches(again, data) == matches(body, data)
        with pytest.raises(GrammarError, match="not whole characters"):
            grammar.to_lark()


def test_never() -> None:
    assert str(Grammar(GrammarIR((Rule("root", never()),), 0))) == 'root ::= Byte("")'


@pytest.mark.parametrize("name", grammars.NAMES)
@pytest.mark.parametrize("language", ["ebnf", "lark"])
def test_ready_grammars(name: str, language: str) -> None:
    grammar, rng = grammars.load(name), random.Random(name)
    again = Grammar.from_ebnf(grammar.to_ebnf()) if language == "ebnf" else Grammar.from_lark(grammar.to_lark())
    for one, other in ((grammar, again), (again, grammar)):
        sampler = Sampler(one.ir, rng)
        for _ in range(10):
            try:
                sample = sampler.text(40)
            except NoSampleError:
                continue
            assert accepts(other, sample.decode()), sample


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^é[a-z]", "maxLength": 5}, "b": {"$ref": "#"}},
}


@pytest.mark.parametrize("language", ["ebnf", "lark"])
def test_schemas(language: str) -> None:
    grammar = Grammar.from_json_schema(SCHEMA)
    again = Grammar.from_ebnf(grammar.to_ebnf()) if language == "ebnf" else Grammar.from_lark(grammar.to_lark())
    for output in ('{"a": "éa"}', '{"a": "\\u00e9a", "b": {}}', '{"b": {"b": {"a": "éxyzz"}}}'):
        assert accepts(grammar, output)
        assert accepts(again, output)
    for output in ('{"a": "ea"}', '{"a": "éxyzzz"}', '{"b": 1}'):
        assert not accepts(again, output)


REGEX = [
    ("a(b|c)*d?", "a[b-c]*d?"),
    ("(ab|cd){2,3}", "(?:ab|cd){2,3}"),
    (r"\.\*[\]\-^]", None),
    ("é+[^a]", "é+[^a]"),
    ("", "(?:)"),
]


@pytest.mark.parametrize(("pattern", "printed"), REGEX)
def test_regex(pattern: str, printed: str | None) -> None:
    grammar = Grammar.from_regex(pattern)
    if printed is not None:
        assert grammar.to_regex() == printed
    assert Grammar.from_regex(grammar.to_regex()).dump() == grammar.dump()


def test_rules_are_spelled_out_in_a_regex() -> None:
    grammar = Grammar.from_ebnf('root ::= a ("," a)*\na ::= b b\nb ::= [xy]')
    assert grammar.to_regex() == "[x-y][x-y](?:,[x-y][x-y])*"


@pytest.mark.parametrize("body", ["'a' root?", "<a>", "a\na ::= Token(1)", "'a' & ~'b'"])
def test_what_is_no_regex(body: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_ebnf("root ::= " + body).to_regex()
    assert "--to ebnf" in (info.value.hint or "")


def test_operators() -> None:
    a, b = Grammar.from_regex("a+"), Grammar.from_lark('start: "(" start ")" | "b"')
    assert accepts(a + b, "aa(b)")
    assert accepts(a | b, "aa")
    assert accepts(a | b, "((b))")
    assert not accepts(a | b, "ab")
    with pytest.raises(TypeError):
        a + "b"  # type: ignore[operator]


def test_hostile_grammars_are_printed_or_refused() -> None:
    deep: Expr = text("a")
    for _ in range(20_000):
        deep = seq(text("("), repeat(deep, 0, 1), text(")"))
    for body in (deep, not_(deep)):
        printed = str(Grammar(GrammarIR((Rule("root", body),), 0)))
        assert printed.count("(") >= 20_000
    shared: Expr = seq(text("a"), star(utf8(ALL_CHARACTERS)))
    for _ in range(60):
        shared = repeat(seq(shared, star(shared)), 2, 3)
    with pytest.raises(LimitError, match="too large to print"):
        str(Grammar(GrammarIR((Rule("root", shared),), 0)))


def test_and_binds_as_printed() -> None:
    body = and_(alt(text("ab"), text("cd")), seq(star(byte_range(97, 122)), text("d")))
    again = ebnf_to_ir(str(Grammar(GrammarIR((Rule("root", body),), 0)))).rules[0].body
    assert [matches(again, t) for t in ("ab", "cd")] == [False, True]


CAPTURES = [
    (
        "ebnf",
        'root ::= a b\na[capture="x y"] ::= "1"+\nb[capture, max_tokens=30] ::= a "," c\nc[capture="q\\""] ::= "z"*',
        "11,zz",
    ),
    ("ebnf", 'root[capture="all", temperature=0.5] ::= (a | "-")*\na[capture] ::= [0-9]+ ";"', "1;-22;"),
    ("lark", 'start: a b\na[capture]: /[0-9]+/\nb[capture="z", temperature=0.5]: a "," a\n%ignore " "', "1 2 , 3"),
    ("lark", 'start: x::0\nx::_[capture="k"]: "a" x::set_bit(0) %if bit_clear(0) | "b"', "ab"),
    ("lark", 'start: x::0\nx::_[max_tokens=9]: y::_ "."\ny::_: "a" y::incr(_) %if lt(_, 3) | "b"', "aab."),
]


@pytest.mark.parametrize("write", [Grammar.to_ebnf, Grammar.to_lark])
@pytest.mark.parametrize(("language", "source", "output"), CAPTURES)
def test_captures_and_budgets_are_kept(
    language: str, source: str, output: str, write: Callable[[Grammar], str]
) -> None:
    grammar = Grammar.from_ebnf(source) if language == "ebnf" else Grammar.from_lark(source)
    printed = write(grammar)
    again = Grammar.from_ebnf(printed) if write is Grammar.to_ebnf else Grammar.from_lark(printed)
    told = []
    for each in (grammar, again):
        reader = matcher(each)
        assert reader.accept_string(output)
        told.append((reader.get_captures(), reader.temperature(), reader.is_completed()))
    assert told[0] == told[1]
    assert ("max_tokens" in source) == ("max_tokens" in printed)
