"""Shapes of schemas without sub-schemas, shared by all schemas of the process.

    {"type": "integer", "minimum": 1, "description": "…"}   →   the shape, and its expression, that an equal one made

Most places of most schemas are such leaves, and few of them are new. A leaf is known by its content without
annotations, as bytes that tell 1, 1.0 and true apart. Kept is only what depends on nothing else: no place in the
schema, no layout, no option, nothing refused or reported.
Cost: about a microsecond to look up; only small ones are kept.
Tested by tests/frontends/json_schema/normalise/test_schema_leaves.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright._kernel import canonical_bytes as bytes_of
from maskwright.errors import LimitError, SchemaError
from maskwright.frontends.json_schema.normalise.unevaluated import APPLICATORS
from maskwright.frontends.json_schema.read.misspelled import misspelled
from maskwright.frontends.json_schema.read.places import FREE_PLACES, OPEN, Conj, Refusal
from maskwright.frontends.json_schema.sets.numerals import Numbers
from maskwright.frontends.json_schema.sets.scalars import NeedsRulesError, one_of, scalar_texts
from maskwright.frontends.json_schema.sets.shape import FREE_ARRAYS, FREE_OBJECTS, NumberShape, Shape, StringShape
from maskwright.ir import Expr, GrammarIR, Rule, subgrammar
from maskwright.support.content_cache import ContentCache
from maskwright.support.untracked import untrack

_LEAVES: Final = ContentCache(8192, 4 << 20)
_MAX_CONTENT: Final = 2048  # bytes of one leaf's content

LEAF_KEYWORDS: Final = frozenset(
    (
        *("type", "enum", "const", "minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)
STRUCTURAL_KEYWORDS: Final = APPLICATORS | frozenset(
    (
        *("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems"),
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "dependentRequired", "unevaluatedProperties"),
    )
)
_MORE_THAN_TYPE: Final = STRUCTURAL_KEYWORDS | LEAF_KEYWORDS - {"type"}


def free_place(schema: dict[str, Any], draft: int) -> Conj | None:
    """Return the shared place of a schema that says no more than one type, or nothing; None for others.

    Integers of draft 4 have none: see `WRITTEN_INTEGER`.
    """
    if not _MORE_THAN_TYPE.isdisjoint(schema):
        return None
    if misspelled(schema):
        return None
    if "type" not in schema:
        return OPEN
    name = schema["type"]
    return FREE_PLACES.get(name) if type(name) is str and (draft > 4 or name != "integer") else None


def canonical_bytes(schema: dict[Any, Any], dialect: str) -> bytes | None:
    """Return what a leaf says in a dialect; None if that is long, or not made of JSON's own types."""
    content = bytes_of([dialect, *[said for said in schema.items() if said[0] in LEAF_KEYWORDS]])
    return content if content is not None and len(content) <= _MAX_CONTENT else None


def known_leaf(content: bytes) -> Shape | None:
    """Return the shape of a leaf with this content, if one was kept."""
    return _LEAVES.find(content)  # type: ignore[no-any-return]


def keep_leaf(content: bytes, shape: Shape, numbers: Numbers) -> None:
    """Keep the shape of a leaf, and make its expression, if it depends on nothing else."""
    if shape.arrays not in (FREE_ARRAYS, ()) or shape.objects not in (FREE_OBJECTS, ()):
        return
    try:
        texts = scalar_texts(shape, numbers, _refuse, None)
    except (NeedsRulesError, SchemaError, LimitError):
        return  # for the one who needs it to say where
    if not (shape.arrays or shape.objects):
        shape.text = _as_subgrammar(shape, one_of(texts))
    _LEAVES.keep(content, shape, len(content))
    untrack(shape, Shape, StringShape, NumberShape)  # shapes without sub-schemas are in no cycle


def _as_subgrammar(shape: Shape, text: Expr) -> Expr:
    """Patterns and formats are read by the kernel once, however large, unless numbers need rules of a layout."""
    if shape.numbers or not any(part.patterns or part.formats for part in shape.strings if part.values is None):
        return text
    return subgrammar(GrammarIR((Rule("string", text),), 0))


def _refuse(refusal: Refusal) -> None:
    raise AssertionError(f"{refusal.keyword} is refused only where there are rules")
