"""Strings of patterns and formats are shared between schemas, and what belongs to one schema is not."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir
from maskwright.ir import OP_SUBGRAMMAR, GrammarIR, postorder


def shared(grammar: GrammarIR) -> set[Any]:
    return {part[1] for rule in grammar.rules for part in postorder(rule.body) if part[0] == OP_SUBGRAMMAR}


@pytest.mark.parametrize(
    "schema",
    [
        {"format": "date-time"},
        {"pattern": "^a+$"},
        {"type": ["string", "null"], "format": "date"},
        {"type": ["string", "integer"], "pattern": "^a+$"},
        {"allOf": [{"pattern": "^a+$"}, {"maxLength": 7}]},
    ],
)
def test_patterns_and_formats_are_linked_once(schema: dict[str, Any]) -> None:
    """In whatever schema they stand, they are the same subgrammar, which a tokenizer links once."""
    typed = {"type": "string", **schema}
    assert len(shared(schema_to_ir(typed))) == 1
    assert shared(schema_to_ir({"properties": {"a": typed}})) == shared(schema_to_ir({"items": typed}))


def test_what_differs_is_told_apart() -> None:
    schemas = [
        {"pattern": "^a+$"},
        {"pattern": "^a+$", "maxLength": 7},
        {"pattern": "^a+$", "minLength": 7},
        {"pattern": "date"},
        {"format": "date"},
    ]
    assert len({each for schema in schemas for each in shared(schema_to_ir(schema))}) == len(schemas)


def test_what_excludes_others_is_not_shared() -> None:
    assert not shared(schema_to_ir({"type": "string", "pattern": "^a+$", "not": {"const": "aaa"}}))


def test_errors_name_their_own_place() -> None:
    for name in ("a", "b"):
        with pytest.raises(UnsupportedSchemaError) as caught:
            schema_to_ir({"properties": {name: {"type": "string", "pattern": "(?:(?=.*b)a)*"}}})
        assert caught.value.pointer == f"/properties/{name}/pattern"
        for keyword, value in (("minLength", "x"), ("pattern", "a(b")):
            with pytest.raises(SchemaError) as malformed:
                schema_to_ir({"properties": {name: {"type": "string", keyword: value}}})
            assert malformed.value.pointer == f"/properties/{name}/{keyword}"
            assert not isinstance(malformed.value, UnsupportedSchemaError)
    assert "the group is not closed (column 2)" in str(malformed.value)


def test_findings_are_reported_each_time() -> None:
    """Also if the report had the very same finding before."""
    report: list[Finding] = []
    for _ in range(2):
        schema_to_ir({"format": "date"}, JsonSchemaOptions(formats="annotate"), report)
        assert [finding.pointer for finding in report] == ["/format"]
    for name in ("a", "b"):
        findings: list[Finding] = []
        schema_to_ir({"properties": {name: {"format": "date"}}}, JsonSchemaOptions(formats="annotate"), findings)
        assert [finding.pointer for finding in findings] == [f"/properties/{name}/format"]
