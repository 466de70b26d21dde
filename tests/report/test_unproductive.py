"""Grammars that admit nothing: the error names the rule that is the reason, and where it stands."""

from __future__ import annotations

import pytest

import maskwright as mw

INFO = mw.TokenizerInfo.from_vocab([bytes((byte,)) for byte in range(256)] + [b"</s>"], stop_token_ids=[256])
COMPILER = mw.GrammarCompiler(INFO)
AGAIN = "each alternative needs"


@pytest.mark.parametrize(
    ("text", "rule", "place", "message"),
    [
        ('root ::= "a" root', "root", (1, 1), f"{AGAIN} 'root' again"),
        ('root ::= "a" x\n\n  x ::= "b" x | x', "x", (3, 3), f"{AGAIN} 'x' again"),
        ('root ::= ok x\nok ::= "a"\nx ::= "b" y\ny ::= "c" x', "y", (4, 1), f"{AGAIN} 'x' again"),
        ("root ::= x\nx ::= [0-9]+ & [a-z]+", "x", (2, 1), "no text matches this rule"),
    ],
)
def test_ebnf(text: str, rule: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(mw.UnsatisfiableError, match=message) as raised:
        COMPILER.compile_grammar(text)
    error = raised.value
    assert (error.rule, (error.line, error.column)) == (rule, place)
    assert error.hint


def test_lark() -> None:
    with pytest.raises(mw.UnsatisfiableError, match=f"{AGAIN} 'list' again") as raised:
        COMPILER.compile_lark('start: "[" list "]"\n?list: item ","  list\nitem: "a"')
    assert (raised.value.rule, raised.value.line, raised.value.column) == ("list", 2, 2)


def test_a_grammar_in_a_structural_tag() -> None:
    tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": 'root ::= x\nx ::= "b" x'}}
    with pytest.raises(
        mw.StructuralTagError, match=r"needs 'x' again, so it never ends \(line 2, column 1\)"
    ) as raised:
        COMPILER.compile_structural_tag(tag)
    assert raised.value.pointer == "/format/grammar"


def test_a_chain_of_many_rules_ends() -> None:
    rules = [f'r{i} ::= "a" r{i + 1}' for i in range(500)]
    with pytest.raises(mw.UnsatisfiableError, match="no text matches this rule"):
        COMPILER.compile_grammar("root ::= r0\n" + "\n".join(rules) + '\nr500 ::= "a" r500')


@pytest.mark.parametrize("text", ['start: /a(?=b)/ "b"', 'start: A "b"\nA: /a(?=b)/', 'start: "x" b\nb: /(?!a)a/'])
def test_a_regular_expression_that_matches_nothing(text: str) -> None:
    with pytest.raises(mw.UnsatisfiableError) as raised:
        COMPILER.compile_lark(text)
    assert "(?=b) sees its own one alone" in (raised.value.hint or "")
    problems = mw.lint(mw.Grammar.from_lark(text)).problems
    assert [each.hint for each in problems if each.kind == "unproductive"][-1] == raised.value.hint


def test_a_terminal_that_nobody_supplied() -> None:
    with pytest.raises(mw.MaskwrightError) as raised:
        COMPILER.compile_lark("start: A\n%declare A")
    assert "'A'" in str(raised.value)
