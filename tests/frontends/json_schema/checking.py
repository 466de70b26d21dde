"""Helpers of the tests of the JSON Schema front-end."""

from __future__ import annotations

from typing import Any

from frontends.json_schema.grammar_matcher import accepts, accepts_text
from maskwright.errors import UnsatisfiableError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir


def check(schema: Any, valid: list[Any], invalid: list[Any], **options: Any) -> None:
    """The grammar of the schema has all of `valid` and none of `invalid`, as `json.dumps` writes them."""
    try:
        grammar = schema_to_ir(schema, JsonSchemaOptions(**options))
    except UnsatisfiableError:
        assert not valid
        return
    wrong = [("rejected", v) for v in valid if not accepts(grammar, v)]
    wrong += [("accepted", v) for v in invalid if accepts(grammar, v)]
    assert not wrong, (schema, wrong)


def check_texts(schema: Any, valid: list[str], invalid: list[str], **options: Any) -> None:
    """As `check`, with the texts written out."""
    grammar = schema_to_ir(schema, JsonSchemaOptions(**options))
    wrong = [("rejected", t) for t in valid if not accepts_text(grammar, t)]
    wrong += [("accepted", t) for t in invalid if accepts_text(grammar, t)]
    assert not wrong, (schema, wrong)
