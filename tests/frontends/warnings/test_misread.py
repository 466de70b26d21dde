"""Parts of grammars that are valid, but surely meant as something else: a warning with the place and the way out."""

from __future__ import annotations

import pytest

from maskwright import Grammar, GrammarWarning, SchemaWarning

EBNF = [
    ('["+" "-"]', 14, "quotation marks are characters in a class", "write ( … ) around texts"),
    ("['a'|'b']", 14, "may be ' itself", "[ab] for a or b"),
    ('"a".."z"', 17, "each full stop matches any character", "write [a-z] for a range"),
    ("'0' ... '9'", 18, "each full stop", "write [0-9] for a range"),
    ("[0-9a..z]", 14, "each full stop stands for itself", "write a-z for a range"),
    ("[^#x22#x5C]", 14, "the class has #, x and digits", r"write [^\x22\x5C]"),
    ('"a" #xA', 18, "what begins with # is a comment", r'write "\x0A"'),
    ("[:alpha:]+", 14, "one of its own characters", 'write Regex("[[:alpha:]]")'),
    ('"[a-z]+"', 14, "all characters stand for themselves", 'write Regex("[a-z]+"), if'),
    (r'"\\d{4}-\\d{2}"', 14, "all characters stand for themselves", r'write Regex("\\d{4}-\\d{2}"), if'),
    ('"' + "x" * 40 + '[^a-z]*"', 14, "stand for themselves", "write it as a regular expression, if"),
    ('Regex("[:digit:]")', 20, "a POSIX class stands within brackets", "write [[:digit:]]"),
]
LARK = [
    ('"[a-z/]+"', 8, "all characters stand for themselves", r"write /[a-z\/]+/, if"),
    ("/[:alpha:]+/", 8, "a POSIX class stands within brackets", "write [[:alpha:]]"),
]
AS_THEY_ARE = [
    r'"\"" ["\\/bfnrt] [^"]* [\'] "[" [a-z] "]"',
    '"[0-9]" "a-z" "[+]" "x+y*" "(a)?"',
    '"a" . . "z" | "z".."a" | [a-z] .. "z"',
    "[a-f#x] [..9] [z..a] [a..Z] [a.z] #xor #x zeros",
    'Regex("[[:alpha:]_]") Regex("[^[:alpha:]]") Regex("[\\\\[:alpha:]")',
]


@pytest.mark.parametrize(("item", "column", "message", "hint"), EBNF)
def test_ebnf_is_warned_of(item: str, column: int, message: str, hint: str) -> None:
    with pytest.warns(GrammarWarning):
        (warning,) = Grammar.from_ebnf(f"root ::= body\nbody     ::= {item}").warnings
    assert (warning.rule, warning.line, warning.column) == ("body", 2, column)
    assert message in warning.message
    assert hint in (warning.hint or "")


@pytest.mark.parametrize(("item", "column", "message", "hint"), LARK)
def test_lark_is_warned_of(item: str, column: int, message: str, hint: str) -> None:
    with pytest.warns(GrammarWarning):
        (warning,) = Grammar.from_lark(f"start: {item}").warnings
    assert (warning.rule, warning.line, warning.column) == ("start", 1, column)
    assert message in warning.message
    assert hint in (warning.hint or "")


@pytest.mark.parametrize("body", AS_THEY_ARE)
def test_what_is_written_as_it_is_meant_is_not(body: str) -> None:
    assert Grammar.from_ebnf(f"root ::= {body}").warnings == ()


def test_a_posix_class_that_stands_alone_in_a_regular_expression() -> None:
    with pytest.warns(GrammarWarning, match=r"\[:alpha:\] matches one of its own characters"):
        (warning,) = Grammar.from_regex("[[:digit:]][:alpha:]+").warnings
    assert warning.hint == "write [[:alpha:]]"
    assert Grammar.from_regex(r"[[:alpha:]][\[:alpha:]\[:alpha:\]").warnings == ()


def test_the_same_in_a_structural_tag() -> None:
    with pytest.warns(SchemaWarning, match=r"write \[\[:alpha:\]\]"):
        Grammar.from_structural_tag({"format": {"type": "regex", "pattern": "[:alpha:]+"}})
