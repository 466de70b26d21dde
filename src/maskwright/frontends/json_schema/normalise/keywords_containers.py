"""Keywords about arrays and objects: see keywords.py.

Tested by tests/frontends/json_schema/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.json_schema.normalise.keywords_scalars import count_of
from maskwright.frontends.json_schema.normalise.leaves import free_place
from maskwright.frontends.json_schema.normalise.site import Site
from maskwright.frontends.json_schema.read.places import ANYTHING, NOTHING, OPEN, Conj, node_at
from maskwright.frontends.json_schema.sets.intersect import join
from maskwright.frontends.json_schema.sets.shape import ALL_TYPES, OBJECT, Contains, Extras, ObjectShape, Shape


def _place(site: Site, keyword: str, value: Any, token: str | None = None) -> Conj:
    if value is True:
        return OPEN
    if value is False:
        return NOTHING
    place = free_place(value, site.norm.draft) if type(value) is dict and not site.norm.ignored else None
    return place if place is not None else (site.child(keyword, value, token),)


# Arrays


def items(site: Site, value: Any) -> None:
    array = site.arrays()
    if not isinstance(value, list):
        array.rest = _place(site, "items", value)
        return
    if "prefixItems" in site.schema:
        raise site.malformed("items", "a schema next to prefixItems", value)
    array.prefix = tuple([(site.child("items", schema, i),) for i, schema in enumerate(value)])
    if "additionalItems" in site.schema:
        array.rest = _place(site, "additionalItems", site.schema["additionalItems"])


def prefixItems(site: Site, value: Any) -> None:
    if not isinstance(value, list):
        raise site.malformed("prefixItems", "an array of schemas", value)
    site.arrays().prefix = tuple([(site.child("prefixItems", schema, i),) for i, schema in enumerate(value)])


def minItems(site: Site, value: Any) -> None:
    count = count_of(site, "minItems", value)
    if count:
        array = site.arrays()
        array.min_items = max(array.min_items, count)


def maxItems(site: Site, value: Any) -> None:
    site.arrays().max_items = count_of(site, "maxItems", value)


def uniqueItems(site: Site, value: Any) -> None:
    if not isinstance(value, bool):
        raise site.malformed("uniqueItems", "a boolean", value)
    if value:
        site.arrays().unique = (site.node.path, "uniqueItems")


def contains(site: Site, value: Any) -> None:
    schema = site.schema
    least = count_of(site, "minContains", schema["minContains"]) if "minContains" in schema else 1
    most = count_of(site, "maxContains", schema["maxContains"]) if "maxContains" in schema else None
    place = _place(site, "contains", value)
    site.contained += (place,)
    if least or most is not None:
        site.arrays().contains += (Contains(place, least, most, 0, (site.node.path, "contains")),)


# Objects


def properties(site: Site, value: Any) -> None:
    if not isinstance(value, dict):
        raise site.malformed("properties", "an object of schemas", value)
    declared = site.objects().properties
    document, path, node = site.norm.document, (site.node.path, "properties"), site.node
    id_keyword, resource, all_meant = document.id_keyword, node.resource, not site.norm.ignored
    for name, schema in value.items():
        # As `document.child`, written out: this is the most frequent node by far.
        if type(name) is not str:
            raise site.malformed("properties", "an object of schemas by name", name)
        place = free_place(schema, site.norm.draft) if all_meant and type(schema) is dict else None
        if place is not None:
            declared[name] = place
        elif isinstance(schema, dict) and id_keyword in schema:
            declared[name] = (document.child(node, schema, (path, name)),)
        else:
            declared[name] = (node_at((schema, resource, (path, name))),)
    patterns = site.schema.get("patternProperties")
    if isinstance(patterns, dict) and patterns:
        for expression, schema in patterns.items():
            for name in declared:
                if site.norm.matches(expression, name):
                    place = (site.child("patternProperties", schema, expression),)
                    declared[name] = join(declared[name], place)


_STRING: Final = frozenset((str,))


def _are_strings(values: list[Any]) -> bool:
    return _STRING.issuperset(map(type, values)) or all(isinstance(value, str) for value in values)


def required(site: Site, value: Any) -> None:
    if not isinstance(value, list) or not _are_strings(value):
        raise site.malformed("required", "an array of strings", value)
    if value:
        site.objects().required.update(dict.fromkeys(value))


def additionalProperties(site: Site, value: Any) -> None:
    if "patternProperties" not in site.schema:
        site.objects().extras = (Extras((), _place(site, "additionalProperties", value)),)


def patternProperties(site: Site, value: Any) -> None:
    if not isinstance(value, dict):
        raise site.malformed("patternProperties", "an object of schemas", value)
    rest = ANYTHING
    if "additionalProperties" in site.schema:
        rest = _place(site, "additionalProperties", site.schema["additionalProperties"])
    patterns = []
    for expression, schema in value.items():
        path = ((site.node.path, "patternProperties"), expression)
        patterns.append((expression, path, (site.child("patternProperties", schema, expression),)))
    site.objects().extras = (Extras(tuple(patterns), rest),)


def propertyNames(site: Site, value: Any) -> None:
    site.objects().names = _place(site, "propertyNames", value)


def minProperties(site: Site, value: Any) -> None:
    count = count_of(site, "minProperties", value)
    if count:
        shape = site.objects()
        shape.min_path, shape.min_properties = (site.node.path, "minProperties"), count


def maxProperties(site: Site, value: Any) -> None:
    shape = site.objects()
    shape.max_path = (site.node.path, "maxProperties")
    shape.max_properties = count_of(site, "maxProperties", value)


def _with_members(present: list[str], absent: list[str]) -> Shape:
    """Values that are no object, or an object with and without these members."""
    shape = ObjectShape()
    shape.required = dict.fromkeys(present)
    shape.properties = dict.fromkeys(absent, NOTHING)
    return Shape(ALL_TYPES, objects=(shape,))


def _only_objects(shape: Shape) -> Shape:
    return Shape(OBJECT & shape.mask, objects=shape.objects)


def dependentRequired(site: Site, value: Any, keyword: str = "dependentRequired") -> None:
    if not isinstance(value, dict):
        raise site.malformed(keyword, "an object of arrays", value)
    for name, others in value.items():
        if not isinstance(others, list) or not _are_strings(others):
            raise site.malformed(keyword, "an object of arrays of strings", others)
        if set(others) - {name}:
            together = _only_objects(_with_members([name, *others], []))
            site.applied.append(site.norm.union([_with_members([], [name]), together]))


def dependentSchemas(site: Site, value: Any, keyword: str = "dependentSchemas") -> None:
    if not isinstance(value, dict):
        raise site.malformed(keyword, "an object of schemas", value)
    for name, schema in value.items():
        then = _only_objects(site.shape(keyword, schema, name))
        guarded = site.norm.intersect(_with_members([name], []), then)
        site.applied.append(site.norm.union([_with_members([], [name]), guarded]))


def dependencies(site: Site, value: Any) -> None:
    if not isinstance(value, dict):
        raise site.malformed("dependencies", "an object of schemas and arrays", value)
    for name, other in value.items():
        if isinstance(other, (list, str)):
            dependentRequired(site, {name: [other] if isinstance(other, str) else other}, "dependencies")
        else:
            dependentSchemas(site, {name: other}, "dependencies")


def unevaluatedProperties(site: Site, value: Any) -> None:
    site.unevaluated += (("unevaluatedProperties", _place(site, "unevaluatedProperties", value)),)


def unevaluatedItems(site: Site, value: Any) -> None:
    site.unevaluated += (("unevaluatedItems", _place(site, "unevaluatedItems", value)),)
