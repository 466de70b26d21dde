"""What formats mean: small languages, whole outputs accepted and rejected."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright as mw
from structural_tag.spelling import accepts, vocabulary

COMPILER = mw.GrammarCompiler(vocabulary())
TEXT = {"type": "any_text"}
X, Y = ({"type": "const_string", "value": v} for v in "xy")
DIGITS = {"type": "regex", "pattern": "[0-9]+"}
GRAMMAR = {"type": "grammar", "grammar": "root ::= [ab]*"}


def tag(begin: str, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": list(elements)}


LANGUAGES: list[tuple[str, Any, list[str], list[str]]] = [
    ("const_string", {"type": "const_string", "value": "é x"}, ["é x"], ["", "é", "é xy"]),
    ("empty const_string", {"type": "const_string", "value": ""}, [""], ["x"]),
    ("any_text", TEXT, ["", "any", "é\n<>"], []),
    ("any_text without", {"type": "any_text", "excludes": ["ab", "c"]}, ["", "a", "ba"], ["ab", "xaby", "c"]),
    ("any_text of a length", {"type": "any_text", "max_chars": 2}, ["", "é", "éé"], ["ééé"]),
    ("any_text, no length", {"type": "any_text", "max_chars": 0}, [""], ["a"]),
    ("text in a tag", tag("<", TEXT, ">"), ["<>", "<a<b>"], ["<a>>", "<a>b>", "<a", "a>"]),
    ("text to any end", tag("<", TEXT, ["ab", "ac", "b"]), ["<ab", "<aac", "<b", "<a ac"], ["<bb", "<abb", "<abab"]),
    ("ends inside ends", tag("", TEXT, ["ab", "b"]), ["ab", "b", "xb"], ["abb", "a"]),
    ("text to an end, without", tag("<", {**TEXT, "excludes": ["a"]}, "ab"), ["<ab", "<xab"], ["<aab", "<abab"]),
    ("text to an end, at most", tag("<", {**TEXT, "max_chars": 2}, "ab"), ["<ab", "<xyab", "<aaab"], ["<xyzab"]),
    ("a tag without end", tag("<", TEXT, ""), ["<", "<x>"], ["", "x"]),
    ("an end that may be missing", tag("<", TEXT, ["E", ""]), ["<", "<x", "<xE"], ["<xEE", "<xEy", "x"]),
    ("the same first", tag("<", TEXT, ["", "E", "F"]), ["<x", "<xE", "<xF"], ["<xEF", "<xEy"]),
    ("missing before digits", tag("<", DIGITS, ["E", ""]), ["<1", "<12E"], ["<", "<1EE"]),
    (
        "missing before an outer end",
        tag("[", tag("<", TEXT, ["E", ""]), "]"),
        ["[<x]", "[<xE]", "[<]"],
        ["[<xE", "[<xEy]", "[<x]]"],
    ),
    ("missing within", tag("[", tag("<", tag("(", TEXT, ""), ["E", ""]), "]"), ["[<(x]", "[<(E]"], ["[<(EE]"]),
    (
        "missing twice",
        tag("[", tag("<", TEXT, ["F", ""]), ["E", ""]),
        ["[<", "[<xF", "[<xE", "[<xFE", "[<xEyF"],
        ["[<xEy", "[<xFy", "[<xEE"],
    ),
    (
        "missing in a list before an outer end",
        tag("[", {"type": "tags_with_separator", "tags": [tag("<", TEXT, [">", ""])], "separator": ","}, "]"),
        ["[]", "[<x]", "[<x>]", "[<x>,<y]", "[<x,<y>]"],
        ["[<x]y]", "[<x>y]", "[<x,<y]z]", "[<x>,<y]z]", "[x]"],
    ),
    (
        "missing in the only tag",
        tag(
            "[",
            {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<", TEXT, "")], "stop_after_first": True},
            "]",
        ),
        ["[]", "[a]", "[a<x]", "[<x<y]"],
        ["[a]b]", "[<x]y]", "[<x"],
    ),
    (
        "missing in the last of many",
        tag("[", {"type": "repeat", "min": 1, "max": 2, "content": tag("<", {**TEXT, "excludes": ["<"]}, "")}, "]"),
        ["[<x]", "[<x<y]", "[<x]<y]"],
        ["[]", "[<x]y]", "[<x<y]z]", "[<x<y<z]"],
    ),
    (
        "missing in triggered tags",
        {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<", DIGITS, ["E", ""])]},
        ["a<1", "<1Ea", "<1<2E", "<1"],
        ["<", "<E"],
    ),
    (
        "missing before a separator",
        {"type": "tags_with_separator", "tags": [tag("<", DIGITS, ["E", ""])], "separator": ","},
        ["<1,<2E", "<1E,<2", ""],
        ["<1E<2", "<1EE"],
    ),
    (
        "text with triggers before a missing end",
        tag("[", {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<", DIGITS, ">")]}, ["E", ""]),
        ["[a<1>", "[a<1>bE", "[E", "["],
        ["[a<1>EE", "[aEb", "[<1>E<2>"],
    ),
    ("the outer end counts", tag("[", tag("<", TEXT, ""), "]"), ["[<x]", "[<]"], ["[<x]]", "[x]"]),
    ("a grammar may hold its end", tag("", GRAMMAR, "ab"), ["ab", "abab"], ["aba"]),
    ("a regex may hold its end", tag("", {"type": "regex", "pattern": "<[ab]*>"}, "ab"), ["<ab>ab"], ["<ab", "<>"]),
    ("sequence", sequence(X, DIGITS, Y), ["x1y", "x12y"], ["xy", "x1"]),
    ("text within a sequence", sequence(TEXT, X), ["x", "xx", "ax"], ["", "xa"]),
    ("text at the end of one", tag("<", sequence(X, TEXT), ">"), ["<x>", "<xa>"], ["<>", "<x>>", "<a>"]),
    ("or", {"type": "or", "elements": [X, DIGITS]}, ["x", "17"], ["", "x1"]),
    ("text in or", tag("<", {"type": "or", "elements": [X, TEXT]}, ">"), ["<x>", "<ab>"], ["<x>>"]),
    ("optional", {"type": "optional", "content": X}, ["", "x"], ["xx"]),
    ("optional text", tag("<", {"type": "optional", "content": TEXT}, ">"), ["<>", "<a>"], ["<a>>"]),
    ("plus", {"type": "plus", "content": X}, ["x", "xxx"], [""]),
    ("star", {"type": "star", "content": X}, ["", "x", "xxx"], ["y"]),
    ("star in a tag", tag("<", {"type": "star", "content": X}, ">"), ["<>", "<xx>"], ["<xx"]),
    ("repeat", {"type": "repeat", "min": 2, "max": 3, "content": X}, ["xx", "xxx"], ["x", "xxxx"]),
    ("repeat very often", {"type": "repeat", "min": 2, "max": 2**31 - 1, "content": X}, ["xx", "xxxxx"], ["x"]),
    ("repeat without bound", {"type": "repeat", "min": 1, "max": -1, "content": X}, ["x", "x" * 9], [""]),
    ("regex", DIGITS, ["1", "12"], ["", "a"]),
    ("regex without", {**DIGITS, "excludes": ["12"]}, ["1", "21"], ["12", "312"]),
    ("grammar", {"type": "grammar", "grammar": 'root ::= "(" root ")" | "x"'}, ["x", "((x))"], ["((x)", ""]),
    ("json", {"type": "json_schema", "json_schema": {"type": "integer"}}, ["1", "-7"], ["x", ""]),
    (
        "two grammars of one name",
        sequence(
            {"type": "grammar", "grammar": 'root ::= a a\na ::= "x"'},
            {"type": "grammar", "grammar": 'root ::= a\na ::= "y" a | "z"'},
        ),
        ["xxz", "xxyyz"],
        ["xyz", "xx"],
    ),
    (
        "tags_with_separator",
        {"type": "tags_with_separator", "tags": [tag("<", X, ">"), tag("[", Y, "]")], "separator": ","},
        ["", "<x>", "[y],<x>,<x>"],
        [",", "<x>,", "<x><x>", "<y>"],
    ),
    (
        "one tag at most",
        {"type": "tags_with_separator", "tags": [tag("<", X, ">")], "separator": ",", "stop_after_first": True},
        ["", "<x>"],
        ["<x>,<x>"],
    ),
    (
        "one tag at least",
        {"type": "tags_with_separator", "tags": [tag("<", X, ">")], "separator": "", "at_least_one": True},
        ["<x>", "<x><x>"],
        [""],
    ),
    (
        "triggered tags in a tag",
        tag("{", {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<a", TEXT, ">")]}, "}"),
        ["{}", "{b<a}>c}", "{<a><a>}"],
        ["{b}}", "{<b>}", "{<a}"],
    ),
    (
        "a dispatch without loop in a tag",
        tag("{", {"type": "dispatch", "rules": [["<", TEXT], ["+", X]], "loop": False}, "}"),
        ["{a}", "{a<b<c}", "{<}", "{a+x}"],
        ["{a<}}", "{a<b}c}", "{+x}}", "{+xa}", "{<a"],
    ),
]


@pytest.mark.parametrize(
    ("format_", "accepted", "rejected"), [row[1:] for row in LANGUAGES], ids=[r[0] for r in LANGUAGES]
)
def test_language(format_: Any, accepted: list[str], rejected: list[str]) -> None:
    compiled = COMPILER.compile_structural_tag({"format": format_})
    assert [text for text in accepted if not accepts(compiled, text)] == []
    assert [text for text in rejected if accepts(compiled, text)] == []


@pytest.mark.parametrize("limit", [{}, {"max_tokens": 9}, {"max_chars": 9}])
def test_captured_text_ends_before_the_longest_end(limit: dict[str, int]) -> None:
    content = {**TEXT, "capture": "text", **limit}
    matcher = mw.GrammarMatcher(COMPILER.compile_structural_tag({"format": tag("<", content, ["b", "ab"])}))
    assert matcher.accept_string("<cab")
    assert matcher.accept_token(matcher.stop_token_ids[0])
    assert matcher.get_captures() == [("text", b"c")]


def test_optional_ends_are_nested_deeply() -> None:
    format_: Any = TEXT
    for i in range(50):
        format_ = tag("<", format_, [f"{i}>", ""])
    compiled = COMPILER.compile_structural_tag({"format": format_})
    assert accepts(compiled, "<" * 50 + "x")
    assert accepts(compiled, "<" * 50 + "x0>7>49>")
    assert not accepts(compiled, "<" * 50 + "x7>y")


def test_half_a_character_is_no_text() -> None:
    compiled = COMPILER.compile_structural_tag({"format": TEXT})
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string(b"\xc3")
    assert not matcher.is_completed()
    assert not matcher.accept_string(b"a")
    assert matcher.accept_string(b"\xa9")
    assert matcher.is_completed()


def test_reports_of_schemas_are_kept() -> None:
    schema = {"type": "string", "format": "unheard-of"}
    grammar = mw.Grammar.from_structural_tag({"format": {"type": "json_schema", "json_schema": schema}})
    assert [(found.pointer, found.keyword) for found in grammar.report] == [
        ("/format/json_schema" + found.pointer, found.keyword) for found in mw.Grammar.from_json_schema(schema).report
    ]
    assert grammar.report
    in_a_tag = tag("<", {"type": "json_schema", "json_schema": schema}, ["E", ""])
    assert len(mw.Grammar.from_structural_tag({"format": in_a_tag}).report) == len(grammar.report)


def test_what_a_grammar_in_a_tag_was_surely_not_meant_to_say_is_a_warning_with_its_place() -> None:
    quoted = {"type": "grammar", "grammar": 'root ::= digits\ndigits ::= "[0-9]+"'}
    message = "probably a mistake: 2:12: in 'digits': in quotes, all characters stand for themselves; write Regex"
    with pytest.warns(mw.SchemaWarning, match=message) as warned:
        grammar = mw.Grammar.from_structural_tag({"format": sequence(X, quoted)})
    assert [str(each.message).split(":")[0] for each in warned] == ["at #/format/elements/1/grammar"]
    assert [found.pointer for found in grammar.report] == ["/format/elements/1/grammar"]
    assert not mw.Grammar.from_structural_tag({"format": sequence(X, GRAMMAR)}).report


def test_compiling_twice_gives_the_same() -> None:
    data = {"format": tag("<", TEXT, ">")}
    assert COMPILER.compile_structural_tag(data) is COMPILER.compile_structural_tag({"format": tag("<", TEXT, ">")})
