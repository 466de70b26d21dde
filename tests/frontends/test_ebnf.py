"""EBNF by example: what each construct becomes, what is refused, where and with which advice."""

from __future__ import annotations

import re

import pytest
from ir_matcher import matches

from maskwright.errors import EbnfSyntaxError, LimitError
from maskwright.frontends.charset import ALL_CHARACTERS, utf8
from maskwright.frontends.ebnf import ebnf_to_ir
from timing import processor_seconds

ANY = utf8(ALL_CHARACTERS).dump()

# body of the root rule, its expression
BODIES = [
    ('"abc"', '"abc"'),
    ("'a\"b'", '"a\\"b"'),
    ('""', '""'),
    ("", '""'),
    ("()", '""'),
    ('"a" | ', '"" | "a"'),
    ('| "a" "b"', '"" | "ab"'),
    ('"a" ( "b" | ) "c"', '"a" ("" | "b") "c"'),
    ('"a"* "b"+ "c"? "d"{2} "e"{2,} "f"{2,3} "g"{,3}', '"a"* "b"+ "c"? "d"{2} "e"{2,} "f"{2,3} "g"{0,3}'),
    ('"ab"{ 1 , 2 }', '"ab"{1,2}'),
    ('("a" | "bc")*', '("bc" | "a")*'),
    ("[a-z0-9_]", "[0-9_a-z]"),
    (r"[\d\w\s]", r"[\t-\r 0-9A-Z_a-z]"),
    (r"[\]\[\-\\\^a-c]", r"[\-[-\^a-c]"),
    ("[a-]", r"[\-a]"),
    ("[-a]", r"[\-a]"),
    ("[\\x41\\u0042\\U00000043]", "[A-C]"),
    (r"[\D]", r"[^0-9]"),
    (r'"\"\\\/\'\n\r\t\b\f\a\v\0\e\x41\u00e9\U0001F600"', None),
    (r'"\ud83d\ude00"', '"\\xf0\\x9f\\x98\\x80"'),
    ('"é"', '"\\xc3\\xa9"'),
    ('"a"**', '"a"*'),
    ('"a" # comment " ) | \n "b"', '"ab"'),
    ('"a"\n\n   | "bc"\n', '"bc" | "a"'),
    ('Regex("[a-c]+x?")', '[a-c]+ "x"?'),
    ('Regex("a\\\\d" , flags = "i" )*', "([Aa] [0-9])*"),
    ("Regex('a|\"')", '["a]'),
    ("(((([a]))))", '"a"'),
    ('"a"{1000000000}', '"a"{1000000000}'),
]


@pytest.mark.parametrize(("body", "dumped"), BODIES)
def test_bodies(body: str, dumped: str | None) -> None:
    expr = ebnf_to_ir("root ::= " + body).rules[0].body
    if dumped is None:
        assert matches(expr, "\"\\/'\n\r\t\b\f\a\v\0\x1bAé😀")
    elif body == r"[\D]":
        assert matches(expr, "a")
        assert matches(expr, "é")
        assert not matches(expr, "1")
    elif body.startswith("Regex") and "flags" in body:
        assert matches(expr, "a1A٣")
        assert not matches(expr, "b1")
    else:
        assert expr.dump() == dumped


def test_any_character() -> None:
    for body in (".", "[^]"):
        assert ebnf_to_ir("root ::= " + body).rules[0].body.dump() == ANY
    two = ebnf_to_ir("root ::= .. .*").rules[0].body
    assert matches(two, "a\n😀")
    assert not matches(two, "a")
    negated = ebnf_to_ir(r'root ::= [^a\n\d"]').rules[0].body
    assert matches(negated, "é")
    assert not any(matches(negated, c) for c in 'a\n1"')


def test_rules_and_references() -> None:
    grammar = ebnf_to_ir("""
        # a comment before the first rule
        root ::= a-b "," .c1 _d    # names
          | root "x"               # left recursion
        a-b  ::= "1"
        .c1 ::= "2" a-b
        _d::="3"
        unused ::= unused
    """)
    assert grammar.dump().splitlines() == [
        'root ::= a-b "," .c1 _d | root "x"',
        'a-b ::= "1"',
        '.c1 ::= "2" a-b',
        '_d ::= "3"',
    ]


def test_root_may_have_any_name() -> None:
    grammar = ebnf_to_ir('other ::= "a"\nstart ::= other other', "start")
    assert grammar.dump() == 'start ::= other other\nother ::= "a"'


