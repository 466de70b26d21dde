"""Constraints that have no effect: which are found, which are not, and that the advice works.

That ordinary grammars are not warned of shows in all other tests, where warnings are errors: tests/corpus, the ready
grammars, Lark's own published grammars.
"""

from __future__ import annotations

import warnings

import pytest

from maskwright import Grammar, GrammarCompiler, GrammarWarning, grammars, lint
from oracle.accepting import INFO, accepts, check
from timing import processor_seconds

ARGS = '%json {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}'
RECIPE = f"""
start: ( f_foo | f_bar )* f_end
f_end: TEXT
TEXT: /(.|\\n)*/

f_foo_hd[lazy]: TEXT "<function"
f_foo: f_foo_hd "=foo>" {ARGS} "</function>"

f_bar_hd[lazy]: TEXT "<function"
f_bar: f_bar_hd "=bar>" /[0-9]+/ "</function>"
"""
JSON_RULES = """
value ::= object | string | [0-9]+
object ::= "{" (string ":" value ("," string ":" value)*)? "}"
string ::= "\\"" [^"]* "\\""
"""
# name: language, grammar, the rule and line of the warning, part of the message, the rules that mend it
FOUND = {
    "the recipe": ("lark", RECIPE, "start", 2, "(f_foo | f_bar)*", 'f_end: TEXT & ~(TEXT "<function" TEXT)'),
    "an alternative": (
        "lark",
        f"start: TEXT | call\ncall: {ARGS}\nTEXT: /(.|\\n)*/",
        "start",
        1,
        "the alternative call has no effect: TEXT",
        'start: TEXT & ~("{" TEXT) | call',
    ),
    "lines": (
        "lark",
        f'start: call | /.+/\ncall: "<c>" {ARGS.replace("{", "{", 1)} "</c>"'.replace(
            '"required"', '"x-guidance": {"whitespace_flexible": false}, "required"'
        ),
        "start",
        1,
        "call",
        'TEXT: /.+/\nstart: call | TEXT & ~(TEXT? "<c" TEXT)',
    ),
    "rules by hand": (
        "ebnf",
        f'root ::= text | call\ntext ::= [^]*\ncall ::= "<tool>" object "</tool>"\n{JSON_RULES}',
        "root",
        1,
        "the alternative call has no effect: text",
        'text ::= [^]* & ~([^]* "<tool" [^]*)',
    ),
    "an optional part behind": (
        "ebnf",
        f'root ::= text call?\ntext ::= .*\ncall ::= "<tool>" object\n{JSON_RULES}',
        "root",
        1,
        "call?",
        'text ::= .* & ~(.* "<tool" .*)',
    ),
    "free text that begins with something": (
        "lark",
        f'start: msg ("<c>" {ARGS})*\nmsg: "Answer: " TEXT\nTEXT: /(.|\\n)*/',
        "start",
        1,
        "msg",
        'TEXT: ANY & ~(ANY "<c" ANY)\nANY: /(.|\\n)*/',
    ),
    "white space between": (
        "lark",
        f'start: ("<c>" {ARGS})* WS? TEXT\nTEXT: /(.|\\n)*/\nWS: / +/',
        "start",
        1,
        "TEXT",
        'TEXT: ANY & ~(ANY "<c" ANY)\nANY: /(.|\\n)*/',
    ),
    "recursion": (
        "lark",
        f'start: TEXT | TEXT call start\ncall: "<c>" {ARGS} "</c>"\nTEXT: /(.|\\n)*/',
        "start",
        1,
        "TEXT call start",
        'TEXT: ANY & ~(ANY "<c" ANY)\nANY: /(.|\\n)*/',
    ),
    "ignored white space": (
        "lark",
        f'start: TEXT | call\ncall: "<c>" {ARGS}\nTEXT: /[^\\x00]*/\n%ignore / +/',
        "start",
        1,
        "call",
        'start: TEXT & ~(TEXT "<c" TEXT) | call',
    ),
    "another grammar": (
        "lark",
        'start: TEXT | "[" @list "]"\nTEXT: /(.|\\n)*/',
        "start",
        1,
        "@list",
        'start: TEXT & ~("[" TEXT) | "[" @list "]"',
    ),
    "an argument that is a number": (
        "lark",
        'start: TEXT | "<n>" /[0-9]+/ "</n>"\nTEXT: /(.|\\n)*/',
        "start",
        1,
        "TEXT",
        'start: TEXT & ~(TEXT "<n" TEXT) | "<n>" /[0-9]+/ "</n>"',
    ),
}
SIDE = {"list": Grammar.from_ebnf('root ::= "1" ("," root)?')}


def read(language: str, source: str) -> Grammar:
    if language == "ebnf":
        return Grammar.from_ebnf(source)
    return Grammar.from_lark(source, grammars=SIDE if "@list" in source else None)


