"""Where a text leaves a structure, and why: held to acceptance byte by byte, over the corpus of grammars."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import ArgumentError
from maskwright.report.rejection import in_words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INFO = mw.TokenizerInfo.from_vocab(
    [*(bytes((b,)) for b in range(256)), b"</s>"], special_token_ids=[256], stop_token_ids=[256]
)
COMPILER = mw.GrammarCompiler(INFO)
READERS = {"ebnf": mw.Grammar.from_ebnf, "lark": mw.Grammar.from_lark, "regex": mw.Grammar.from_regex}
AGE = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}


def cases(language: str) -> list[dict[str, Any]]:
    path = Path(__file__).parents[1] / "corpus" / f"{language}.toml"
    return [case for case in tomllib.loads(path.read_text("utf-8"))["case"] if case.get("rejects")]


# Two thousand million characters are still to come.
UNFOUND = {"ebnf": [], "lark": ["ba"], "regex": []}


@pytest.mark.parametrize("language", READERS)
def test_every_rejection_of_the_corpus_is_explained(language: str) -> None:
    explained, unfound = 0, []
    for case in cases(language):
        if "error" in case or "grammar" not in case:
            continue
        compiled = COMPILER.compile_grammar(READERS[language](case["grammar"]))
        for text in case["rejects"]:
            if not check_explained(compiled, text.encode()):
                unfound.append(text)
            explained += 1
        for text in case["accepts"]:
            assert compiled.explain_rejection(text) is None
    assert explained > 400
    assert unfound == UNFOUND[language]


def check_explained(compiled: mw.CompiledGrammar, data: bytes) -> bool:
    """Check an explanation, and return whether it has a continuation."""
    why = compiled.explain_rejection(data)
    assert why is not None
    assert mw.GrammarMatcher(compiled).accept_string(data[: why.offset])
    if why.offset < len(data):
        assert not mw.GrammarMatcher(compiled).accept_string(data[: why.offset + 1])
    assert why.expected
    if why.continuation is None:
        return False
    assert compiled.explain_rejection(data[: why.offset] + why.continuation) is None
    return True


def test_place_words_and_continuation_of_a_schema() -> None:
    compiled = COMPILER.compile_json_schema(AGE, any_whitespace=False)
    why = compiled.explain_rejection('{"age": x}')
    assert why is not None
    assert (why.offset, why.line, why.column, why.found) == (8, 1, 9, "x")
    assert why.expected == ("a digit", "`-`")
    assert why.continuation == b"0}"
    assert str(why) == (
        "line 1, column 9 (byte 8): found `x`; expected a digit or `-`; "
        "in the schema at /properties/age; for example `0}` is valid here"
    )
    assert why.to_dict()["continuation"] == "0}"


def test_lines_and_columns_count_characters() -> None:
    why = COMPILER.compile_regex("é\né[0-9]").explain_rejection("é\néz")
    assert why is not None
    assert (why.offset, why.line, why.column, why.found) == (5, 2, 2, "z")


def test_a_text_that_ends_too_early_or_goes_on_too_long() -> None:
    compiled = COMPILER.compile_choices(["alpha", "beta"])
    early = compiled.explain_rejection("al")
    assert early is not None
    assert (early.offset, early.found, early.expected, early.continuation) == (2, "", ("`pha`",), b"pha")
    late = compiled.explain_rejection("beta!")
    assert late is not None
    assert (late.offset, late.found, late.expected, late.continuation) == (4, "!", ("the end of the output",), b"")


def test_a_loop_is_left() -> None:
    why = COMPILER.compile_regex("[0-9]{3,}x").explain_rejection("-")
    assert why is not None
    assert why.continuation is not None
    assert why.continuation.endswith(b"x")
    assert len(why.continuation) < 20


def test_what_a_matcher_expects_and_nothing_changes() -> None:
    matcher = mw.GrammarMatcher(COMPILER.compile_regex("[0-9]+,?"))
    assert matcher.expected() == ("a digit",)
    assert matcher.accept_string("1")
    assert matcher.expected() == ("a digit", "`,`", "the end of the output")
    assert matcher.num_accepted_tokens == 1


def test_bytes_in_words() -> None:
    assert in_words(set(range(0x20, 0x7F)) - set(b'"\\')) == ['any printable ASCII character except `"` and `\\`']
    assert in_words({0x0A, 0xC3, 0x00}) == ["byte 0x00", "a line break", "a non-ASCII character"]
    assert in_words({0x80, 0x81}) == ["the next byte of a character"]


CHARACTERS = {*range(0x80), *range(0xC2, 0xF5)}  # the bytes that they begin with
CONTROL = set(range(0x20))


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        (CHARACTERS, ["any character"]),
        (CHARACTERS - {0x3E}, ["any character except `>`"]),
        (CHARACTERS - {0x0A}, ["any character except a line break"]),
        (CHARACTERS - set(range(0x61, 0x7B)), ["any character except a lowercase letter"]),
        (CHARACTERS - CONTROL, ["any character except control characters"]),
        (CHARACTERS - CONTROL - {0x22, 0x7F}, ['any character except control characters and `"`']),
        (CHARACTERS - (CONTROL - {0x0A}), ["any character except control characters other than a line break"]),
        (CHARACTERS - set(b"<>&%!"), ["any character except `!`, `%`, `&`, `<` and `>`"]),
        (set(range(0x80)) - {0x3E}, ["any ASCII character except `>`"]),
        (set(range(0x80)) | {0xC3}, ["any ASCII character", "a non-ASCII character"]),
        (set(range(0x20, 0x7F)) | {0x0A}, ["any printable ASCII character", "a line break"]),
        (CONTROL, ["byte 0x00 to 0x1F"]),
        (set(b" \t\n\f\r"), ["white space"]),
        (CHARACTERS - set(b" \t\n\v\f\r\x1c\x1d\x1e\x1f"), ["any character except white space"]),
        (set(b"\f,"), ["a form feed", "`,`"]),
        ({0x00, 0x01, 0x41}, ["byte 0x00", "byte 0x01", "`A`"]),
        (set(range(0xC2, 0xF5)), ["a non-ASCII character"]),
    ],
)
def test_broad_classes_are_named_by_what_they_lack(allowed: set[int], words: list[str]) -> None:
    assert in_words(allowed) == words


def test_free_text_with_exclusions() -> None:
    tag = {"type": "structural_tag", "format": {"type": "any_text", "excludes": ["<b>"]}}
    why = COMPILER.compile_structural_tag(tag).explain_rejection("a <b>")
    assert why is not None
    assert "expected any character except `>`, or the end of the output; in the structural tag at /format" in str(why)
    assert why.origin.is_format


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        (mw.Grammar.from_regex('[^">]+x'), ">", 'any character except `"` and `>`'),
        (mw.Grammar.from_ebnf('root ::= "<" [^>]+ ">"'), "<>", "any character except `>`"),
        (mw.Grammar.from_lark("start: /[^0-9]+/"), "1", "any character except a digit"),
        (mw.Grammar.from_json_schema({"type": "string"}), '"\n', "any character except control characters"),
    ],
)
def test_classes_that_exclude_characters(grammar: mw.Grammar, text: str, expected: str) -> None:
    why = COMPILER.compile_grammar(grammar).explain_rejection(text)
    assert why is not None
    assert why.expected == (expected,)


def test_other_types_are_refused() -> None:
    with pytest.raises(ArgumentError):
        COMPILER.compile_regex("a").explain_rejection(1)  # type: ignore[arg-type]


def test_a_text_that_is_left_within_a_character() -> None:
    rejection = COMPILER.compile_grammar(mw.Grammar.from_regex("ä|b")).explain_rejection("ö".encode())
    assert rejection is not None
    assert (rejection.offset, rejection.column, rejection.found) == (1, 1, "\\xb6")
    assert rejection.continuation == b"\xa4"


def test_a_grammar_that_remembers_text() -> None:
    compiled = COMPILER.compile_grammar(mw.Grammar.from_ebnf('root ::= "<" x=[a-z]+ ">" "</" $x ">"'))
    found = compiled.explain_rejection("<ab></ac>")
    assert found is not None
    assert (found.offset, found.continuation) == (7, b"b>")


def test_runs_of_bytes_are_named_by_their_ends() -> None:
    assert in_words(set(b"123456789")) == ["`1` to `9`"]
    assert in_words(set(b"ab019")) == ["`0`", "`1`", "`9`", "`a`", "`b`"]
    assert in_words(set(b" \t\n\r-0123456789")) == ["white space", "a digit", "`-`"]
    assert in_words(set(b"()*+")) == ["`(`", "`)`", "`*`", "`+`"]


def test_where_no_continuation_is_soon_found_the_rest_is_said() -> None:
    """Fifty long names that must all come, in any order."""
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=20)) for _ in range(50)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    compiled = COMPILER.compile_json_schema(schema, any_order=True)
    why = compiled.explain_rejection(f'{{"{names[3]}": 1')
    assert why is not None
    assert (why.offset, why.found, why.continuation, why.continuation_token_ids) == (25, "1", None, None)
    assert str(why).endswith('which asks for `"string"`')
    matcher = mw.GrammarMatcher(compiled)
    assert matcher.accept_string(f'{{"{names[3]}": ')
    assert matcher.explain("1").continuation is None
