"""Leaves are shared between schemas, and only what means the same is."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.normalise.keywords import KEYWORDS
from maskwright.frontends.json_schema.normalise.leaves import LEAF_KEYWORDS, STRUCTURAL_KEYWORDS, canonical_bytes
from maskwright.ir import OP_SUBGRAMMAR, postorder


def body(schema: Any, **options: Any) -> Any:
    ir = schema_to_ir(schema, JsonSchemaOptions(**options))
    return ir.rules[ir.root].body


def test_every_keyword_is_of_one_kind() -> None:
    assert set(KEYWORDS) == LEAF_KEYWORDS | STRUCTURAL_KEYWORDS
    assert not LEAF_KEYWORDS & STRUCTURAL_KEYWORDS


def test_equal_leaves_have_one_expression() -> None:
    first = body({"type": "string", "maxLength": 77, "description": "one"})
    assert body({"title": "another", "type": "string", "maxLength": 77}) is first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"const": 1}, {"const": True}),
        ({"enum": [0, "x"]}, {"enum": [False, "x"]}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
    ],
)
def test_what_differs_is_told_apart(one: Any, other: Any) -> None:
    assert body(one) != body(other)


def test_the_draft_counts() -> None:
    schema = {"type": "string", "const": "a"}
    old = {"$schema": "http://json-schema.org/draft-04/schema#", **schema}
    assert body({"items": schema}) != body({"items": old}) or body(schema) != body(old)
    assert body(schema).dump() == '"\\"a\\""'


def test_errors_name_their_own_place() -> None:
    for name in ("a", "b"):
        with pytest.raises(UnsupportedSchemaError) as caught:
            schema_to_ir({"properties": {name: {"type": "string", "pattern": r"(a)\1"}}})
        assert caught.value.pointer == f"/properties/{name}/pattern"
        with pytest.raises(SchemaError) as malformed:
            schema_to_ir({"properties": {name: {"minLength": "x"}}})
        assert malformed.value.pointer == f"/properties/{name}/minLength"


def test_findings_are_reported_each_time() -> None:
    for name in ("a", "b"):
        report: list[Finding] = []
        schema_to_ir({"properties": {name: {"type": "string", "format": "no such format"}}}, report=report)
        assert [finding.pointer for finding in report] == [f"/properties/{name}/format"]


def test_long_and_strange_leaves_are_not_kept() -> None:
    assert canonical_bytes({"enum": ["x" * 5000]}, "2020") is None
    assert canonical_bytes({"const": object()}, "2020") is None


@pytest.mark.parametrize(
    "schema", [{"format": "date-time"}, {"pattern": "^a+$"}, {"type": ["string", "null"], "format": "date"}]
)
def test_patterns_and_formats_are_linked_once(schema: dict[str, Any]) -> None:
    """In whatever schema they stand, they are the same leaf, which a tokenizer links once."""
    typed = {"type": "string", **schema}
    leaves = set()
    for name in ("a", "b"):
        ir = schema_to_ir({"properties": {name: typed}, "required": [name]})
        leaves |= {part[1] for rule in ir.rules for part in postorder(rule.body) if part[0] == OP_SUBGRAMMAR}
    assert len(leaves) == 1


def test_patterns_beside_rules_of_the_layout_are_no_leaves() -> None:
    ir = schema_to_ir({"type": ["string", "integer"], "pattern": "^a+$"})
    assert not [part for rule in ir.rules for part in postorder(rule.body) if part[0] == OP_SUBGRAMMAR]