def test_a_body_ends_where_the_next_rule_starts() -> None:
    assert ebnf_to_ir("root ::= a\nb\na ::= 'x'\n\n\nb\n::=\n'y'").dump() == 'root ::= a b\na ::= "x"\nb ::= "y"'
    assert ebnf_to_ir("root ::= (\na |\n# c\n'b'\n)\r\na ::= 'a'").dump() == 'root ::= a | "b"\na ::= "a"'


# source, part of the message, line, column, part of the hint
ERRORS = [
    ('root ::= "a', "unterminated", 1, 10, 'add "'),
    ("root ::= 'a\n'", "unterminated", 1, 10, "add '"),
    ("root ::= [a", "unterminated", 1, 10, "add ]"),
    ('root ::= ("a"', "unclosed", 1, 10, "add )"),
    ('root ::= ("a"\nb ::= "c")', "unclosed", 1, 10, "add )"),
    ('root ::= "a")', "unmatched", 1, 13, ""),
    ("root ::= []", "no character", 1, 10, "\\]"),
    ("root ::= [b-a]", "is empty", 1, 11, "\\-"),
    (r"root ::= [\d-z]", "set as an endpoint", 1, 11, "\\-"),
    ("root ::= *", "nothing to repeat", 1, 10, ""),
    ('root ::= "a" | +', "nothing to repeat", 1, 16, ""),
    ('root ::= & "a"', "nothing to intersect", 1, 10, "a lookahead stands in a regular expression"),
    ('root ::= "a" & | "b"', "nothing to intersect", 1, 14, 'write a & b for what both match, and "" for'),
    ('root ::= "a" ~ & "b"', "nothing to complement", 1, 14, ""),
    ('root ::= "a"{}', "malformed", 1, 13, "{n}"),
    ('root ::= "a"{}', "malformed", 1, 13, "{n}"),
    ('root ::= "a"{x}', "malformed", 1, 13, "{n}"),
    ('root ::= "a"{3,2}', "upper bound", 1, 13, ""),
    ('root ::= "a"{10000000000}', "count above", 1, 13, ""),
    (r'root ::= "\q"', "unknown or incomplete", 1, 11, "for a backslash"),
    (r'root ::= "ab\x4"', "unknown or incomplete", 1, 13, "known:"),
    (r'root ::= "\d"', "unknown or incomplete", 1, 11, r'Regex("\\d")'),
    (r'root ::= "\ud800"', "surrogate", 1, 11, "\\UHHHHHHHH"),
    (r'root ::= "\U00110000"', "above U+10FFFF", 1, 11, ""),
    (r"root ::= [a\q]", "unknown or incomplete", 1, 12, "write q without"),
    ('root ::= "\ud800"', "surrogate", 1, 10, ""),
    ("root = 'a'", "expected a rule", 1, 1, "root ::= body"),
    ("'a'", "expected a rule", 1, 1, "name ::= body"),
    ("root ::= 'a'\n  b = 'c'", "unexpected", 2, 5, "name ::= body"),
    ("root ::= 'a' ; 'b'", "unexpected", 1, 14, ""),
    ("root ::= 'a' b ::= 'c'", "line of its own", 1, 14, ""),
    ("root ::= 'a'\n\nroot ::= 'b'", "defined twice", 3, 1, "on line 1"),
    ('root ::= "a"{3,1}', "upper bound is below", 1, 13, "write {1,3}"),
    ("root ::= itm\nitem ::= 'a'", "'itm' is not defined", 1, 10, "'item'"),
    ("root ::= Item\nitem ::= 'a'", "'Item' is not defined", 1, 10, "'item'"),
    ("root ::= zzz\nitem ::= 'a'", "'zzz' is not defined", 1, 10, ""),
    ('root[max_tokens=-1, stop="]"] ::= "a"', "option max_tokens takes a whole number from 0", 1, 6, ""),
    ('root[temperature=-1] ::= "a"', "option temperature takes a number from 0", 1, 6, ""),
    ("root ::= 'a'\nb[lazyy] ::= 'c'", "unknown rule option 'lazyy'", 2, 3, "known: lazy"),
    ("root ::= 'a'\nb[lazy, lazy] ::= 'c'", "given twice", 2, 9, ""),
    ("root ::= 'a'\nb[max_chars=x] ::= 'c'", "a whole number", 2, 3, ""),
    ("root ::= 'a'\nb[lazy=3] ::= 'c'", "true or false", 2, 3, ""),
    ("root ::= 'a'\nb[stop=x] ::= 'c'", "a string or a /regex/", 2, 3, ""),
    ("root[lazy] ::= '(' root? ')'", "cannot have the option lazy", 1, 6, "must be regular"),
    ("root[lazy] ::= <a>", "cannot have the option lazy", 1, 6, "must be regular"),
    ("root ::= < a", "malformed token literal", 1, 10, "<name>"),
    ("root ::= <[a]>", "malformed token literal", 1, 10, "ids and ranges"),
    ("root ::= <[5-3]>", "empty or too large", 1, 10, ""),
    ("root ::= Token(1", "malformed argument", 1, 17, "commas"),
    ("root ::= Token(1 2)", "expected a comma", 1, 18, ""),
    ("root ::= Token(a)", "expected a token", 1, 16, "its id"),
    ("root ::= Token(x=1)", "unknown option 'x'", 1, 18, "takes none"),
    ("root ::= Token(1, x=)", "has no value", 1, 21, ""),
    ("root ::= Token(((1)))", "parentheses cannot be nested", 1, 17, ""),
    ("root ::= Substring(a)", "expected a string", 1, 20, ""),
    ('root ::= TagDispatch("a")', "a tag and a rule", 1, 22, '("tag", rule)'),
    ('root ::= TagDispatch(("a", "b"))', "the name of a rule", 1, 28, ""),
    ('root ::= TagDispatch(("a", b))', "'b' is not defined", 1, 28, ""),
    ('root ::= TagDispatch(("a", root), loop=true)', "unknown option 'loop'", 1, 40, "loop_after_dispatch"),
    ('root ::= TagDispatch(("a", root), stop_eos=3)', "true or false", 1, 44, ""),
    ('root ::= TagDispatch(("a", root), stop_str=true)', "a list in parentheses", 1, 44, ""),
    ("root ::= Regex(a)", "malformed Regex", 1, 10, 'Regex("…")'),
    ('root ::= Regex("a", json_string=1)', "malformed Regex", 1, 10, "json_string=true"),
    ('root ::= Regex("a", json_string=true, flags="q")', "unknown flag", 1, 45, ""),
    ('root ::= Regex("(a")', "in Regex: the group", 1, 16, ""),
    ('root ::= Regex("a", flags="q")', "unknown flag", 1, 27, "known"),
    ('root ::= Regex("(a)\\\\1")', "back-reference", 1, 16, ""),
]


