"""Whether texts of a pattern can go on with their end, against all short texts."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

import maskwright as mw
from maskwright.structural_tag.texts.patterns import may_go_on_with
from structural_tag.spelling import accepts, vocabulary

COMPILER = mw.GrammarCompiler(vocabulary())
TEXTS = ["".join(letters) for n in range(9) for letters in itertools.product("ab", repeat=n)]
PATTERNS = ["[ab]*", "a*", "a*b", "(ab)*", "(ab){1,2}", "b(a|bb)*b", "a{2,3}(b|)", "(a|b{3})*a", "ab?", "a*ba*", "bab|"]


def tag(content: Any, end: Any = "</f>") -> dict[str, Any]:
    return {"format": {"type": "tag", "begin": "<f>", "content": content, "end": end}}


def regex(pattern: str, *excludes: str) -> dict[str, Any]:
    return {"type": "regex", "pattern": pattern, "excludes": list(excludes)}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_against_all_short_texts(pattern: str) -> None:
    texts = [text for text in TEXTS if re.fullmatch(pattern, text)]
    assert texts
    for end in ("a", "b", "ab", "ba", "aa", "bab"):
        closed = [text + end for text in texts]
        goes_on = any(a != b and b.startswith(a) for a in closed for b in closed)
        assert may_go_on_with(pattern, (), end.encode()) is goes_on, end


@pytest.mark.parametrize(
    "content",
    [
        regex("[a-z</>]*"),
        {"type": "or", "elements": [{"type": "const_string", "value": "x"}, regex(".+")]},
        {"type": "optional", "content": regex(".+")},
        {"type": "sequence", "elements": [{"type": "const_string", "value": "x"}, regex("(.|\n){0,1000}")]},
    ],
)
def test_a_text_that_may_go_on_with_its_end_is_an_error(content: Any) -> None:
    with pytest.raises(mw.StructuralTagError, match="a match may continue with the end string '</f>'") as caught:
        COMPILER.compile_structural_tag(tag(content))
    assert caught.value.pointer.startswith("/format/content")
    assert caught.value.pointer.endswith("/pattern")
    assert caught.value.hint is not None
    assert "any_text" in caught.value.hint


def test_an_end_may_overlap_with_itself() -> None:
    with pytest.raises(mw.StructuralTagError, match="a match may continue with the end string"):
        COMPILER.compile_structural_tag(tag(regex("(.|\n)*", "```"), "```"))
    assert accepts(COMPILER.compile_structural_tag(tag(regex("(.|\n)*", "`"), "```")), "<f>x```")


def test_complements_may_hold_anything() -> None:
    with pytest.raises(mw.StructuralTagError, match="a match may continue with the end string"):
        COMPILER.compile_structural_tag(tag(regex("(?!x).*", "y"), "</f>"))


def test_what_cannot_be_told_is_no_error() -> None:
    assert not may_go_on_with("[ab]*a[ab]{40}x", (), b"ab")


def test_of_several_ends_each_counts() -> None:
    with pytest.raises(mw.StructuralTagError, match="'</g>'"):
        COMPILER.compile_structural_tag(tag(regex("[a-z</>]*", "</f>"), ["</f>", "</g>"]))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (regex("[a-z</>]*", "</f>"), "a<b>"),
        (regex("[^<]{0,5000}"), "a>"),
        (regex('"[^"]*"'), '"</f>"'),
        ({"type": "sequence", "elements": [regex(".*"), {"type": "const_string", "value": "\n"}]}, "</f>\n"),
        ({"type": "json_schema", "json_schema": {"type": "string"}}, '"</f>"'),
    ],
)
def test_what_is_over_where_it_ends_may_hold_its_end(content: Any, text: str) -> None:
    compiled = COMPILER.compile_structural_tag(tag(content))
    assert accepts(compiled, f"<f>{text}</f>")
    assert not accepts(compiled, f"<f>{text}")
