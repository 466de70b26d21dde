"""The sub-schemas that apply to the same instance: where they nest deep, they are made from the inside out.

    {"anyOf": [{"$ref": "#/$defs/a"}, {"not": {"type": "null"}}]}   →   the two branches

`Normaliser.shape` calls itself for them, as deep as they nest. That costs nothing as long as it is not deep; past a
bound it asks here for what is inside, and makes the innermost first, so that recursion stays within the bound.
Tested by tests/frontends/json_schema/read/test_schema_references.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS
from maskwright.frontends.json_schema.read.places import Node

if TYPE_CHECKING:
    from maskwright.frontends.json_schema.read.documents import Document

_LISTS: Final = tuple([name for name, row in KEYWORDS.items() if row.in_place and row.holds == "list"])
_BY_NAME: Final = tuple([name for name, row in KEYWORDS.items() if row.in_place and row.holds == "by name"])


def sub_schemas_in_place(document: Document, node: Node) -> list[Node]:
    """Return the places that a schema applies to its own instance, as far as it is well-formed.

    Raises:
        SchemaError: A reference leads nowhere.
    """
    schema = node.schema
    if not isinstance(schema, dict):
        return []
    if "$ref" in schema and document.draft <= 7:
        return [document.target(node)]
    return list(_applied(document, node, schema))


def _applied(document: Document, node: Node, schema: dict[str, Any]) -> Iterator[Node]:
    for keyword in _LISTS:
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield from (document.child(node, branch, ((node.path, keyword), i)) for i, branch in enumerate(branches))
    for keyword in _BY_NAME:
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (document.child(node, each, ((node.path, keyword), name)) for name, each in named.items())
    if "if" in schema and ("then" in schema or "else" in schema):
        conditional = [keyword for keyword in ("if", "then", "else") if keyword in schema]
        yield from (document.child(node, schema[keyword], (node.path, keyword)) for keyword in conditional)
    if "not" in schema:
        negated = document.child(node, schema["not"], (node.path, "not"))
        is_twice = isinstance(negated.schema, dict) and negated.schema.keys() == {"not"}
        # What is negated twice is never made with one negation, which might have no exact form.
        yield document.child(negated, negated.schema["not"], (negated.path, "not")) if is_twice else negated
    if "$ref" in schema:
        yield document.target(node)
