"""Lark: what grammars mean beside their text, what is refused, where and with which advice.

What each construct admits is in tests/corpus/lark.toml.
"""

from __future__ import annotations

import re

import pytest

from maskwright import Grammar, SchemaWarning
from maskwright.errors import LarkSyntaxError, LimitError, SchemaError, UnsatisfiableError, UnsupportedSchemaError
from maskwright.frontends.lark import lark_to_ir
from oracle.accepting import AB, STOP, THINK, accepts, check
from timing import processor_seconds


def test_tokens() -> None:
    grammar = Grammar.from_lark('start: <think> /[a-c]*/ <[97,98]> <[*]>\n%ignore " "')
    assert accepts(grammar, [THINK, AB, 97, THINK])
    assert accepts(grammar, [THINK, 32, 32, 99, 32, 98, 99, 32])
    assert not accepts(grammar, [THINK, 97, STOP])
    assert not accepts(grammar, [*b"<think>", 97, 97])


def test_side_grammars() -> None:
    number, either = Grammar.from_regex("[0-9]+"), Grammar.from_ebnf('root ::= "x" | "y"')
    grammar = Grammar.from_lark(
        'start: @number "," @number | _INDENT\n%ignore " "\n%declare _INDENT',
        grammars={"number": number, "_INDENT": either},
    )
    check(grammar, ["1,2", "12 , 3 ", "x", "y "], ["1 2,3", ",", "1"])


def test_modules() -> None:
    modules = {"shapes": '%import common.INT\nsize: INT UNIT\nUNIT: "px"', "loop": "%import loop.a\na: b"}
    check(Grammar.from_lark("%import .shapes.size -> s\nstart: s", modules=modules), ["12px"], ["12"])
    changed = '%import shapes (size, UNIT)\n%override UNIT: "cm"\nstart: size'
    check(Grammar.from_lark(changed, modules=modules), ["12cm"], ["12px"])
    with pytest.raises(LarkSyntaxError, match="imports itself"):
        Grammar.from_lark("%import loop.a\nstart: a", modules=modules)


def test_any_start() -> None:
    check(Grammar.from_lark('a: "x" b\nb: "y"', "b"), ["y"], ["xy"])


