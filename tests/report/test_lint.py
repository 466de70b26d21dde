"""What `lint` finds, and that it ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from maskwright import ArgumentError, Grammar, GrammarCompiler, SchemaError, TokenizerInfo, check, grammars, lint
from maskwright.ir import EMPTY, GrammarIR, Rule, alt, call, capture, guard, never, ref, seq, text
from maskwright.ir.parameters import compare, increment
from timing import processor_seconds

COMPILER = GrammarCompiler(TokenizerInfo.from_vocab(["a", "</s>"], stop_token_ids=[1]))
CASES = [
    ('root ::= "a" root | ""', []),
    ('root ::= "a" root', ["unproductive root"]),
    ('root ::= a | "x"\na ::= b "y"\nb ::= a', ["unproductive a", "unproductive b"]),
    ('root ::= "x"\na ::= b\nb ::= a', ["unused a", "unused b"]),
    ("root ::= root | 'a'", ["cycle root"]),
    ("root ::= a?\na ::= b b\nb ::= a | ''", ["cycle a", "cycle b"]),
    ("root ::= a 'x'\na ::= b\nb ::= 'y'", []),
    ("root ::= (root 'x'?)* 'y'?", ["cycle root"]),
    ("root ::= root 'x' | 'y'", []),
    ("root ::= <think> a\na ::= <b>", []),
    ("root ::= a{2}\na ::= root | 'x'", []),
]


@pytest.mark.parametrize(("source", "problems"), CASES)
def test_problems(source: str, problems: list[str]) -> None:
    assert [f"{p.kind} {p.rule}" for p in lint(Grammar.from_ebnf(source)).problems] == problems


def test_a_declared_terminal_that_nobody_supplied() -> None:
    report = lint(Grammar.from_lark('start: "a" | _INDENT\n%declare _INDENT'))
    assert [(p.kind, p.rule) for p in report.problems] == [("unproductive", "_INDENT")]
    assert "supply a grammar" in report.problems[0].hint


def test_figures() -> None:
    report = lint(Grammar.from_ebnf('root ::= "(" root ")" | a <b>\na ::= [0-9]+\nunused ::= root'))
    assert report.statistics == (3, report.statistics.expressions, 1, 1)
    assert report.statistics.expressions > 5


def test_ready_grammars_are_clean() -> None:
    from maskwright import grammars

    for name in grammars.NAMES:
        problems = [p for p in lint(grammars.load(name)).problems if p.kind != "unused" or not p.rule.isupper()]
        assert not problems, name


def test_large_grammars_end_at_once() -> None:
    count = 20_000
    chain = [Rule(f"r{i}", seq(text("a"), ref(i + 1))) for i in range(count)] + [Rule("last", EMPTY)]
    cycle = [Rule(f"c{i}", alt(ref((i + 1) % count), never())) for i in range(count)]
    for rules in (chain, cycle, chain[::-1]):
        grammar = Grammar(GrammarIR(tuple(rules), 0))
        assert processor_seconds(partial(lint, grammar)) < 3


def test_rules_with_a_parameter_and_captures() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
    assert {p.kind for p in lint(Grammar.from_json_schema(schema, any_order=True)).problems} <= {"unused"}
    captured = GrammarIR((Rule("r", capture("x", seq(text("a"), guard(compare("<", 2), call(1, increment()))))),
                          Rule("s", alt(guard(compare("==", 1), text("b")), call(1, increment())))), 0)  # fmt: skip
    report = lint(Grammar(captured))
    assert not report.problems
    assert (report.statistics.rules, report.statistics.recursive_rules) == (2, 1)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"type": "string"}, "for a JSON Schema, use maskwright.check"),
        ('root ::= "a"', "make one with Grammar.from_ebnf or Grammar.from_lark"),
        (COMPILER.compile_regex("a"), "pass its grammar attribute"),
    ],
)
def test_what_is_not_a_grammar_is_refused_with_what_to_do(given: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match="grammar must be a Grammar, not") as caught:
        lint(given)
    assert caught.value.hint == hint


def test_check_leads_from_a_grammar_to_lint() -> None:
    with pytest.raises(SchemaError, match=r"maskwright\.lint looks for mistakes in a grammar"):
        check(Grammar.from_regex("a"))


HINTS = [
    ('root ::= root "+" root | [0-9]', ["ambiguous root"]),
    ('root ::= [0-9] ("+" [0-9])*', []),
    ('root ::= ("a"?)*', ["ambiguous root"]),
    ('root ::= item* "x"\nitem ::= "a"*', ["ambiguous root"]),
    ('root ::= ws item ws\nitem ::= "a" ws\nws ::= [ \\n]*', ["ambiguous root"]),
    ('root ::= ws item\nitem ::= "a" ws\nws ::= [ \\n]*', []),
    ('root ::= list tail\nlist ::= item+\nitem ::= "a" ws\ntail ::= ws "b"\nws ::= [ ]*', ["ambiguous root"]),
    ("root ::= (('a' | 'b'){2,100}){2,100}", ["costly root"]),
    ("root ::= (('a' | 'b'){100}){2,100}", []),
    ('root ::= "x"\nunused ::= unused unused | ("a"?)*', []),
]


@pytest.mark.parametrize(("source", "expected"), HINTS)
def test_hints(source: str, expected: list[str]) -> None:
    report = lint(Grammar.from_ebnf(source))
    assert [f"{hint.kind} {hint.rule}" for hint in report.hints] == expected
    assert all(hint.hint for hint in report.hints)


@pytest.mark.parametrize("name", grammars.NAMES)
def test_ready_grammars_have_no_cycles(name: str) -> None:
    assert not [problem for problem in lint(grammars.load(name)).problems if problem.kind != "unused"]


def test_a_report_is_printed_as_the_command_line_shows_it() -> None:
    assert str(lint(Grammar.from_ebnf('root ::= "x"\nb ::= "z"'))) == (
        "unused: rule 'b' is never used\n  hint: remove it, or use it\n"
        "1 rule (0 recursive), 1 expression, 0 token sets, 1 problem"
    )
    with pytest.warns(match="in quotes"):
        grammar = Grammar.from_ebnf(r'root ::= "\\d+"')
    assert str(lint(grammar)).startswith("1:10: warning: ")
