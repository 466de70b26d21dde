"""Tags whose end repeats a name from their begin: what they match, every mask bit, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import maskwright as mw
from maskwright import structural_tag as st
from oracle.comparing import scaled, seeded, walk
from oracle.model import Language
from oracle.vocabularies import BYTES, of, strings

TEXT = st.AnyTextFormat()
VOCAB = of(
    *strings(b"ab<>/", 1), "<a>", "</", "</a", "></", "ab", "b>a", "a></a>", "1", "[1", "]", "é", "\n", "</ab>",
    "cat <<", "E", "EO", "\nE", ".", "(", ")", ">)",
    stop=(b"</s>",), padding=3,
)  # fmt: skip


def element(content: Any, name: str = "[ab]+", **fields: Any) -> st.NamedTagFormat:
    return st.NamedTagFormat("<{name}>", name, content, "</{name}>", **fields)


TAGS: list[tuple[Any, list[str], list[str]]] = [
    (element(TEXT), ["<a>x</a>", "<ab></ab>", "<a><b></a>", "<a></a>"], ["<a>x</b>", "<a></ab>", "<a>x</a", "<c></c>"]),
    (
        element(st.OrFormat((element(TEXT), st.RegexFormat("1*")))),
        ["<a>11</a>", "<a><b>x</b></a>", "<a><a></a></a>"],
        ["<a><b>x</a></b>", "<a><b>x</b></b>", "<a>x</a>"],
    ),
    (st.PlusFormat(element(TEXT)), ["<a></a><b></b>", "<b>1</b>"], ["<a></b><b></a>", ""]),
    (
        element(st.JSONSchemaFormat({"type": "array", "items": {"const": 1}})),
        ["<b>[1]</b>"],
        ["<b>[1]</a>", "<b>1</b>"],
    ),
    (element(TEXT, "a*"), ["<>x</>", "<a>x</a>"], ["<>x</a>", "<a>x</>"]),
    (
        st.NamedTagFormat(
            "cat <<{name}\n", "[A-Z]+", st.GrammarFormat('root ::= ([a-z]+ "\\n")* [a-z]*'), "\n{name}\n"
        ),
        ["cat <<EOF\n\nEOF\n", "cat <<E\na\nb\nE\n"],
        ["cat <<EOF\nEOF\n", "cat <<E\na\nEE\n"],
    ),
    (
        st.SequenceFormat((element(TEXT), st.ConstStringFormat("."))),
        ["<a>.</a>."],
        ["<a>.</a>", "<a>.</b>."],
    ),
    (st.TagFormat("(", element(TEXT), ")"), ["(<a>)</a>)"], ["(<a></a>", "(<a></b>)"]),
    (
        st.TriggeredTagsFormat(("<",), (element(TEXT), st.TagFormat("</", st.RegexFormat("1*"), "."))),
        ["", "1", "<a>x</a>1<b></b>", "a</1.<ab></ab>", "<a><b></a>"],
        ["<", "<a>x</b>", "<a>x</a", "<1></1>", "x<a>"],
    ),
    (
        st.TagsWithSeparatorFormat((element(TEXT), st.TagFormat("(", st.RegexFormat("1*"), ")")), ".", True),
        ["<a></a>", "<a></a>.<b>x</b>.(1)"],
        ["", "<a></a>.", "<a></b>", "<a></a><b></b>"],
    ),
]


@pytest.mark.parametrize(("format_", "good", "bad"), TAGS)
def test_what_they_match(format_: Any, good: list[str], bad: list[str]) -> None:
    tag = st.StructuralTag(format=format_)
    assert st.StructuralTag.from_json(tag.to_json()) == tag
    compiled = mw.GrammarCompiler(BYTES.info()).compile_structural_tag(json.loads(tag.to_json()))
    for text in good + bad:
        matcher = mw.GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) == (text in good), text


@pytest.mark.parametrize(("format_", "good", "bad"), TAGS)
def test_masks(format_: Any, good: list[str], bad: list[str]) -> None:
    grammar = mw.Grammar.from_structural_tag(st.StructuralTag(format=format_))
    compiled = mw.GrammarCompiler(VOCAB.info()).compile_grammar(grammar)
    language = Language(grammar.ir)
    for i in range(scaled(5)):
        walk(compiled, language, VOCAB, seeded(f"{good} {i}"), steps=6)


def test_the_content_is_captured_and_the_end_is_forced() -> None:
    tag = st.StructuralTag(format=element(TEXT, capture="inner"))
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(BYTES.info()).compile_structural_tag(tag))
    assert matcher.accept_string("<ab>some text</")
    assert matcher.find_jump_forward_string() == "ab>"
    assert matcher.accept_string("ab>")
    assert matcher.get_captures() == [("inner", b"some text")]


def test_options_reach_the_schemas_inside() -> None:
    schema = {"type": "array", "items": {"type": "object", "maxProperties": 3}, "uniqueItems": True}
    tag = st.StructuralTag(format=element(st.JSONSchemaFormat(schema)))
    compiler = mw.GrammarCompiler(BYTES.info())
    with pytest.raises(mw.UnsupportedSchemaError) as caught:
        compiler.compile_structural_tag(tag)
    assert caught.value.pointer == "/format/content/json_schema/uniqueItems"
    assert compiler.compile_structural_tag(tag, on_unsupported="relax").grammar.report


def test_special_tokens_around_the_name() -> None:
    vocab = of("a", "b", "x", ">", special=(b"<|open|>", b"<|close|>"))
    tag = st.StructuralTag(format=st.NamedTagFormat("<|open|>{name}>", "[ab]+", TEXT, "<|close|>{name}"))
    matcher = mw.GrammarMatcher(mw.GrammarCompiler(vocab.info()).compile_structural_tag(tag))
    for token in (4, 0, 1, 3, 2, 5, 0):
        assert matcher.accept_token(token)
    assert not matcher.accept_token(0)
    assert matcher.accept_token(1)
    assert matcher.is_completed()


def test_what_starts_a_named_tag_stands_before_the_name() -> None:
    def compile_tags(tags: dict[str, Any]) -> None:
        mw.GrammarCompiler(BYTES.info()).compile_structural_tag({"format": tags})

    tag = {
        "type": "named_tag",
        "begin": "<{name}>",
        "name": "[a-z]+",
        "content": {"type": "any_text"},
        "end": "</{name}>",
    }
    with pytest.raises(mw.StructuralTagError, match="no trigger is a prefix") as caught:
        compile_tags({"type": "triggered_tags", "triggers": ["<a"], "tags": [tag]})
    assert caught.value.pointer == "/format/tags/0/begin"
    with pytest.raises(mw.StructuralTagError, match="expected a tag, found named_tag"):
        compile_tags({"type": "token_triggered_tags", "trigger_tokens": [1], "tags": [tag]})


@pytest.mark.parametrize(
    ("fields", "pointer", "message"),
    [
        ({"begin": "<a>"}, "/format/begin", "contains {name} once"),
        ({"begin": "<{name}{name}>"}, "/format/begin", "contains {name} once"),
        ({"end": "</a>"}, "/format/end", "contains {name} once"),
        ({"end": "{name}>"}, "/format/end", "begins with {name}"),
        ({"name": ""}, "/format/name", "empty"),
        ({"name": "("}, "/format/name", "invalid pattern"),
        ({"name": r"[^\s\S]"}, "/format/name", "no text matches"),
        ({"content": {"type": "regex", "pattern": ".*"}}, "/format/content/pattern", "ambiguous"),
    ],
)
def test_refused(fields: dict[str, Any], pointer: str, message: str) -> None:
    tag = {"begin": "<{name}>", "name": "[a-z]+", "content": {"type": "any_text"}, "end": "</{name}>", **fields}
    with pytest.raises(mw.StructuralTagError) as caught:
        mw.GrammarCompiler(BYTES.info()).compile_structural_tag({"format": {"type": "named_tag", **tag}})
    assert caught.value.pointer == pointer
    assert message in str(caught.value)