# source, part of the message, line, column, part of the hint
ERRORS = [
    ('start: "a', "unterminated", 1, 8, 'add "'),
    ("start: 'a\n", "unterminated", 1, 8, "add '"),
    ("start: /a", "unterminated", 1, 8, "\\/"),
    ("start: /a\nb/", "must end on its line", 1, 8, "add /"),
    ('start: ("a"', "unclosed", 1, 8, "add )"),
    ('start: ["a")', "unclosed", 1, 8, "add ]"),
    ('start: a{"x"\na{y}: y', "unclosed", 1, 9, "add }"),
    ('start: "a")', "unmatched", 1, 11, ""),
    ("start: *", "nothing to repeat", 1, 8, ""),
    ('start: ~ * "a"', "nothing to repeat", 1, 10, ""),
    ('start: "a" | & "b"', "nothing to intersect", 1, 14, "a lookahead stands in a regular expression"),
    ('start: A\nA: "a" &', "nothing to intersect", 2, 8, 'write a & b for what both match, and "" for'),
    ('start: "a" ~', "nothing to complement", 1, 12, ""),
    ('start: "a"{3,2}', "upper bound", 1, 11, ""),
    ('start: "a"~3..2', "upper bound", 1, 11, ""),
    ('start: "a"{}', "malformed repetition", 1, 11, "{n}"),
    ('start: "a"{99999999999}', "count above", 1, 11, ""),
    ('start: "ab".."c"', "malformed range", 1, 12, "one character"),
    ('start: "c".."a"', "malformed range", 1, 11, ""),
    (r'start: "\q"', "unknown or incomplete escape", 1, 9, r"write /\q/"),
    ("start: /a(/", "in the regular expression: the group", 1, 10, "add )"),
    ("start: /(a)\\1/", "back-reference", 1, 12, ""),
    ("start: b\nbb: 'x'", "rule 'b' is not defined", 1, 8, "'bb'"),
    ("start: number\nNUMBER: 'x'", "rule 'number' is not defined", 1, 8, "'NUMBER'"),
    ("start: NAMES\nNAME: 'x'", "terminal 'NAMES' is not defined", 1, 8, "'NAME'"),
    ("start: 'a'\nx: y", "'y' is not defined", 2, 4, ""),
    ("start: 'a'\nX: Y", "'Y' is not defined", 2, 4, ""),
    ("start: 'a'\n\nstart: 'b'", "defined twice", 3, 1, "line 1"),
    ("%import common.INT\nINT: 'x'\nstart: INT", "defined twice", 2, 1, "%override"),
    ("start: 'a' b: 'c'", "line of its own", 1, 12, ""),
    ("Start: 'a'", "mixed case", 1, 1, "lower-case"),
    ("'a'", "expected a rule", 1, 1, "name: body"),
    ("start 'a'", "expected a rule", 1, 1, "name: body"),
    ("start: 'a'\n%foo bar", "unknown statement %foo", 2, 1, "%import"),
    ("start: 'a', 'b'", "unexpected", 1, 11, "|"),
    ("start: = 'b'", "unexpected", 1, 8, "name: body"),
    ("start: 'a'\n%import", "malformed %import", 2, 1, "common.NAME"),
    ("%import common.FOO\nstart: FOO", "'common' has no 'FOO'", 1, 9, ""),
    ("%import other.FOO\nstart: FOO", "no module 'other'", 1, 9, "there are: common"),
    ("%declare\nstart: 'a'", "malformed %declare", 1, 1, ""),
    ("%override b: 'x'\nstart: 'a'", "no 'b' to override", 1, 11, ""),
    ("start: 'a'\n%extend", "needs a definition", 2, 8, "%extend name"),
    ("start: T\nT: 'a' T", "terminal 'T' is recursive", 2, 8, "lower case"),
    ("start: T\nT: b\nb: 'x'", "cannot use the rule 'b'", 2, 4, "upper case"),
    ("start: T\nT: <a>", "a token is not allowed in a terminal", 2, 4, "rule"),
    ("start: a\na{x}: x", "'a' is a template", 1, 8, "a{x}"),
    ("start: a{'x', 'y'}\na{x}: x", "takes 1 argument, not 2", 1, 8, ""),
    ("start: a{'x'}\na: 'b'", "not a template", 1, 8, ""),
    ("start: @foo", "no grammar 'foo' was supplied", 1, 8, "grammars={"),
    ("start: p::x(\np::_: 'a'", "malformed parameter", 2, 2, "bit_clear(3)"),
    ("start: 'a' %if foo(", "malformed parameter", 1, 20, "bit_clear"),
    ("start: a\na[max_tokens=x]: 'x'", "option max_tokens takes a whole number from 0", 2, 3, ""),
    ("start: a\na[temperature=101]: 'x'", "option temperature takes a number from 0", 2, 3, ""),
    ("start: a\na[foo=0.5]: 'x'", "unknown rule option 'foo'", 2, 3, "known"),
    ("start: a\na[lazy]: a 'x'", "cannot use the rule 'a'", 2, 10, ""),
    ("start: a\na[stop=X]: 'x'", "'X' is not defined", 2, 3, ""),
    ('start: %regex {"substring_chars": "a\\ud800"}', "a lone surrogate is not a character", 1, 8, "pair"),
    ('start: %regex {"foo": 1}', "malformed %regex", 1, 8, "substring_words"),
    ('start: %json {"foo": }', "not valid JSON", 1, 22, ""),
    ("start: %lark { start: 'a'", "unclosed %lark", 1, 26, "add }"),
    ("start: <[x]>", "malformed token literal", 1, 8, "ids"),
    ('start: "a"\n%llguidance {"ignor_once": true}', "unknown grammar option 'ignor_once'", 2, 1, "did you mean"),
    ('start: "a"\n%llguidance {"x": 1}', "unknown grammar option 'x'", 2, 1, "the options are: allow_initial_skip"),
    ('start: "a"\n%grammar_options {"ignore_once": 1}', "ignore_once must be true or false", 2, 1, ""),
    ('%llguidance {"skip_repetition": "x"}\nstart: "a"', 'skip_repetition must be "once"', 1, 1, "leave it out"),
    ('start: "a"\n%llguidance 3', "grammar options must be an object", 2, 1, ""),
    ("start: %json [1]", "%json must be followed by a JSON object, true or false", 1, 8, "%json {"),
    ("start: x::0\nx[capture]::_[lazy]: 'a'", "options are given in two places", 2, 14, "name::_["),
    ('start: A\nA: %regex {"substring_chars": "a"} & /a/', "%regex cannot be combined with &", 2, 4, "sequences"),
    ('start: A\nA: ~%regex {"substring_chars": "a"}', "%regex cannot be combined with &", 2, 5, ""),
    ("start: A\nA: %json {}", "other than %regex is not allowed in a terminal", 2, 4, "rule"),
]