@pytest.mark.parametrize(("source", "message", "line", "column", "hint"), ERRORS)
def test_errors_say_what_and_where(source: str, message: str, line: int, column: int, hint: str) -> None:
    with pytest.raises(EbnfSyntaxError, match=re.escape(message)) as info:
        ebnf_to_ir(source)
    error = info.value
    assert (error.line, error.column) == (line, column)
    assert hint in (error.hint or "")
    assert "\n    " in str(error)


def test_the_caret_is_under_the_place() -> None:
    with pytest.raises(EbnfSyntaxError) as info:
        ebnf_to_ir("root ::= item\nitem ::= 'a' itm")
    assert str(info.value) == (
        "2:14: in 'item': rule 'itm' is not defined\n  hint: did you mean 'item'?\n"
        "    item ::= 'a' itm\n                 ^^^"
    )


def test_a_missing_root_names_the_rules_there_are() -> None:
    with pytest.raises(EbnfSyntaxError, match="no rule 'root'") as info:
        ebnf_to_ir("a ::= b\nb ::= 'x'")
    assert info.value.hint == "the rules are: a, b; rename one to 'root', or pass root_rule_name"
    with pytest.raises(EbnfSyntaxError, match="no rule 'root'"):
        ebnf_to_ir("# nothing")
    with pytest.raises(EbnfSyntaxError, match="not defined"):
        ebnf_to_ir("a ::= root")


