"""The errors: their tree, and messages made from their fields."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import maskwright
from maskwright import Grammar, errors
from maskwright.errors import GrammarError, MaskwrightError, SchemaError, Span
from oracle.accepting import COMPILER

TREE = {
    "MaskwrightError": (Exception,),
    "ArgumentError": (MaskwrightError, TypeError),
    "GrammarError": (MaskwrightError, ValueError),
    "RegexSyntaxError": (GrammarError,),
    "EbnfSyntaxError": (GrammarError,),
    "LarkSyntaxError": (GrammarError,),
    "UnsatisfiableError": (GrammarError,),
    "SchemaError": (MaskwrightError, ValueError),
    "UnsupportedSchemaError": (SchemaError,),
    "OptionError": (MaskwrightError, ValueError),
    "StructuralTagError": (MaskwrightError, ValueError),
    "RequestError": (MaskwrightError, ValueError),
    "TokenizerError": (MaskwrightError, ValueError),
    "BitmaskError": (MaskwrightError, ValueError),
    "MissingPackageError": (MaskwrightError, ModuleNotFoundError),
    "EngineError": (MaskwrightError, RuntimeError),
    "LimitError": (MaskwrightError, RuntimeError),
    "MatcherError": (MaskwrightError, RuntimeError),
    "GrammarWarning": (UserWarning,),
    "SchemaWarning": (UserWarning,),
}


@pytest.mark.parametrize("name", TREE)
def test_bases(name: str) -> None:
    assert getattr(errors, name).__bases__ == TREE[name]


def test_no_other_errors() -> None:
    found = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert found == set(TREE)


def test_the_docstring_shows_the_tree() -> None:
    assert errors.__doc__ is not None
    for name in TREE:
        assert name in errors.__doc__


def test_hint_comes_last() -> None:
    error = MaskwrightError("it broke", hint="mend it")
    assert (error.message, error.hint) == ("it broke", "mend it")
    assert str(error) == "it broke\n  hint: mend it"
    assert str(MaskwrightError("it broke")) == "it broke"


def test_grammar_error_points_at_the_culprit() -> None:
    source = 'root ::= "a"\nrest ::= ("b"\n'
    error = GrammarError("group never closed", source=source, span=Span(22, 23), hint="add `)`")
    assert (error.line, error.column) == (2, 10)
    expected = '2:10: group never closed\n  hint: add `)`\n    rest ::= ("b"\n             ^'
    assert str(error) == expected


def test_grammar_error_without_a_place() -> None:
    error = GrammarError("no rules")
    assert (error.line, error.column, str(error)) == (None, None, "no rules")


def test_span_of_several_characters_and_lines() -> None:
    assert str(GrammarError("bad", source="abcdef", span=Span(2, 4))).endswith("    abcdef\n      ^^")
    assert str(GrammarError("bad", source="ab\ncd", span=Span(1, 5))).splitlines()[1:] == ["    ab", "     ^"]
    assert str(GrammarError("bad", source="ab", span=Span(2, 2))).endswith("    ab\n      ^")


def test_messages_hold_little_of_the_source() -> None:
    source = "x" * 100_000 + "!" + "y" * 100_000
    text = str(GrammarError("bad", source=source, span=Span(100_000, 100_001)))
    assert len(text) < 400
    _, shown, caret = text.splitlines()
    assert shown[caret.index("^")] == "!"


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in str(GrammarError("bad", source="a\x1b[31mb\0", span=Span(1, 2)))


def test_schema_error_shows_its_pointer() -> None:
    error = SchemaError("must be a number", pointer="/properties/a~1b/minimum", keyword="minimum", hint="write 3")
    assert (error.pointer, error.keyword) == ("/properties/a~1b/minimum", "minimum")
    assert str(error) == "at #/properties/a~1b/minimum: must be a number\n  hint: write 3"


def test_limit_error_names_its_limit() -> None:
    assert errors.LimitError("too deep", limit="max_depth").limit == "max_depth"


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("lark", "start: ("),
        ("lark", 'a: "x"'),
        ("lark", 'start: "a"\n%llguidance {"x": 1}'),
        ("ebnf", "root ::= ("),
        ("ebnf", "a ::= 'x'"),
        ("regex", "("),
        ("regex", r"(a)?b\1"),
        ("json_schema", {"type": 3}),
        ("json_schema", {"type": "integer", "minimum": 2, "maximum": 1}),
        ("choices", []),
    ],
)
def test_reading_and_compiling_say_the_same(kind: str, source: object) -> None:
    compile_ = getattr(COMPILER, "compile_grammar" if kind == "ebnf" else f"compile_{kind}")
    with pytest.raises(MaskwrightError) as read:
        getattr(Grammar, f"from_{kind}")(source)
    with pytest.raises(MaskwrightError) as compiled:
        compile_(source)
    assert type(read.value) is type(compiled.value)
    assert str(read.value) == str(compiled.value)


def test_every_limit_has_a_hint() -> None:
    sources = Path(maskwright.__file__).parent.rglob("*.py")
    calls = [
        (path.name, node.lineno, {each.arg for each in node.keywords})
        for path in sources
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "LimitError"
    ]
    assert len(calls) > 30
    assert [call for call in calls if "hint" not in call[2]] == []
