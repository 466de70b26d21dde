"""Keywords that speak of another type than the one that a schema admits, so that they say nothing.

    misplaced({"type": "string", "minimum": 3})      [("minimum", "… 'minimum' has no effect on strings", "did you …")]
    misplaced({"type": ["string", "null"], "minLength": 3})      []

Surely something was to be constrained. Not so by what is put beside any type: `additionalProperties` and its like stand
in 1.3 % of the schemas of MaskBench's dev set with a type that is not `object`, and `format` of somebody's own in 1 %.
Nor by what asks for nothing, such as `minLength: 0`.
Tested by tests/frontends/json_schema/read/test_schema_misplaced.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.json_schema.options import OF_OTHER_TYPE
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS
from maskwright.frontends.json_schema.read.look_alikes import type_of

PLURALS: Final = {
    "null": "null",
    "boolean": "booleans",
    "number": "numbers",
    "integer": "integers",
    "string": "strings",
    "array": "arrays",
    "object": "objects",
}
_ABOUT: Final = {keyword: row.about for keyword, row in KEYWORDS.items() if row.about}
_OF_OTHERS: Final = {
    name: frozenset(keyword for keyword, kind in _ABOUT.items() if kind != ("number" if name == "integer" else name))
    for name in PLURALS
}
_BESIDE_ANY_TYPE: Final = frozenset(("additionalProperties", "unevaluatedProperties"))
_LEAST: Final = frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"))
_GREATEST: Final = frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"))
_BOUNDS: Final = {
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def misplaced(schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the keywords of a schema object that were surely meant for another type, why, and what to do."""
    others = _OF_OTHERS.get(type_of(schema))
    if others is None or others.isdisjoint(schema):
        return []
    found = [(keyword, *no_effect(keyword, schema)) for keyword in schema if keyword in others]
    return [(keyword, reason, advice) for keyword, reason, advice in found if advice is not None]


def no_effect(keyword: str, schema: dict[str, Any]) -> tuple[str, str | None]:
    """Return why a keyword of a schema object says nothing of its type, "" if it may; what to do, if it was meant."""
    name = type_of(schema)
    if keyword not in _OF_OTHERS.get(name, ()):
        return "", None
    why = f"it has no effect on {PLURALS[name]}"
    if keyword in _BESIDE_ANY_TYPE or _asks_nothing(keyword, schema[keyword]):
        return why, None
    return f"{OF_OTHER_TYPE}: {keyword!r} has no effect on {PLURALS[name]}", _advice(keyword, name, schema)


def _asks_nothing(keyword: str, value: Any) -> bool:
    if keyword in _LEAST and not keyword.lower().endswith("minimum"):
        return bool(value == 0)
    return value in ({}, []) or (keyword == "uniqueItems" and value is False)


def _advice(keyword: str, name: str, schema: dict[str, Any]) -> str:
    least, greatest = _BOUNDS.get(name, (keyword, keyword))
    meant = least if keyword in _LEAST else greatest if keyword in _GREATEST else keyword
    if meant not in schema:
        return f"did you mean {meant!r}?"
    if name == "array" and _ABOUT[keyword] == "object":
        return "write it in items"
    return f'remove it, or let type be "{_ABOUT[keyword]}"'
