"""What people write that belongs to other notations: the hint says what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maskwright import Grammar, GrammarError

EBNF = [
    ("grammars/my.gbnf", "looks like a file name"),
    ("./my.ebnf", "looks like a file name"),
    ('root := "a"', "write root ::= body"),
    ('root = "a"', "write root ::= body"),
    ('root: "a"', "looks like Lark"),
    ('{"type": "object"}', "looks like JSON"),
    ('root -> "a"', "write root ::= body"),
    ('<root> ::= "a"', "without < and >"),
    ('%ignore " "', "use compile_lark, or Grammar.from_lark"),
    ('root ::= "a"\n%ignore " "', "use compile_lark, or Grammar.from_lark"),
    ('root ::= "a" / "b"', "separate alternatives with |"),
    ("root ::= /a/", "Regex"),
    ('root ::= "a", "b"', "without commas"),
    ('root ::= "a";', "remove the semicolon"),
    ('root ::= {"a"}', "any number of times"),
    ('root ::= "a" // x', "a comment begins with #"),
    ('root ::= "a" /* x */', "a comment begins with #"),
    ("root ::= “a”", "straight quotes"),
    ("root ::= $x", "write text in quotes"),
    (r"root ::= \d+", "regular expression in Regex"),
    ("root ::= 5", "write text in quotes"),
    ("root ::= @x", "is Lark syntax"),
    (r"root ::= [\p{L}]", r'Regex("\\p'),
    ("root ::= [[:alpha:]]", 'Regex("[[:alpha:]]")'),
    ("root ::= Token()", "Token(1"),
    ('expr ::= "a"', "pass root_rule_name"),
    ("root ::= yes", "put text in quotes"),
    ("[a-z]+", "for a regular expression, use compile_regex"),
    (r'root ::= Regex("\d+")', r'write "\\d+": in quotes, a backslash is written twice'),
    (r"root ::= Regex('a\.\'')", r"write 'a\\.\'': in quotes"),
    (r'root ::= "\d+"', r'write Regex("\\d+") for a regular expression'),
    (r'root ::= "a\.b"', r'write . without a backslash, Regex("a\\.b")'),
    (r'root[stop="\d"] ::= "a"', r"write /\d/"),
    ('root ::= TagDispatsh(("<a>", r))\nr ::= "b"', "did you mean TagDispatch?"),
    ('root ::= Regexp("a", flags="i")', "did you mean Regex?"),
    ('root ::= regex("a")', "did you mean Regex?"),
    ('root ::= itm("a")\nitem ::= "b"', "did you mean 'item'?"),
    ('a[stop="\n"] ::= "x"', "write a line break as \\n"),
    ('root[lazy ::= "a"', "close the brackets"),
    ('root ::= "a"i', 'write Regex("…", flags="i")'),
    ('root ::= "a" - "b"', "write a & ~b"),
    ('root ::= "a" (* x *)', "a comment begins with #"),
    ('(* x *)\nroot ::= "a"', "a comment begins with #"),
    ('// x\nroot ::= "a"', "a comment begins with #"),
    ('[1] root ::= "a"', "leave out the number of the rule"),
    ('root ::= a\n[2a] a ::= "a"', "leave out the number of the rule"),
    ("root ::= [#x20-#x7E]*", r"write [\x20-\x7E]"),
    ('root ::= (?i)"a"', 'belong to regular expressions: write Regex("…")'),
    ('```\nroot ::= "a"', "leave out the lines with ```"),
    ('root ::= "a"\n```', "leave out the lines with ```"),
    ("root ::= é", "letters of ASCII"),
]
LARK = [
    ('start[lazy: "a"', "close the brackets"),
    ('start: "a"I', "write i in lower case"),
    ("start: /a/g", "the flags of a regular expression are i, m, s, x and a"),
    ("start: /a/I", "the flags of a regular expression are i, m, s, x and a"),
    ('start: "a" /* x */', "a comment begins with // or #"),
    ('start: "a" (* x *)', "a comment begins with // or #"),
    ("start: (?:a)", "belong to regular expressions: write /…/"),
    ('start: "a", "b"', "without commas"),
    ('```lark\nstart: "a"', "leave out the lines with ```"),
    ("start: /a/ .. /z/", 'a range is written "a".."z"'),
    ("import common.INT\nstart: INT", "write %import"),
    ("ignore WS\nstart: 'a'", "write %ignore"),
    ("%import common.INT as N\nstart: N", "write -> for another name"),
    ("%import python.NAME\nstart: NAME", "pass others as modules={name: text}"),
    ("start: é", "letters of ASCII"),
    ("my.lark", "looks like a file name"),
    ("./grammars/my.lark", "looks like a file name"),
    ("start: NUMBER", "%import common.NUMBER"),
    ('start ::= "a"', "looks like EBNF"),
    ('{"type": "object"}', "looks like JSON"),
    ('start = "a"', "write start: body"),
    ('start := "a"', "a rule is written name: body"),
    ('start: "a";', "remove the semicolon"),
    ("start: “a”", "straight quotes"),
    ("start: 5", "write text in quotes"),
    ("start: $x", "regular expression in /…/"),
    ('start: "a"~', "~2 or ~1..3"),
    ('start: "a" ->', "write -> name"),
    ("start: %json", "write %json {…}"),
    ("%ignore\nstart: 'a'", "write %ignore NAME"),
    ("%import common\nstart: 'a'", "write %import module.name"),
    ("%import common.FOO\nstart: FOO", "it has: DIGIT"),
    ("start: x{'a'}\nx: 'b'", "define it as x{x}"),
    ("start: x{'a'}\nx{a, b}: a b", "write x{a, b}"),
    ("expr: 'a'", "or pass start"),
    ("START: 'a'", "in lower case"),
    (r'start: "\d+"', r"write /\d+/ for a regular expression"),
    ("start: [a-z]+", "write /[a-z]+/"),
    ("start: [A-Z]+", "write /[A-Z]+/"),
    ("start: A\nA: [A-Z]", "write /[A-Z]/"),
    ("start: [0-9]{3}", "write /[0-9]{3}/"),
    ("start: [_a-z]*", "write /[_a-z]*/"),
    ('start: [^"]*', 'write /[^"]*/'),
    ("start: [.,]", "write /[.,]/"),
    ("start: [a-z/]", r"write /[a-z\/]/"),
    ("start: [my-rule]", "define it"),
    ("start: .*", "write any character as /./"),
]


@pytest.mark.parametrize(("source", "hint"), EBNF)
def test_ebnf(source: str, hint: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_ebnf(source)
    assert hint in (info.value.hint or "")


@pytest.mark.parametrize(("source", "hint"), LARK)
def test_lark(source: str, hint: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_lark(source)
    assert hint in (info.value.hint or "")


@pytest.mark.parametrize("source", ['root ::= "\\q"', "root ::= [\\q]", "root ::= <[x]>", "root[foo] ::= 'a'"])
def test_errors_in_ebnf_name_the_rule(source: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_ebnf(source)
    assert info.value.rule == "root"
    assert "in 'root': " in str(info.value)


@pytest.mark.parametrize("source", ['start: "\\q"', "start: <[x]>", "start[foo]: 'a'"])
def test_errors_in_lark_name_the_rule(source: str) -> None:
    with pytest.raises(GrammarError) as info:
        Grammar.from_lark(source)
    assert info.value.rule == "start"


@pytest.mark.parametrize(
    ("read", "source"),
    [(Grammar.from_ebnf, 'root ::= a\na[stop="\n"] ::= "x"'), (Grammar.from_lark, 'start: a\na[stop="\n"]: /.*/')],
)
def test_options_that_do_not_end_on_their_line_name_their_rule(read: Callable[[str], Grammar], source: str) -> None:
    with pytest.raises(GrammarError) as info:
        read(source)
    assert (info.value.rule, info.value.line) == ("a", 2)


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert Grammar.from_ebnf('\ufeffroot ::= "a"') == Grammar.from_ebnf('root ::= "a"')
    assert Grammar.from_lark('\ufeffstart: "a"') == Grammar.from_lark('start: "a"')
    assert Grammar.from_json_schema('\ufeff{"type": "null"}') == Grammar.from_json_schema({"type": "null"})
    tag = '{"format": {"type": "const_string", "value": "a"}}'
    assert Grammar.from_structural_tag("\ufeff" + tag) == Grammar.from_structural_tag(tag)
