"""What tells formats apart: equal ones have equal keys, and different ones different keys."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from referencing import Registry

from maskwright import Grammar
from maskwright.structural_tag import (
    AnyTextFormat,
    ConstStringFormat,
    DispatchFormat,
    GrammarFormat,
    JSONSchemaFormat,
    OrFormat,
    QwenXMLParameterFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
    TokenFormat,
    TriggeredTagsFormat,
)
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.content_keys import content_key


def formats() -> list[Format]:
    """Formats of which no two mean the same."""
    number: dict[str, Any] = {"const": 1}
    tags = tuple([TagFormat(f"<{name}>", JSONSchemaFormat(number), ">") for name in "ab"])
    return [
        ConstStringFormat("x"),
        RegexFormat("x"),
        RegexFormat("x", ("y",)),
        RegexFormat("x", origin="/a"),
        GrammarFormat('root ::= "x"'),
        GrammarFormat('root ::= "x"', origin="/a"),
        JSONSchemaFormat(number),
        JSONSchemaFormat({"const": True}),
        JSONSchemaFormat({"const": 1.0}),
        JSONSchemaFormat(number, "qwen_xml"),
        JSONSchemaFormat(number, origin="/a"),
        JSONSchemaFormat(number, strict_mode=True),
        QwenXMLParameterFormat(number),
        SequenceFormat((ConstStringFormat("x"), ConstStringFormat("y"))),
        SequenceFormat((SequenceFormat((ConstStringFormat("x"),)), ConstStringFormat("y"))),
        OrFormat((ConstStringFormat("x"), ConstStringFormat("y"))),
        *tags,
        TagFormat("<a>", JSONSchemaFormat(number), (">", "<")),
        TagFormat("<a>", JSONSchemaFormat(number), TokenFormat(3)),
        TagFormat("<a>", JSONSchemaFormat(number), ">", capture="c"),
        TriggeredTagsFormat(("<",), tags),
        TriggeredTagsFormat(("<",), tags[::-1]),
        TriggeredTagsFormat(("<",), tags, capture="c"),
        DispatchFormat((("x", AnyTextFormat()),)),
        DispatchFormat((("x", AnyTextFormat(("y",))),)),
    ]


def test_keys_are_equal_where_formats_are() -> None:
    keys = list(map(content_key, formats()))
    assert None not in keys
    assert keys == list(map(content_key, formats()))
    assert len(set(keys)) == len(keys)


def test_alternatives_that_stand_in_several_places() -> None:
    twice = OrFormat((ConstStringFormat("x"), ConstStringFormat("y")))
    other = OrFormat((ConstStringFormat("x"), ConstStringFormat("y")))
    assert content_key(SequenceFormat((twice, twice))) == content_key(SequenceFormat((twice, other)))


@pytest.mark.parametrize(
    "it",
    [
        JSONSchemaFormat(True, registry=Registry()),
        JSONSchemaFormat({"const": Decimal(1)}),
        GrammarFormat("x", rules=Grammar.from_lark('start: "x"').ir),
    ],
    ids=["registry", "not plain", "read elsewhere"],
)
def test_what_the_text_does_not_tell_has_no_key(it: Format) -> None:
    assert content_key(it) is None
    assert content_key(SequenceFormat((it, ConstStringFormat("x")))) is None
