"""Escapes of regular expressions that a string has read: a warning, but for those that mean the same to both."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import EbnfSyntaxError, Grammar, GrammarWarning, SchemaWarning, check

LOST_IN_QUOTES = [
    (r'"\bcat"', r"\b is a backspace, not the edge of a word", r'write "\\bcat": '),
    (r"'\bcat\b'", r"\b is a backspace", r"write '\\bcat\\b': "),
    (r'"cat\?"', r"\? is the same as ?", r'write "cat\\?": '),
    (r'"a\x2ec"', r"\x2e is the same as .", r'write "a\\x2ec": '),
    (r'"a\u007cc"', r"\u007c is the same as |", r'write "a\\u007cc": '),
    (r'"[a\x2dz]"', r"\x2d is the same as -", r'write "[a\\x2dz]": '),
    (r'"\n\x41\x2d\b"', r"\b is a backspace", r'write "\\n\\x41\\x2d\\b": '),
    ('"' + "a" * 80 + r'\b"', r"\b is a backspace", r"write \\b: "),
]
KEPT_IN_QUOTES = [
    r'"\\bcat\\b"',
    r'"[\b]"',
    r'"[\?]"',
    r'"\x08"',
    r'"\n\r\t\f\v\a\e\0\/\x41\u00e9"',
    r'"a\x2db"',
    r'"a\\\?b"',
    r'"a\\\\b"',
    r'"a\"b"',
    r'"[^\x00-\x08\x7f]"',
]
LOST_IN_PATTERNS = [("\bcat\b", r"\b"), ("(a)\1", r"\1"), (r"\d+" + "\b", r"\b")]
KEPT_IN_PATTERNS = [r"\bcat\b", "[^\x00-\b]", r"\x08", "\1", "a\f\v\a\n\t", r"(a)\1"]


@pytest.mark.parametrize(("quoted", "message", "hint"), LOST_IN_QUOTES)
def test_what_a_string_of_ebnf_has_read_is_warned_of(quoted: str, message: str, hint: str) -> None:
    with pytest.warns(GrammarWarning) as issued:
        grammar = Grammar.from_ebnf(f"root ::= cat\ncat ::= Regex({quoted})")
    (warning,) = grammar.warnings
    assert (warning.rule, warning.line, warning.column) == ("cat", 2, 15)
    assert message in warning.message
    assert (warning.hint or "").startswith(hint)
    assert str(issued[0].message) == str(warning)


@pytest.mark.parametrize("quoted", [quoted for quoted, _, hint in LOST_IN_QUOTES if len(quoted) < 80])
def test_the_hint_leaves_the_escape_to_the_regular_expression(quoted: str) -> None:
    with pytest.warns(GrammarWarning):
        (warning,) = Grammar.from_ebnf(f"root ::= Regex({quoted})").warnings
    rewritten = (warning.hint or "").removeprefix("write ").partition(": ")[0]
    assert Grammar.from_ebnf(f"root ::= Regex({rewritten})") == Grammar.from_regex(quoted[1:-1])


@pytest.mark.parametrize("quoted", KEPT_IN_QUOTES)
def test_what_means_the_same_to_both_is_not(quoted: str) -> None:
    assert Grammar.from_ebnf(f"root ::= Regex({quoted})").warnings == ()


def test_what_is_no_regular_expression_without_the_escape_is_told_how_to_write_it() -> None:
    with pytest.raises(EbnfSyntaxError, match="nothing to repeat") as caught:
        Grammar.from_ebnf(r'root ::= Regex("\?")')
    assert caught.value.hint == r'write "\\?": in quotes, a backslash is written twice'
    with pytest.raises(EbnfSyntaxError) as caught:
        Grammar.from_ebnf(r'root ::= Regex("a**\x41")')
    assert "twice" not in (caught.value.hint or "")


@pytest.mark.parametrize(("pattern", "escape"), LOST_IN_PATTERNS)
def test_a_control_character_in_a_pattern_is_warned_of(pattern: str, escape: str) -> None:
    with pytest.warns(GrammarWarning, match="was surely meant"):
        (warning,) = Grammar.from_regex(pattern).warnings
    assert f"where {escape} was surely meant" in warning.message
    with pytest.warns(SchemaWarning, match="was surely meant"):
        Grammar.from_json_schema({"type": "string", "pattern": pattern})


@pytest.mark.parametrize("source", ["start: /\bcat/", "start: A\nA: /[0-9]\b/i", "start: %lark {\nstart: /\bcat/\n}"])
def test_the_same_in_lark(source: str) -> None:
    with pytest.warns(GrammarWarning):
        (warning,) = Grammar.from_lark(source).warnings
    line = source.splitlines()[(warning.line or 0) - 1]
    assert line[(warning.column or 0) - 1] == "/"
    assert Grammar.from_lark('start: "\b" | /[\b]/').warnings == ()


def test_the_same_in_quotes() -> None:
    with pytest.warns(GrammarWarning, match=r"1:16: in 'root': .* where \\b was surely meant"):
        Grammar.from_ebnf('root ::= Regex("\bcat")')


@pytest.mark.parametrize("pattern", KEPT_IN_PATTERNS)
def test_what_may_be_meant_is_not(pattern: str) -> None:
    assert Grammar.from_regex(pattern).warnings == ()
    assert Grammar.from_json_schema({"type": "string", "pattern": pattern}).report == ()


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "string", "pattern": "\bcat"}, "/pattern"),
        ({"type": "object", "patternProperties": {"\bcat": {"type": "null"}}}, "/patternProperties/\bcat"),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "^\b"}}}, "/properties/a/pattern"),
    ],
)
def test_a_schema_reports_where_it_is(schema: dict[str, Any], pointer: str) -> None:
    with pytest.warns(SchemaWarning):
        grammar = Grammar.from_json_schema(schema)
    (finding,) = grammar.report
    assert (finding.pointer, finding.outcome, finding.is_mistake) == (pointer, "enforced", True)
    assert Grammar.deserialize(grammar.serialize()).report == grammar.report


def test_check_calls_it_enforced_and_warns() -> None:
    report = check({"type": "string", "pattern": "\bcat"})
    assert (report.verdict, [each.pointer for each in report.warnings]) == ("enforced", ["/pattern"])
    assert report.counts()["enforced"] == 2


def test_structural_tags_report_it() -> None:
    tag = {"format": {"type": "regex", "pattern": "\bcat"}}
    with pytest.warns(SchemaWarning, match="at #/format/pattern: a lost escape"):
        Grammar.from_structural_tag(tag)
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^cat\b$"}}, "required": ["a"]}
    with pytest.warns(SchemaWarning, match="lost escape"):
        Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": schema}})
