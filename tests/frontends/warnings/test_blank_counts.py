"""Counts with a blank in them: a warning, since they are plain characters."""

from __future__ import annotations

import re

import pytest

from maskwright import Grammar, GrammarWarning, SchemaWarning

COUNTS = [
    ("[0-9]{1, 3}", "{1, 3}", "{1,3}"),
    (r"a(bc){ 2 }", "{ 2 }", "{2}"),
    (r"\d{2 ,}", "{2 ,}", "{2,}"),
    (r"[[]\w{, 4}", "{, 4}", "{,4}"),
]


@pytest.mark.parametrize(("pattern", "text", "meant"), COUNTS)
def test_a_blank_in_a_count_is_warned_of(pattern: str, text: str, meant: str) -> None:
    message = f"{text} stands for these characters, since a count has no blanks"
    with pytest.warns(GrammarWarning):
        (warning,) = Grammar.from_regex(pattern).warnings
    assert (warning.message, warning.hint) == (message, f"write {meant}")
    with pytest.warns(GrammarWarning, match=re.escape(message)):
        Grammar.from_lark(f"start: /{pattern}/")
    quoted = pattern.replace("\\", "\\\\")
    with pytest.warns(GrammarWarning, match=re.escape(message)):
        Grammar.from_ebnf(f'root ::= Regex("{quoted}")')
    reason = f"a blank in a count: {message}; write {meant}"
    with pytest.warns(SchemaWarning, match=re.escape(reason)):
        (finding,) = Grammar.from_json_schema({"pattern": pattern}).report
    assert finding == ("/pattern", "pattern", "enforced", reason)
    with pytest.warns(SchemaWarning, match=re.escape(reason)):
        Grammar.from_structural_tag({"format": {"type": "regex", "pattern": pattern}})


@pytest.mark.parametrize(
    "pattern", [r"[0-9]\{1, 3\}", r"\]{1, 3}", r"\\d{1, 3}", "f{1, 3}", "[0-9]{ , }", r"[\d{1, 3}]", "[0-9]{1,3}"]
)
def test_what_may_be_meant_is_not(pattern: str) -> None:
    assert Grammar.from_regex(pattern).warnings == ()
    assert Grammar.from_json_schema({"pattern": pattern}).report == ()
