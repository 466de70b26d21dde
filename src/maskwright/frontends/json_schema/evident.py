"""Schemas of which a glance shows that they can be compiled, so that doing so can wait until it is needed.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}     evident
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7}}}            not: someone has to look

Evident is a schema of objects that is well-formed, has values, needs no parametric rules in declared order, and has
nothing to be reported. Most arguments of tools are. Nothing here changes what a schema means: what is not evident is
compiled at once.

Precondition: `_kernel.content_of` reads the schema: it is made of JSON's own types, without halves of surrogate pairs,
and nests less deep than the front-end allows.
Cost: about a microsecond a schema object.
Tested by tests/frontends/json_schema/test_schema_evident.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maskwright.frontends.json_schema.formats import FORMATS

_MOST_SCHEMAS = 2_000
_MOST_ITEMS = 1_000
_MOST = 10**15
_DRAFTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")


def is_evident(schema: Any) -> bool:
    """Whether it is evident that a schema of objects can be compiled, with any options but `any_order`."""
    if type(schema) is not dict or schema.get("type") != "object":
        return False
    if "$schema" in schema:
        uri = schema["$schema"]
        if type(uri) is not str or not any(draft in uri for draft in _DRAFTS):
            return False
        schema = {keyword: value for keyword, value in schema.items() if keyword != "$schema"}
    open_ = [schema]  # to be looked at, while it grows
    for each in open_:
        if each is True:
            continue
        if type(each) is not dict:
            return False
        kind = each.get("type")
        if type(kind) is not str:
            if not _untyped(each, open_):
                return False
        elif kind not in _OF_TYPE:
            return False
        else:
            keywords, check = _OF_TYPE[kind]
            if not keywords.issuperset(each) or (check is not None and not check(each, open_)):
                return False
    return len(open_) <= _MOST_SCHEMAS


def _untyped(schema: dict[str, Any], open_: list[Any]) -> bool:
    said = schema.keys() - _ANNOTATIONS
    if said == {"type"}:
        names = schema["type"]
        return type(names) is list and len(names) > 0 and all(type(name) is str and name in _OF_TYPE for name in names)
    if said == {"enum"}:
        return _scalars(schema["enum"], str, int, bool, type(None))
    if said == {"anyOf"} and type(schema["anyOf"]) is list:
        open_ += schema["anyOf"]
        return len(schema["anyOf"]) > 0 and not any(type(each) is dict and "anyOf" in each for each in schema["anyOf"])
    return not said


def _string(schema: dict[str, Any], _: list[Any]) -> bool:
    if "enum" in schema:
        return _scalars(schema["enum"], str) and schema.keys().isdisjoint(("format", "minLength", "maxLength"))
    if "format" in schema:
        name = schema["format"]
        return type(name) is str and name in FORMATS and "minLength" not in schema and "maxLength" not in schema
    return _bounded(schema, "minLength", "maxLength", 0, _MOST, int)


def _integer(schema: dict[str, Any], _: list[Any]) -> bool:
    if "enum" in schema:
        return _scalars(schema["enum"], int) and "minimum" not in schema and "maximum" not in schema
    return _bounded(schema, "minimum", "maximum", -_MOST, _MOST, int)


def _number(schema: dict[str, Any], _: list[Any]) -> bool:
    return _bounded(schema, "minimum", "maximum", -_MOST, _MOST, int, float)


def _array(schema: dict[str, Any], open_: list[Any]) -> bool:
    open_.append(schema.get("items", True))
    return _bounded(schema, "minItems", "maxItems", 0, _MOST_ITEMS, int)


def _object(schema: dict[str, Any], open_: list[Any]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if type(properties) is not dict or type(required) is not list:
        return False
    open_ += properties.values()
    others = schema.get("additionalProperties", False)
    if others is not False:
        open_.append(others)
    return _STRING.issuperset(map(type, required)) and properties.keys() >= set(required)


def _scalars(values: Any, *types: type) -> bool:
    return (
        type(values) is list
        and len(values) > 0
        and all(type(value) in types and (type(value) is not int or -_MOST <= value <= _MOST) for value in values)
    )


def _bounded(schema: dict[str, Any], lower: str, upper: str, least: int, most: int, *types: type) -> bool:
    low, high = schema.get(lower, least), schema.get(upper, most)
    return type(low) in types and type(high) in types and least <= low <= high <= most


_STRING = frozenset((str,))
_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly")
)
_Check = Callable[[dict[str, Any], list[Any]], bool]


def _may_say(*keywords: str) -> frozenset[str]:
    return _ANNOTATIONS.union(("type",), keywords)


_OF_TYPE: dict[str, tuple[frozenset[str], _Check | None]] = {
    "null": (_may_say(), None),
    "boolean": (_may_say(), None),
    "string": (_may_say("enum", "format", "minLength", "maxLength"), _string),
    "integer": (_may_say("enum", "minimum", "maximum"), _integer),
    "number": (_may_say("minimum", "maximum"), _number),
    "array": (_may_say("items", "minItems", "maxItems"), _array),
    "object": (_may_say("properties", "required", "additionalProperties"), _object),
}
