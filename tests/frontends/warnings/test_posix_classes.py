"""POSIX classes in patterns of ECMA-262, which reads them as other sets."""

from __future__ import annotations

import re

import pytest

from maskwright import Grammar, SchemaWarning
from maskwright.frontends.regex.classes import POSIX
from maskwright.frontends.warnings.posix_classes import posix_class


@pytest.mark.parametrize("name", POSIX)
def test_the_characters_of_each_class(name: str) -> None:
    found = posix_class(f"^[[:{name}:]_]+$")
    assert found is not None
    assert found.text == f"[:{name}:]"
    ours = {chr(code) for code in range(128) if re.fullmatch(f"[{found.characters}]", chr(code), re.ASCII)}
    assert ours == {chr(code) for code in range(128) if code in POSIX[name]}


@pytest.mark.parametrize(
    "pattern", ["", "[:alpha]", r"\[:alpha:\]", r"[\[:alpha:]", "[[:letter:]]", "[[.alpha.]]", "[:]", "[a:alpha:]"]
)
def test_what_is_none(pattern: str) -> None:
    assert posix_class(pattern) is None


STRING = {"type": "string", "pattern": "^[[:alpha:]]+$"}


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        (STRING, "/pattern", "pattern"),
        ({"type": "string", "pattern": "^[:alpha:]+$"}, "/pattern", "pattern"),
        ({"patternProperties": {"^[^[:alpha:]]": True}}, "/patternProperties/^[^[:alpha:]]", "patternProperties"),
        # what can be deferred otherwise
        ({"type": "object", "properties": {"a": STRING}}, "/properties/a/pattern", "pattern"),
    ],
)
def test_in_schemas_they_give_a_warning(schema: dict[str, object], pointer: str, keyword: str) -> None:
    why = "[:alpha:] is not what it is elsewhere, as patterns are those of ECMA-262; write A-Za-z between the brackets"
    with pytest.warns(SchemaWarning, match=re.escape(f"a POSIX class: {why}")):
        report = Grammar.from_json_schema(schema).report
    assert report == ((pointer, keyword, "enforced", f"a POSIX class: {why}"),)
