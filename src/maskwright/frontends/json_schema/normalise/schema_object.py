"""The shape of one schema object: what its own assertions say, and what the sub-schemas do that it applies in place.

    {"type": "string", "minLength": 2, "anyOf": [A, B]}   →   strings of 2 characters, intersected with (A or B)

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.json_schema.normalise.complement import complement
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.dropped import LATER, note_hidden, note_later
from maskwright.frontends.json_schema.normalise.findings import schema_error
from maskwright.frontends.json_schema.normalise.keywords import BY_DRAFT
from maskwright.frontends.json_schema.normalise.one_of import exactly_one, one_of_beside
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.normalise.unevaluated import narrowed_by_unevaluated, note_seen
from maskwright.frontends.json_schema.read.places import Negation, Node, Union
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ANY_KIND,
    FREE_ARRAYS,
    FREE_INTEGERS,
    FREE_NUMBERS,
    FREE_OBJECTS,
    FREE_STRINGS,
    FREE_WRITTEN_INTEGERS,
    INTEGER,
    UNKNOWN_SHAPE,
    WRITTEN_INTEGER,
    Shape,
    union,
)

_FREE: Final = {ANY_KIND: FREE_NUMBERS, INTEGER: FREE_INTEGERS, WRITTEN_INTEGER: FREE_WRITTEN_INTEGERS}
# Those of draft 4's integers are written differently by option, and shapes keep their texts.
_SIMPLE: Final = {
    (mask, kind): Shape(mask, _FREE[kind]) for mask in range(ALL_TYPES + 1) for kind in (ANY_KIND, INTEGER)
}


def make_shape(node: Node, norm: DocumentContext) -> Shape:
    """Return the shape of the schema of a place.

    Raises:
        SchemaError: It is malformed.
    """
    schema = node.schema
    if not isinstance(schema, dict):
        return _without_keywords(node, schema, norm)
    if norm.ignored:
        schema = {keyword: value for keyword, value in schema.items() if keyword not in norm.ignored}
    context = SchemaContext(norm, node, schema)
    _run_keywords(context)
    own = _own_shape(context)
    if context.beside:
        base = _with_applied(context, own)
        for index, place in context.beside:
            context.applied[index] = one_of_beside(context, place, base)
    shape = _with_applied(context, own)
    for branches in context.exclusive:
        shape = exactly_one(context, shape, branches)
    if context.unevaluated:
        shape = narrowed_by_unevaluated(shape, context)
    return shape if context.exact else shape.widened()


def _without_keywords(node: Node, schema: Any, norm: DocumentContext) -> Shape:
    """The shape of a place that no one wrote; an error for what is no schema."""
    if type(schema) is Union:
        return union([norm.shape_of(place) for place in schema.places])
    if type(schema) is not Negation:
        what = f"a schema must be an object or a boolean, not {type(schema).__name__}"
        raise schema_error(node, None, what, _hint_at(schema))
    shape = complement(schema.negated, norm, node.path)
    if shape is None:
        SchemaContext(norm, node, {}).refuse("not", "the negation of this schema cannot be expressed exactly")
        return UNKNOWN_SHAPE
    return shape


def _run_keywords(context: SchemaContext) -> None:
    norm, schema = context.norm, context.schema
    keywords = BY_DRAFT[norm.draft]
    if "$ref" in schema and norm.draft <= 7:
        keywords["$ref"](context, schema["$ref"])
        if len(schema) > 1:
            note_hidden(context.node, norm.document, norm.findings)
    else:
        later = LATER[norm.draft]
        for keyword, value in schema.items():
            function = keywords.get(keyword)
            if function is not None:
                function(context, value)
            elif keyword in later:
                note_later(context.node, keyword, norm.draft, norm.findings)
        norm.findings.note_misplaced(context.node, schema, keywords)
    if norm.tracks or context.unevaluated:
        note_seen(context)


def _own_shape(context: SchemaContext) -> Shape:
    """The shape of a schema object's own assertions."""
    if context.number is None and context.string is None and context.array is None and context.object is None:
        return _SIMPLE.get((context.mask, context.kind)) or Shape(context.mask, FREE_WRITTEN_INTEGERS)
    numbers = _FREE[context.kind]
    if context.number is not None:
        context.number.kind = context.kind
        numbers = (context.number,)
    return Shape(
        context.mask,
        numbers,
        (context.string,) if context.string is not None else FREE_STRINGS,
        (context.array,) if context.array is not None else FREE_ARRAYS,
        (context.object,) if context.object is not None else FREE_OBJECTS,
    )


def _with_applied(context: SchemaContext, shape: Shape) -> Shape:
    """What holds of a schema object's own assertions and of the shapes that hold as well, in the order of the text."""
    before, after = context.applied[: context.own_position], context.applied[context.own_position :]
    for i, other in enumerate([*before, shape, *after]):
        shape = other if i == 0 else context.intersect(shape, other)
    return shape


def _hint_at(value: Any) -> str:
    """What to write for something that stands where a schema belongs."""
    if isinstance(value, type):
        return 'write {"type": "integer"} for int, or pass one class for all of it'
    if isinstance(value, str):
        return 'write {"type": "string"} for a type, {"const": "text"} for a fixed text'
    return "write a schema, such as {} for any value"
