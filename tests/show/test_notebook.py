"""What notebooks show: escaped, bounded, and never an error."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from byte_tokens import COMPILER
from hostile import HOSTILE
from html_reader import Page

import maskwright as mw


def test_a_grammar() -> None:
    seen = Page(COMPILER.compile_grammar('root ::= "a" b\nb ::= [0-9]')._repr_html_())
    assert "for 258 tokens" in seen.text
    assert "b ::= [0-9]" in seen.text


def test_a_matcher() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("[ab]+x"))
    assert "after 0 tokens: open" in Page(matcher._repr_html_()).text
    assert matcher.accept_tokens([97, 257]) == 2
    assert matcher.accept_string("a")
    seen = Page(matcher._repr_html_())
    assert "after 3 tokens: open" in seen.text
    assert "next: `a`, `b` or `x`" in seen.text
    assert matcher.accept_string("x")
    assert matcher.accept_token(256)
    assert "terminated" in matcher._repr_html_()


def test_reports_and_explanations_are_shown_as_print_does() -> None:
    compiled = COMPILER.compile_regex("ab")
    said = (
        mw.check({"minimum": 3}),
        mw.lint(mw.Grammar.from_ebnf('root ::= "x"\nb ::= "z"')),
        mw.GrammarMatcher(compiled).explain("c"),
        compiled.explain_rejection("c"),
    )
    for each in said:
        shown: list[str] = []
        each._repr_pretty_(SimpleNamespace(text=shown.append), False)  # type: ignore[union-attr]
        assert shown == [str(each)]


def test_they_are_small() -> None:
    big = COMPILER.compile_grammar(
        "root ::= "
        + " | ".join(f'"{i}" a{i}' for i in range(500))
        + "\n"
        + "\n".join(f'a{i} ::= "a"' for i in range(500))
    )
    assert len(big._repr_html_()) < 6_000
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("a*"))
    assert matcher.accept_tokens([97] * 3000) == 3000
    assert len(matcher._repr_html_()) < 40_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_strings_stay_text(text: str) -> None:
    compiled = COMPILER.compile_choices([text])
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string(text[:3])
    for html in (compiled._repr_html_(), matcher._repr_html_()):
        assert {name for name, _ in Page(html).tags} <= {"div", "b", "pre", "span"}