def found_in(language: str, source: str) -> tuple[GrammarWarning, ...]:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        grammar = read(language, source)
    assert [w.message for w in issued] == list(grammar.warnings)
    assert all(w.filename == __file__ for w in issued)
    return grammar.warnings


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    language, source, rule, line, message, _ = FOUND[name]
    first = found_in(language, source)[0]
    assert (first.rule, first.line, first.column) == (rule, line, 1)
    assert message in first.message
    assert first.hint
    assert str(first).startswith(f"{line}:1: in {rule!r}: ")


def rewritten(source: str, replacement: str) -> str:
    """The grammar with each rule of the replacement in the place of the rule of that name."""
    for new in replacement.split("\n"):
        name = new.split(" ::=")[0].split(":")[0]
        lines = [line for line in source.split("\n") if not line.startswith((f"{name}:", f"{name} ::="))]
        source = "\n".join([new, *lines])
    return source


@pytest.mark.parametrize("name", FOUND)
def test_the_advice_works(name: str) -> None:
    """Warnings are errors in these tests, so reading it again shows that nothing is found any more."""
    language, source, *_, replacement = FOUND[name]
    read(language, rewritten(source, replacement))


def test_the_rewritten_recipe_holds_arguments() -> None:
    """As a context-free grammar the recipe takes any text; with the advice that it gives, calls are held."""
    good = ['<function=foo>{"x": 1}</function>', "a<function=bar>12</function>b<", "hello", "", "é <func"]
    bad = ["<function=foo>{}</function>", "<function=bar>x</function>", "a <function=baz>", "<function"]
    with pytest.warns(GrammarWarning):
        loose = Grammar.from_lark(RECIPE)
    check(loose, [*good, *bad], [])
    with pytest.warns(GrammarWarning, match=r'TEXT & ~\(TEXT "<function" TEXT\)'):
        Grammar.from_lark(RECIPE)
    advice = Grammar.from_lark(rewritten(RECIPE, 'f_end: TEXT & ~(TEXT "<function" TEXT)'))
    check(advice, [*good, good[0] + "x" + good[1]], [*bad, good[0] + bad[0], bad[1] + good[0]])


def test_the_rewritten_alternative_holds_arguments() -> None:
    grammar = Grammar.from_lark(f'start: TEXT & ~("{{" TEXT) | call\ncall: {ARGS}\nTEXT: /(.|\\n)*/')
    check(grammar, ['{"x": 2}', "no", " {x"], ['{"x": "a"}', "{"])


@pytest.mark.parametrize(
    ("item", "which"), [(f'TEXT "<c>" {ARGS} "</c>"', "last"), (f'"<c>" {ARGS} "</c>" TEXT', "first")]
)
def test_repetitions(item: str, which: str) -> None:
    (warning,) = found_in("lark", f"start: call+\ncall: {item}\nTEXT: /(.|\\n)*/")
    assert f"all repetitions but the {which} are unconstrained" in warning.message
    assert warning.hint is not None
    with pytest.warns(GrammarWarning):
        loose = Grammar.from_lark(f"start: call+\ncall: {item}\nTEXT: /(.|\\n)*/")
    good, garbage = '<c>{"x": 1}</c>', "<c>{}</c>"
    assert accepts(loose, garbage + good) == (which == "last")
    assert accepts(loose, good + garbage) == (which == "first")
    if which == "last":
        assert 'head[lazy]: TEXT "<c"' in warning.hint
        held = Grammar.from_lark(f'start: call+\ncall: head ">" {ARGS} "</c>"\nhead[lazy]: TEXT "<c"\nTEXT: /(.|\\n)*/')
    else:
        assert 'TEXT & ~(TEXT "<c" TEXT)' in warning.hint
        held = Grammar.from_lark(
            f'start: call+\ncall: "<c>" {ARGS} "</c>" (TEXT & ~(TEXT "<c" TEXT))\nTEXT: /(.|\\n)*/'
        )
    check(held, [good, good + good], [garbage + good, good + garbage])


