"""Patterns of JSON Schemas between slashes, as JavaScript writes them: no text matches `/^a$/`."""

from __future__ import annotations

import re

import pytest

from maskwright import Grammar, SchemaWarning, StructuralTagError

STRING = {"type": "string", "pattern": "/^[a-z]+$/i"}
OBJECT = {"type": "object", "properties": {"a": STRING}}


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "meant"),
    [
        ({"anyOf": [STRING, {"type": "null"}]}, "/anyOf/0/pattern", "pattern", "(?i:^[a-z]+$)"),
        (OBJECT, "/properties/a/pattern", "pattern", "(?i:^[a-z]+$)"),
        ({"patternProperties": {"/^x/": True}}, "/patternProperties/~1^x~1", "patternProperties", "^x"),
    ],
)
def test_where_the_schema_has_other_values_they_give_a_warning(
    schema: dict[str, object], pointer: str, keyword: str, meant: str
) -> None:
    why = f"they are part of it, so it never matches; leave out the slashes around the pattern: {meant}"
    with pytest.warns(SchemaWarning, match=re.escape(f"a pattern between slashes: {why}")):
        report = Grammar.from_json_schema(schema).report
    assert report == ((pointer, keyword, "enforced", f"a pattern between slashes: {why}"),)


@pytest.mark.parametrize("pattern", ["/a/", "^/a/$", r"/a\$/", r"/\^a/", "a/^b/", "/usr/lib/i"])
def test_slashes_that_may_be_meant(pattern: str) -> None:
    assert Grammar.from_json_schema({"pattern": pattern}).report == ()


def test_in_a_structural_tag() -> None:
    tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": "/^[0-9]+$/"}}
    with pytest.raises(StructuralTagError) as caught:
        Grammar.from_structural_tag(tag)
    assert caught.value.hint == "leave out the slashes around the pattern: ^[0-9]+$"