@pytest.mark.parametrize(("source", "message", "line", "column", "hint"), ERRORS)
def test_errors_say_what_and_where(source: str, message: str, line: int, column: int, hint: str) -> None:
    with pytest.raises(LarkSyntaxError, match=re.escape(message)) as info:
        lark_to_ir(source)
    error = info.value
    assert (error.line, error.column) == (line, column), error
    assert hint in (error.hint or "")
    assert "\n    " in str(error)


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("start: 'a'\nb: c", "b"),
        ("start: 'a'\nB: /(/\nc: 'd'", "B"),
        ("start: 'a'\nb: (", "b"),
        ("start: 'a'\n%ignore X\n", None),
        ("%ignore X\nstart: 'a'", None),
        ("start: %json {}\n  X", "start"),
        ("start: 'a'\nb: 'b'\nc[max_tokns=3]: 'c'", "c"),
        ("start: 'a'\nb: 'b'\nc[max_tokens=: 'c'", "c"),
        ("start: 'a'\nb: 'b'\nc[lazy: 'c'", "c"),
        ("start: 'a'\nb: 'b'\nc{x: 'c'", "c"),
        ("start: 'a'\nb: 'b'\nC::_: 'c'", "C"),
        ("start: 'a'\nb: 'b'\nb: 'c'", "b"),
        ("start: 'a'\nb: 'b'\nBc: 'c'", "Bc"),
        ("start: 'a'\nb: 'b' a [", "b"),
        ("start: 'a'\nb: 'b'\n  a[ 'c'", "b"),
    ],
)
def test_errors_name_the_rule(source: str, rule: str | None) -> None:
    with pytest.raises(LarkSyntaxError) as info:
        lark_to_ir(source)
    assert info.value.rule == rule


def test_errors_without_a_place() -> None:
    with pytest.raises(LarkSyntaxError, match="no rule 'start'") as info:
        lark_to_ir('a: "x"')
    assert info.value.hint == "the rules are: a; rename one to 'start', or pass start"


def test_nothing_to_generate() -> None:
    from oracle.accepting import COMPILER

    with pytest.raises(UnsatisfiableError):
        COMPILER.compile_lark('start: "a" start')


