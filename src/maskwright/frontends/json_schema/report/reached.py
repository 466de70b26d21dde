"""Which keywords of a schema document apply, and which only annotate: for the report of `maskwright.check`.

From the root, every sub-schema that applies is visited once, through references too; definitions that nothing refers to
are not. Whether a keyword asserts something is looked up in the dispatch table of its draft (keywords.py), and
for the few that another keyword's function reads (`then`, `maxContains`), by whether that one stands next to it.
Keywords that name or hold schemas (`$id`, `$defs`) are left out. That a keyword which asserts something is really
enforced is not known here: what is not, the front-end's own findings say.
Cost: linear in the schema. Tested by tests/frontends/json_schema/report/test_schema_check.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from maskwright.errors import SchemaError
from maskwright.frontends.json_schema.normalise.keywords import BY_DRAFT
from maskwright.frontends.json_schema.options import NOT_A_KEYWORD, UNKNOWN_KEYWORD
from maskwright.frontends.json_schema.read import guidance
from maskwright.frontends.json_schema.read.documents import Document, name_of_draft
from maskwright.frontends.json_schema.read.keyword_table import (
    ANNOTATIONS,
    ASSERTING,
    DEFINITIONS,
    IDENTIFIERS,
    READ_BY,
    holding,
)
from maskwright.frontends.json_schema.read.look_alikes import type_of
from maskwright.frontends.json_schema.read.misplaced import PLURALS, no_effect
from maskwright.frontends.json_schema.read.misspelled import advice_on
from maskwright.frontends.json_schema.read.places import Node, identity
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.formats import FORMATS

HOLD_SCHEMAS: Final = holding("one", "list", "list or one") & ASSERTING
HOLD_SCHEMAS_BY_NAME: Final = holding("by name") & ASSERTING
_NAME_SCHEMAS: Final = (IDENTIFIERS | DEFINITIONS) - {"$id", "id"}


class Reached(NamedTuple):
    """A keyword that applies. `annotation` is None where it asserts something, else why it does not."""

    pointer: str
    keyword: str
    annotation: str | None
    suggestion: str | None = None


def reached_keywords(schema: Any, registry: Any = None) -> Iterator[Reached]:
    """Yield the keywords that apply, those of one schema object together, sub-schemas after it.

    Args:
        schema: As `read_schema` returns it; the front-end has found it well-formed.
        registry: As in `JsonSchemaOptions`.
    """
    document = Document(schema, registry, dynamic=True)
    sees = registry is not None or _has_unevaluated(schema)
    seen = set()
    waiting = [document.node]
    while waiting:
        node = waiting.pop()
        key = identity(node)
        if key in seen or not isinstance(node.schema, dict):
            continue
        seen.add(key)
        found: list[Node] = []
        for keyword, value in node.schema.items():
            if keyword in _NAME_SCHEMAS or keyword == document.id_keyword:
                continue
            if keyword == guidance.KEYWORD and node is document.node:
                yield from _guidance(value)
                continue
            annotation, suggestion = _annotation(keyword, node.schema, document.draft, sees)
            yield Reached(pointer_of((node.path, keyword)), keyword, annotation, suggestion)
            if annotation is None:
                found += _sub_schemas(document, node, keyword, value)
        waiting += reversed(found)


def _guidance(asked: dict[str, Any]) -> Iterator[Reached]:
    not_read = guidance.not_read(asked)
    for name in asked:
        yield Reached(pointer_of(((None, guidance.KEYWORD), name)), name, not_read.get(name))


def _has_unevaluated(schema: Any) -> bool:
    """Whether some part has a keyword for which it matters what an `if` alone has seen."""
    parts = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            if "unevaluatedProperties" in part or "unevaluatedItems" in part:
                return True
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return False


def _annotation(keyword: str, schema: dict[str, Any], draft: int, sees: bool) -> tuple[str | None, str | None]:
    """Return why a keyword asserts nothing where it stands, and what to do about it; None if it asserts something."""
    known = BY_DRAFT[draft]
    if "$ref" in schema and draft <= 7 and keyword != "$ref":
        why = f"up to draft 7, $ref hides what stands next to it; this is {name_of_draft(draft)}"
        return why, "put $ref into an allOf"
    if keyword == "if" and keyword in known and not sees and "then" not in schema and "else" not in schema:
        return "there is neither then nor else next to it", "add one of them, or remove it"
    if keyword in known:
        why, advice = _no_effect_of_format(schema) if keyword == "format" else no_effect(keyword, schema)
        return why or None, advice
    reader = READ_BY.get(keyword)
    if reader is not None:
        if reader not in known:
            return f"{name_of_draft(draft)} does not have {reader}", "let $schema name a later draft"
        if reader not in schema:
            return f"there is no {reader} next to it", f"add {reader}, or remove it"
        if keyword == "additionalItems" and not isinstance(schema[reader], list):
            return "there is no array of items next to it", "write items"
        return None, None
    if keyword in ASSERTING:
        return f"{name_of_draft(draft)} does not have {keyword}", "let $schema name a later draft"
    if keyword in ANNOTATIONS:
        return "it is an annotation", None
    if keyword == guidance.KEYWORD:
        return guidance.NOT_HERE, "write it there"
    advice = advice_on(keyword, schema)
    return (NOT_A_KEYWORD, None) if advice is None else (f"{UNKNOWN_KEYWORD} {keyword!r}", advice)


def _no_effect_of_format(schema: dict[str, Any]) -> tuple[str, str | None]:
    name = type_of(schema)
    if name in ("", "string") or name not in PLURALS or schema["format"] not in FORMATS:
        return "", None
    return f"it has no effect on {PLURALS[name]}", None


def _sub_schemas(document: Document, node: Node, keyword: str, value: Any) -> list[Node]:
    path = (node.path, keyword)
    if keyword in HOLD_SCHEMAS_BY_NAME and isinstance(value, dict):
        return [document.child(node, schema, (path, name)) for name, schema in value.items()]
    if keyword in HOLD_SCHEMAS:
        if isinstance(value, list):
            return [document.child(node, schema, (path, i)) for i, schema in enumerate(value)]
        return [document.child(node, value, path)]
    follow = {
        "$ref": document.target,
        "$dynamicRef": document.dynamic_target,
        "$recursiveRef": document.recursive_target,
    }.get(keyword)
    if follow is None:
        return []
    try:
        return [follow(node)]
    except SchemaError:
        return []  # where no value can be, the front-end does not follow it either
