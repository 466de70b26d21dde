"""Texts that are nearly JSON, and what is said of each; with the change, each of them is JSON."""

from __future__ import annotations

import json

import pytest

import maskwright as mw
from maskwright.support.json_mistakes import hint_for

MISTAKES = [
    ('{"type": "object",}', "remove the comma: JSON has none before }", '{"type": "object"}'),
    ('{"enum": [1, 2, ]}', "remove the comma: JSON has none before ]", '{"enum": [1, 2]}'),
    ("{'type': 'null'}", "strings and names in double quotes", '{"type": "null"}'),
    ("{“type”: “null”}", "straight quotes", '{"type": "null"}'),
    ('{// nothing\n"type": "null"}', "no comments", '{"type": "null"}'),
    ('{"const": True}', "JSON writes true", '{"const": true}'),
    ('{type: "null"}', "put names in double quotes", '{"type": "null"}'),
    ('{"type": "object"', "close what is open", '{"type": "object"}'),
]


@pytest.mark.parametrize(("text", "hint", "mended"), MISTAKES)
def test_the_hint_leads_to_json(text: str, hint: str, mended: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert hint in (hint_for(text, caught.value.pos) or "")
    with pytest.raises(mw.SchemaError, match="not valid JSON") as refused:
        mw.Grammar.from_json_schema(text)
    assert hint in (refused.value.hint or "")
    mw.Grammar.from_json_schema(mended)


@pytest.mark.parametrize("text", ["", " ", "}", "nul", "[1 2]"])
def test_nothing_is_said_where_nothing_is_known(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert hint_for(text, caught.value.pos) is None


def test_texts_of_other_languages_name_the_function_that_reads_them() -> None:
    for text, function in [('root ::= "a"', "compile_grammar"), ('start: "a"\n', "compile_lark")]:
        with pytest.raises(mw.SchemaError) as caught:
            mw.Grammar.from_json_schema(text)
        assert function in (caught.value.hint or "")
    with pytest.raises(mw.SchemaError) as caught:
        mw.Grammar.from_json_schema("schemas/person.json")
    assert "file's contents" in (caught.value.hint or "")


@pytest.mark.parametrize("tag", [{"type": "structural_tag"}, {"format": {"type": "any_text"}}])
def test_a_structural_tag_names_the_function_that_reads_it(tag: dict[str, object]) -> None:
    with pytest.raises(mw.SchemaError) as caught:
        mw.Grammar.from_json_schema(tag)
    assert "use compile_structural_tag" in (caught.value.hint or "")