HOSTILE = {
    "open groups": "start: " + "(" * 30_000,
    "nested groups": "start: " + "(" * 30_000 + '"a"' + ")" * 30_000,
    "open options": "start: " + "[" * 30_000,
    "repeated repeats": "start: 'a'" + "~2" * 30_000,
    "tildes": "start: " + "~" * 30_000 + '"a"',
    "NUL bytes": "\0" * 30_000,
    "NUL bytes in a literal": "start: '" + "\0" * 30_000 + "'",
    "quotes": "start: " + "a'" * 30_000,
    "slashes": "start: " + "/ " * 30_000,
    "spaces": "start: " + " " * 100_000 + ";",
    "comments": "start: 'a'" + " // c\n" * 30_000 + ";",
    "braces": "start: " + "a{" * 30_000,
    "nested larks": "start: " + "%lark { start: " * 30_000,
    "nested JSON": "start: %json " + '{"a":' * 100_000,
    "open headers": "start" + "[lazy" * 30_000,
    "undefined names": "start: " + " ".join(f"x{i}" for i in range(10_000)),
    "chain of rules": "start: r0\n" + "\n".join(f"r{i}: r{i + 1}" for i in range(20_000)) + "\nr20000: 'a'",
    "chain of terminals": "start: R0\n" + "\n".join(f"R{i}: R{i + 1}" for i in range(20_000)) + "\nR20000: 'a'",
    "deep terminals": "start: R0\n" + "\n".join(f"R{i}: R{i + 1} | 'b'" for i in range(20_000)) + "\nR20000: 'a'",
    "doubling terminals": "start: R0\n" + "\n".join(f"R{i}: R{i + 1} R{i + 1}" for i in range(60)) + "\nR60: 'a'",
    "doubling products": "start: R0\n" + "\n".join(f"R{i}: R{i + 1} & R{i + 1}+" for i in range(60)) + "\nR60: 'a'",
    "growing templates": 'start: t{"a"}\nt{x}: t{x x} | x',
    "doubling templates": "\n".join(f"t{i}{{x}}: t{i + 1}{{x x}}" for i in range(200)) + "\nt200{x}: x\nstart: t0{'a'}",
    "alternatives": "start: " + " | ".join(f"'w{i}'" for i in range(10_000)),
    "empty alternatives": "start: " + "|" * 30_000,
    "parameters": "start: a::" + "f(" * 30_000,
    "conditions": "start: 'a' %if " + "f(" * 30_000,
    "long substring": 'start: %regex {"substring_chars": "' + "ab" * 60_000 + '"}',
    "many imports": "%import common (" + "INT, " * 20_000 + "INT)\nstart: INT",
    "an import that is not closed": "%import common (" + "a" * 30_000,
    "imports without commas": "%import common (" + "a " * 30_000,
    "spaces after a name": "start: x" + " " * 100_000 + ";",
    "names and spaces": "start: " + ("x" + " " * 300) * 1000 + ";",
    "open brackets after a name": "start" + " [" * 30_000,
    "open headers in a body": "start: " + "x [a, " * 5_000,
    "prefixes": "start: 'a'\n" + "?" * 30_000 + "x: y",
    "a long parameter": "start: a::f(" + "x" * 100_000,
    "a long token literal": "start: <" + "a" * 100_000,
    "lone surrogate": "start: '\ud800'",
    "long name": "start: " + "x" * 100_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_grammars_end_at_once(source: str) -> None:
    lengths: list[int] = []
    assert processor_seconds(lambda: lengths.append(length_of_error(source))) < 3  # usually far below one second
    assert lengths[0] < 600


def length_of_error(source: str) -> int:
    try:
        lark_to_ir(source)
    except (LarkSyntaxError, LimitError) as error:
        return len(str(error))
    return 0


@pytest.mark.parametrize(
    ("schema", "error", "pointer"),
    [
        ('{"items": {"type": "strin"}}', SchemaError, "at #/items/type: type must be"),
        (
            '{"items": {"maxItems": 2}, "uniqueItems": true}',
            UnsupportedSchemaError,
            "at #/uniqueItems: uniqueItems cannot",
        ),
        ('{"type": "string", "enum": [1]}', UnsatisfiableError, '#/type ("string")'),
    ],
)
def test_errors_in_a_schema_say_in_which_one(schema: str, error: type[SchemaError], pointer: str) -> None:
    for source in (f"start: %json {{}}\n   | %json {schema}", f"start: %lark {{ start: b\n  b: %json {schema}\n}}"):
        with pytest.raises(error) as info:
            lark_to_ir(source)
        assert (info.value.line, info.value.column) == (2, 6)
        assert str(info.value).startswith("2:6: ")
        assert pointer in str(info.value)


def test_what_is_reported_of_a_schema_says_in_which_one() -> None:
    with pytest.warns(SchemaWarning, match=r"at #/min: .*'minimum'\? \(in the %json at 2:5\) \(and 1 more"):
        grammar = Grammar.from_lark('start: %json {"x-a": 1}\n  | %json {"min": 3} | %json {"min": 3}')
    assert [(found.pointer, found.reason.partition("(")[2]) for found in grammar.report] == [
        ("/x-a", "in the %json at 1:8)"),
        ("/min", "in the %json at 2:5)"),
        ("/min", "in the %json at 2:24)"),
    ]