HOSTILE = {
    "open groups": "root ::= " + "(" * 30_000,
    "nested groups": "root ::= " + "(" * 30_000 + ")" * 30_000,
    "repeated repeats": "root ::= 'a'" + "{2}" * 30_000,
    "NUL bytes": "\0" * 30_000,
    "NUL bytes in a literal": "root ::= '" + "\0" * 30_000 + "'",
    "open classes": "root ::= " + "a[" * 30_000,
    "open options": "root ::= " + 'a["' * 30_000,
    "quotes": "root ::= " + "a['" * 30_000,
    "spaces": "root ::= " + " " * 30_000 + ";",
    "comments": "root ::= " + "# # " * 30_000 + "\n;",
    "comment lines": "#\n" * 30_000 + ";",
    "backslashes": "root ::= '" + "\\" * 30_000,
    "undefined names": "root ::= " + " ".join(f"x{i}" for i in range(10_000)),
    "counts": "root ::= 'a'" + "{1" * 30_000,
    "long name": "root ::= " + "x" * 100_000,
    "names and spaces": "root ::= " + ("x" + " " * 300) * 1000 + ";",
    "alternatives": "root ::= " + " | ".join(f"'w{i}'" for i in range(10_000)),
    "rules": "root ::= 'a'\n" + "".join(f"r{i} ::= root\n" for i in range(10_000)),
    "empty alternatives": "root ::= " + "|" * 30_000,
    "tildes": "root ::= " + "~" * 30_000 + "'a'",
    "tokens": "root ::= Token(" + "1," * 30_000 + "1)",
    "open macros": "root ::= " + "Token(" * 30_000,
    "many tags": "root ::= TagDispatch(" + ",".join(f"('<t{i}>', root)" for i in range(1_000)) + ")",
    "doubling rules with options": "root[lazy] ::= a0\n"
    + "".join(f"a{i} ::= a{i + 1} a{i + 1}\n" for i in range(60))
    + "a60 ::= 'x'",
    "a deep chain with options": "root[lazy] ::= a0\n"
    + "".join(f"a{i} ::= 'x' | 'y' a{i + 1}\n" for i in range(30_000))
    + "a30000 ::= 'x'",
    "a chain with options": "root[lazy] ::= a0\n"
    + "".join(f"a{i} ::= a{i + 1} 'y'\n" for i in range(3_000))
    + "a3000 ::= 'x'",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_grammars_end_at_once(source: str) -> None:
    lengths: list[int] = []
    assert processor_seconds(lambda: lengths.append(length_of_error(source))) < 3  # usually far below one second
    assert lengths[0] < 600


def length_of_error(source: str) -> int:
    try:
        ebnf_to_ir(source)
    except (EbnfSyntaxError, LimitError) as error:
        return len(str(error))
    return 0


def test_nesting_is_limited_by_a_typed_error() -> None:
    with pytest.raises(LimitError) as info:
        ebnf_to_ir("root ::= " + "(" * 200 + ")" * 200)
    assert info.value.limit == "ebnf depth"
    assert ebnf_to_ir("root ::= " + "(" * 90 + "'a'" + ")" * 90).dump() == 'root ::= "a"'


def test_fifty_rules_are_quick() -> None:
    source = "\n".join(
        f'rule{i} ::= "lit{i}" rule{(i + 1) % 50} ("," [a-z0-9_] rule{i * 7 % 50})* | [^"\\\\]{{1,8}} # c\n  | "x"?'
        for i in range(50)
    )
    assert len(ebnf_to_ir(source, "rule0").rules) == 50
    assert processor_seconds(lambda: ebnf_to_ir(source, "rule0"), runs=5) < 0.05  # about 1.5 ms on an idle core


@pytest.mark.parametrize(
    ("head", "rule"),
    [("b[max_tokns=3] ::= 'c'", "b"), ("b[lazy ::= 'c'", "b"), ("b[max_tokens=: ::= 'c'", "b"), ("a ::= 'c'", "a")],
)
def test_errors_at_the_head_of_a_rule_name_it(head: str, rule: str) -> None:
    with pytest.raises(EbnfSyntaxError) as info:
        ebnf_to_ir(f"root ::= a\na ::= 'x'\n{head}\n")
    assert (info.value.rule, info.value.line) == (rule, 3)


def test_a_count_without_bounds_and_the_largest() -> None:
    assert ebnf_to_ir('root ::= "a"{,}') == ebnf_to_ir('root ::= "a"*')
    assert ebnf_to_ir('root ::= "a"{2147483647}') != ebnf_to_ir('root ::= "a"*')


def test_the_escape_of_a_question_mark() -> None:
    assert ebnf_to_ir(r'root ::= "\?"') == ebnf_to_ir('root ::= "?"')


def test_what_gbnf_files_have() -> None:
    """Names that begin with a digit, as those that llama.cpp makes of JSON Schemas, and escaped brackets."""
    grammar = ebnf_to_ir(r"""
root ::= "\[" 1st-kv "\]"
1st-kv ::= "\"1st\":" 2
2 ::= [0-9]{2}
""")
    assert grammar.dump() == 'root ::= "[" 1st-kv "]"\n1st-kv ::= "\\"1st\\":" 2\n2 ::= [0-9]{2}'
    assert ebnf_to_ir('root ::= Distinct(1st, ",")\n1st ::= [a-z]').dump().startswith("root ::= ")
    with pytest.raises(EbnfSyntaxError, match="a backslash is written twice"):
        ebnf_to_ir(r'root ::= Regex("\[a\]")')  # a string without backslashes would be a class


@pytest.mark.parametrize("body", ["a.b", 'a."z"', "a..", "a.undefined"])
def test_a_dot_is_part_of_a_name(body: str) -> None:
    with pytest.raises(EbnfSyntaxError, match=r"rule 'a\..* is not defined\n  hint: put a space before \."):
        ebnf_to_ir(f'root ::= {body}\na ::= "x"\nb ::= "y"')
