"""Escaping: nothing that comes from outside becomes an element, an attribute or a control character."""

from __future__ import annotations

import pytest
from hostile import HOSTILE
from html_reader import Page

from maskwright.show.markup import Markup, cut, element, joined, visible, with_code


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    reader = Page(element("p", text, with_code(text), title=text))
    assert reader.tags == [("p", [("title", text)])]
    assert all(c.isprintable() for c in reader.text)


def test_elements_within_elements() -> None:
    assert element("p", element("b", "<"), ">", class_=None) == "<p><b>&lt;</b>&gt;</p>"
    assert joined(Markup("<i>"), "<i>") == "<i>&lt;i&gt;"


def test_code_between_backticks() -> None:
    assert with_code("a `<` b") == "a <code>&lt;</code> b"
    assert with_code("`") == "`"


def test_visible_text_is_short() -> None:
    assert visible(b"a" * 100) == "a" * 59 + "…"
    assert visible("é\t".encode()) == "é⇥"
    assert cut("abc", 3) == "abc"
