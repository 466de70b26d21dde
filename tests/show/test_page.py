"""The page: self-contained, well-formed, with names for its parts, and hostile strings as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest
from byte_tokens import COMPILER, INFO
from hostile import HOSTILE
from html_reader import Page

import maskwright as mw
from maskwright.show.page import page
from maskwright.show.trace import MOST_TOKENS, trace

SVG_EVENTS = re.compile(r"^on", re.IGNORECASE)


def page_of(compiled: mw.CompiledGrammar, ids: Iterable[int], title: str = "it") -> str:
    return page(compiled, trace(mw.GrammarMatcher(compiled), list(ids), lambda _: [b"x"]), title=title, likely_by="me")


def test_parts_have_names_and_links_lead_somewhere() -> None:
    compiled = COMPILER.compile_lark('start: num ("," num)*\nnum[capture]: /[0-9]+/')
    seen = Page(page_of(compiled, b"12,x"))
    ids = {attrs["id"] for _, each in seen.tags if "id" in (attrs := dict(each))}
    assert [link["href"] for link in seen.of("a") if str(link.get("href"))[1:] not in ids and "href" in link] == []
    assert {section["aria-labelledby"] for section in seen.of("section")} <= ids
    assert {head["scope"] for head in seen.of("th")} == {"col", "row"}
    assert [seen.of(tag) != [] for tag in ("main", "header", "nav", "footer", "caption")] == [True] * 5
    assert seen.of("html") == [{"lang": "en"}]
    assert "Token 4 of 4 is refused." in seen.text
    assert "Expected a digit" in seen.text
    assert "Captures" in seen.text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_strings_stay_text(text: str) -> None:
    schema = {
        "type": "object",
        "properties": {text: {"const": text}},
        "required": [text],
        "additionalProperties": False,
    }
    output = json.dumps({text: text}, ensure_ascii=False).encode()
    for compiled, data in (
        (COMPILER.compile_json_schema(schema), output),
        (COMPILER.compile_json_schema(schema), output[:-3] + b"<b>"),
        (COMPILER.compile_choices([text, "x"]), text.encode()),
    ):
        seen = Page(page_of(compiled, data, title=text))
        assert {name for name, _ in seen.tags} & {"script", "img", "b", "iframe", "object", "link"} == set()
        assert [name for _, attrs in seen.tags for name, _ in attrs if SVG_EVENTS.match(name)] == []
        assert "\u202e" not in seen.text
        assert "\x1b" not in seen.text


def test_nothing_is_loaded() -> None:
    html = page_of(COMPILER.compile_regex("[a-z]+"), b"abc")
    assert "default-src 'none'" in html
    assert re.findall(r"""(?:src|href)=["'](?!#)""", html) == []
    assert "url(" not in html
    assert "@import" not in html


def test_a_grammar_alone_and_a_huge_one() -> None:
    assert "Output" not in Page(page(COMPILER.compile_regex("a"), None, title="a")).text
    many = COMPILER.compile_grammar(
        "root ::= "
        + " | ".join(f"r{i}" for i in range(3000))
        + "\n"
        + "\n".join(f'r{i} ::= "{i}" "{i}"*' for i in range(3000))
    )
    html = page(many, None, title="many")
    assert "more rules, in the text below" in html
    assert len(html) < 1_000_000


def test_a_long_output_is_cut_and_says_so() -> None:
    html = page_of(COMPILER.compile_regex("a*"), [97] * (MOST_TOKENS + 9))
    assert f"9 more were not read (the limit is {MOST_TOKENS})" in html


def test_special_tokens_and_the_end() -> None:
    html = page_of(COMPILER.compile_regex("ab"), [257, 256])
    assert "The output is complete and valid." in html
    assert "&lt;/s&gt;" in html
    assert INFO.vocab_size == 258
