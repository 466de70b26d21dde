"""Regular expressions that are meant as grammars or schemas: a warning, but for what may well be meant."""

from __future__ import annotations

import warnings

import pytest

from maskwright import Grammar, GrammarWarning, RegexSyntaxError, lint

MEANT_OTHERWISE = [
    ('root ::= "a"', "EBNF", "compile_grammar"),
    ('# a comment\nroot ::= "a"', "EBNF", "compile_grammar"),
    ('start: "a"', "Lark", "compile_lark"),
    ("start: /[a-z]+/", "Lark", "compile_lark"),
    ('start: item\nitem: "b"', "Lark", "compile_lark"),
    ("%import common.INT\nstart: INT", "Lark", "compile_lark"),
    ('{"type": "object"}', "a JSON Schema", "compile_json_schema"),
    ('{"type": "structural_tag"}', "a structural tag", "compile_structural_tag"),
]
REAL = [
    r'root \::= "a"',
    r'start\: "a"',
    r"\%import x",
    r'\{"type": "object"}',
    "start: [0-9]+",
    'start: "[a-z]+", x',
    '{"name": "[a-z]+"}',
    r"\w+ ::= .*",
    "[a-z]+",
    "",
]


@pytest.mark.parametrize(("pattern", "language", "way_out"), MEANT_OTHERWISE)
def test_another_language_is_warned_of(pattern: str, language: str, way_out: str) -> None:
    with pytest.warns(GrammarWarning, match=f"this looks like {language}, but") as issued:
        grammar = Grammar.from_regex(pattern)
    assert way_out in str(issued[0].message)
    assert Grammar.deserialize(grammar.serialize()).warnings[0].message == grammar.warnings[0].message
    assert [problem.rule for problem in lint(grammar).problems] == ["root"]


@pytest.mark.parametrize(("pattern", "language", "way_out"), MEANT_OTHERWISE)
def test_the_hint_says_how_to_match_the_very_text(pattern: str, language: str, way_out: str) -> None:
    with pytest.warns(GrammarWarning) as issued:
        Grammar.from_regex(pattern)
    warning = issued[0].message
    assert isinstance(warning, GrammarWarning)
    escaped = (warning.hint or "").rpartition("write ")[2].partition(" for ")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Grammar.from_regex(pattern.replace(escaped[1:], escaped))


def test_what_is_no_regular_expression_either_is_told_where_to_go() -> None:
    with pytest.raises(RegexSyntaxError, match="nothing to repeat") as caught:
        Grammar.from_regex('root ::= ("a" |*)')
    assert (caught.value.line, caught.value.column) == (1, 16)
    assert caught.value.hint == "this looks like EBNF: use compile_grammar, or Grammar.from_ebnf"


@pytest.mark.parametrize("pattern", REAL)
def test_real_regular_expressions_are_not(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Grammar.from_regex(pattern).warnings == ()
