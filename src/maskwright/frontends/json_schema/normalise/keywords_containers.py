"""Keywords about arrays and objects: see keywords.py.

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

import json
from typing import Any, Final

from maskwright.frontends.json_schema.normalise.keywords_scalars import count_of
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.normalise.simplify import minimal
from maskwright.frontends.json_schema.read.keyword_table import ASSERTING, READ_BY
from maskwright.frontends.json_schema.read.misspelled import is_standard
from maskwright.frontends.json_schema.read.places import ANYTHING, FREE_PLACES, NOTHING, OPEN, Conj, node_at
from maskwright.frontends.json_schema.sets.intersect import join
from maskwright.frontends.json_schema.sets.shape import ALL_TYPES, OBJECT, Contains, Extras, ObjectShape, Shape

_MORE_THAN_TYPE: Final = ASSERTING - READ_BY.keys() - {"type"}


def _place(context: SchemaContext, keyword: str, value: Any, token: str | None = None) -> Conj:
    if value is True:
        return OPEN
    if value is False:
        return NOTHING
    place = _free_place(value, context.norm.draft) if type(value) is dict and not context.norm.ignored else None
    if place is None:
        return (context.child(keyword, value, token),)
    if not is_standard(value):
        context.norm.findings.note_unknown(context.child(keyword, value, token))
    return place


def _free_place(schema: dict[str, Any], draft: int) -> Conj | None:
    """Return the shared place of a schema that says no more than one type, or nothing; None for others.

    Integers of draft 4 have none: see `WRITTEN_INTEGER`.
    """
    if not _MORE_THAN_TYPE.isdisjoint(schema):
        return None
    if "type" not in schema:
        return OPEN
    name = schema["type"]
    return FREE_PLACES.get(name) if type(name) is str and (draft > 4 or name != "integer") else None


# Arrays


def items(context: SchemaContext, value: Any) -> None:
    array = context.arrays()
    if not isinstance(value, list):
        array.rest = _place(context, "items", value)
        return
    if "prefixItems" in context.schema:
        raise context.malformed("items", "a schema next to prefixItems", value)
    array.prefix = tuple([(context.child("items", schema, i),) for i, schema in enumerate(value)])
    if "additionalItems" in context.schema:
        array.rest = _place(context, "additionalItems", context.schema["additionalItems"])


def prefixItems(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, list):
        raise context.malformed("prefixItems", "an array of schemas", value)
    context.arrays().prefix = tuple([(context.child("prefixItems", schema, i),) for i, schema in enumerate(value)])


def minItems(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "minItems", value)
    if count:
        array = context.arrays()
        array.min_items = max(array.min_items, count)


def maxItems(context: SchemaContext, value: Any) -> None:
    context.arrays().max_items = count_of(context, "maxItems", value)


def uniqueItems(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, bool):
        raise context.malformed("uniqueItems", "a boolean", value)
    if value:
        context.arrays().unique = (context.node.path, "uniqueItems")


def contains(context: SchemaContext, value: Any) -> None:
    schema = context.schema
    least = count_of(context, "minContains", schema["minContains"]) if "minContains" in schema else 1
    most = count_of(context, "maxContains", schema["maxContains"]) if "maxContains" in schema else None
    place = _place(context, "contains", value)
    context.contained += (place,)
    if least or most is not None:
        context.arrays().contains += (Contains(place, least, most, 0, (context.node.path, "contains")),)


# Objects


def properties(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, dict):
        raise context.malformed("properties", "an object of schemas", value)
    declared = context.objects().properties
    document, path, node = context.norm.document, (context.node.path, "properties"), context.node
    id_keyword, resource, all_meant = document.id_keyword, node.resource, not context.norm.ignored
    for name, schema in value.items():
        # As `document.child`, written out: this is the most frequent node by far.
        if type(name) is not str:
            raise context.malformed("properties", "an object of schemas by name", name)
        place = _free_place(schema, context.norm.draft) if all_meant and type(schema) is dict else None
        if place is not None:
            declared[name] = place
            if not is_standard(schema):
                context.norm.findings.note_unknown(context.child("properties", schema, name))
        elif isinstance(schema, dict) and id_keyword in schema:
            declared[name] = (document.child(node, schema, (path, name)),)
        else:
            declared[name] = (node_at((schema, resource, (path, name))),)
    patterns = context.schema.get("patternProperties")
    if isinstance(patterns, dict) and patterns:
        for expression, schema in patterns.items():
            for name in declared:
                if context.norm.matches(expression, name):
                    place = (context.child("patternProperties", schema, expression),)
                    declared[name] = join(declared[name], place)


_STRING: Final = frozenset((str,))


def _are_strings(values: list[Any]) -> bool:
    return _STRING.issuperset(map(type, values)) or all(isinstance(value, str) for value in values)


def _required_hint(value: Any) -> str | None:
    if isinstance(value, bool):
        return 'list the names in the object that has the properties: "required": ["name"]'
    return f"write [{json.dumps(value[:40])}]" if isinstance(value, str) else None


def required(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, list) or not _are_strings(value):
        raise context.malformed("required", "an array of strings", value, _required_hint(value))
    if value:
        context.objects().required.update(dict.fromkeys(value))
        context.norm.findings.note_undeclared(context.node, context.schema)


def additionalProperties(context: SchemaContext, value: Any) -> None:
    if "patternProperties" not in context.schema:
        context.objects().extras = (Extras((), _place(context, "additionalProperties", value)),)


def patternProperties(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, dict):
        raise context.malformed("patternProperties", "an object of schemas", value)
    rest = ANYTHING
    if "additionalProperties" in context.schema:
        rest = _place(context, "additionalProperties", context.schema["additionalProperties"])
    patterns = []
    for expression, schema in value.items():
        path = ((context.node.path, "patternProperties"), expression)
        context.norm.findings.note_pattern(expression, path, "patternProperties")
        patterns.append((expression, path, (context.child("patternProperties", schema, expression),)))
    context.objects().extras = (Extras(tuple(patterns), rest),)


def propertyNames(context: SchemaContext, value: Any) -> None:
    context.objects().names = _place(context, "propertyNames", value)


def minProperties(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "minProperties", value)
    if count:
        shape = context.objects()
        shape.min_path, shape.min_properties = (context.node.path, "minProperties"), count


def maxProperties(context: SchemaContext, value: Any) -> None:
    shape = context.objects()
    shape.max_path = (context.node.path, "maxProperties")
    shape.max_properties = count_of(context, "maxProperties", value)


def _with_members(present: list[str], absent: list[str]) -> Shape:
    """Values that are no object, or an object with and without these members."""
    shape = ObjectShape()
    shape.required = dict.fromkeys(present)
    shape.properties = dict.fromkeys(absent, NOTHING)
    return Shape(ALL_TYPES, objects=(shape,))


def _only_objects(shape: Shape) -> Shape:
    return Shape(OBJECT & shape.mask, objects=shape.objects, exact=shape.exact)


def dependentRequired(context: SchemaContext, value: Any, keyword: str = "dependentRequired") -> None:
    if not isinstance(value, dict):
        raise context.malformed(keyword, "an object of arrays", value)
    for name, others in value.items():
        if not isinstance(others, list) or not _are_strings(others):
            raise context.malformed(keyword, "an object of arrays of strings", others)
        if set(others) - {name}:
            together = _only_objects(_with_members([name, *others], []))
            context.applied.append(context.union([_with_members([], [name]), together]))


def dependentSchemas(context: SchemaContext, value: Any, keyword: str = "dependentSchemas") -> None:
    if not isinstance(value, dict):
        raise context.malformed(keyword, "an object of schemas", value)
    for name, schema in value.items():
        then = _only_objects(context.shape(keyword, schema, name))
        # Branches of a oneOf that only this member tells apart are many alternatives as long as it may be absent.
        guarded = minimal(context.intersect(_with_members([name], []), then), context.norm)
        context.applied.append(context.union([_with_members([], [name]), guarded]))


def dependencies(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, dict):
        raise context.malformed("dependencies", "an object of schemas and arrays", value)
    for name, other in value.items():
        if isinstance(other, (list, str)):
            dependentRequired(context, {name: [other] if isinstance(other, str) else other}, "dependencies")
        else:
            dependentSchemas(context, {name: other}, "dependencies")


def unevaluatedProperties(context: SchemaContext, value: Any) -> None:
    context.unevaluated += (("unevaluatedProperties", _place(context, "unevaluatedProperties", value)),)


def unevaluatedItems(context: SchemaContext, value: Any) -> None:
    context.unevaluated += (("unevaluatedItems", _place(context, "unevaluatedItems", value)),)