ORDINARY = {
    "keywords beside a name": 'start: NAME | "true" | "false" | NAME "=" "1"\nNAME: /[a-z]+/',
    "text that cannot begin like the call": f"start: TEXT | call\ncall: {ARGS}\nTEXT: /[^{{](.|\\n)*/",
    "special tokens": f"start: TEXT | call\ncall: <think> {ARGS} <think>\nTEXT: /(.|\\n)*/",
    "reasoning": f"start: <think> /(.|\\n)*/ <think> {ARGS}",
    "words beside any text": 'start: "yes" | "no" | /(.|\\n)*/',
    "a heading among lines": 'start: (line "\\n")*\nline: HEADING | LINE\nHEADING: "# " /[^\\n]+/\nLINE: /[^\\n]+/',
    "emphasis among lines": 'start: (part)+\npart: "**" /[^*\\n]+/ "**" | /.+/',
    "an optional number": "start: /[0-9]+/? /(.|\\n)*/",
    "a captured label": 'start: label? TEXT\nlabel[capture]: "Topic: " /[0-9]+/ "\\n"\nTEXT: /(.|\\n)*/',
    "text that is required": f'start: TEXT "<c>" {ARGS}\nTEXT: /(.|\\n)*/',
    "a comment": 'start: call*\ncall: "f(" [/[0-9]+/] ")" COMMENT?\nCOMMENT: "#" /[^\\n]*/ "\\n"',
    "strings": 'start: (STRING | list)\nlist: "[" [start ("," start)*] "]"\nSTRING: "\\"" /[^"]*/ "\\""',
    "lazy heads": f'start: (head "=f>" {ARGS})*\nhead[lazy]: /(.|\\n)*/ "<f"',
    "a bounded text": f"start: TEXT | call\ncall: {ARGS}\nTEXT: /(.|\\n){{0,9}}/",
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_grammars(name: str) -> None:
    assert found_in("lark", ORDINARY[name]) == ()


@pytest.mark.parametrize("name", grammars.NAMES)
def test_ready_grammars(name: str) -> None:
    assert grammars.load(name).warnings == ()


def test_compiling_warns_and_lint_says_the_same() -> None:
    with pytest.warns(GrammarWarning, match=r"2:1: in 'start'") as issued:
        compiled = GrammarCompiler(INFO).compile_lark(RECIPE)
    assert [w.filename for w in issued] == [__file__]
    problems = [p for p in lint(compiled.grammar).problems if p.kind == "warning"]
    assert [(p.rule, p.message, p.hint) for p in problems] == [
        (w.rule, w.message, w.hint) for w in compiled.grammar.warnings
    ]
    assert problems
    joined = Grammar.concat(Grammar.from_regex("a"), compiled.grammar)
    assert joined.warnings == compiled.grammar.warnings


def test_work_is_bounded() -> None:
    """Many rules, branches and long texts beside free text."""
    branches = " | ".join(f'"<a{i}>" r{i}' for i in range(300))
    rules = "\n".join(f'r{i}: "{i}" r{i + 1} | "x"' for i in range(300))
    long = " | ".join(f"/(.|\\n)*{chr(97 + i)}(.|\\n)*/" for i in range(20))
    source = f'start: ({branches})* t\n{rules}\nr300: "z" r0\nt: {long} | /(.|\\n)*/ & ~(/(.|\\n)*/ "<a" /(.|\\n)*/)'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert processor_seconds(lambda: Grammar.from_lark(source)) < 1


def test_work_is_bounded_where_rules_lead_to_each_other_in_many_ways() -> None:
    source = r"""
start: "a" | t{"A".."B"} t{() | r | ~/[ab](?<!a)/ t{/x|y/ ("A" & "ba"i)}}
r: s | r | t{/ab/i} r /ab?/
s: "b" ("A" | /./s) | ("ba"~0..2 | "a".."é") | "é" ("a".."b" "x" /a.b/s) /[ab]/
t{x}: (x | r | ~"\"") | /a/ "A"~1..2 | r /b/~0..2
%ignore /\/\/.*/
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert processor_seconds(lambda: Grammar.from_lark(source)) < 1


DOUBLED = [
    ("lark", 'start: a "<e>"\na[stop="<e>"]: /.*/', "start"),
    ("lark", 'start: "x" a END "y"\na[capture, stop="<e>", stop_capture="q"]: /.*/\nEND: "<e>"\n%ignore " "', "start"),
    ("lark", 'start: b\nb[capture]: a "<e>b"\na[stop="<e>"]: /.*/\n%ignore /#[^\\n]*/', "b"),
    ("ebnf", 'root ::= a "\\n" "x"\na[stop="\\n"] ::= .*', "root"),
]


@pytest.mark.parametrize(("language", "source", "rule"), DOUBLED)
def test_stop_texts_that_come_twice(language: str, source: str, rule: str) -> None:
    (warning,) = found_in(language, source)
    assert warning.rule == rule
    assert warning.line is not None
    assert "must occur twice: a matches it" in warning.message
    assert "remove it after a" in (warning.hint or "")


def test_stop_texts_that_come_once() -> None:
    held = Grammar.from_lark('start: a "b"\na[stop="<e>"]: /.*/')
    check(held, ["foo<e>b"], ["foo<e>", "foob"])
    Grammar.from_lark('start: a "<e>"\na[suffix="<e>"]: /.*/')  # which keeps it everywhere
    Grammar.from_ebnf('root ::= a? "<" "x"\na[stop="<e>"] ::= .*')
    with pytest.warns(GrammarWarning):
        doubled = Grammar.from_lark('start: a "<e>"\na[stop="<e>"]: /.*/')
    check(doubled, ["foo<e><e>"], ["foo<e>"])
