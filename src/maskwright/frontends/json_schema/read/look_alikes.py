"""Keywords that JSON Schema does not have, but that are constraints elsewhere, each with what to write instead.

    look_alike("min", 3, {"type": "string", "min": 3})     →   "did you mean 'minLength'?"
    look_alike("nullable", True, {"type": "string"})       →   'write "type": ["string", "null"]'
    look_alike("values", "text", {"type": "string"})       →   None: that is no list of values

They come from libraries for validation, from OpenAPI 3.0, from Ajv and from drafts 2 and 3. Many are annotations in
other places, so the value has to be such as the constraint has, and the keyword to use must not stand beside it.
Tested by tests/frontends/json_schema/read/test_schema_look_alikes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from maskwright.support import near_names


class _LookAlike(NamedTuple):
    """What a name means elsewhere.

    Attributes:
        is_meant: Whether a value is that of the constraint.
        instead: The keywords that say the same.
        advice: What to do, where that is more than to write these keywords.
        also: Other keywords beside which it is an annotation.
    """

    is_meant: Callable[[Any], bool]
    instead: tuple[str, ...] = ()
    advice: str | None = None
    also: tuple[str, ...] = ()


def bare(keyword: str) -> str:
    """Return a keyword without what writers of a language put into names: `min_length` is `minLength`."""
    return near_names.bare(keyword).replace("$", "")


def look_alike(keyword: str, value: Any, schema: dict[str, Any]) -> str | None:
    """Return what to write instead of an unknown keyword that is a constraint elsewhere; None if it is not one here."""
    name = bare(keyword)
    if name == "nullable":
        return _nullable(schema) if value is True else None
    known = _LOOK_ALIKES.get(name)
    if known is None or not known.is_meant(value):
        return None
    kind = type_of(schema)
    if name in _FOR_ARRAYS and kind != "array":
        return None
    instead = known.instead
    if name in _BY_TYPE:
        instead = tuple([_OF_TYPE.get((kind, each), each) for each in instead])
    if any(each in schema for each in (*instead, *known.also)):
        return None
    return known.advice or f"did you mean {' and '.join(map(repr, instead))}?"


def is_look_alike(keyword: str) -> bool:
    """Whether a keyword is a constraint elsewhere, with some values."""
    name = bare(keyword)
    return name in _LOOK_ALIKES or name == "nullable"


def type_of(schema: dict[str, Any]) -> str:
    """Return the one type beside null that a schema object admits by its `type`; "" if that may be any, or several."""
    kind = schema.get("type")
    names = [each for each in kind if each != "null"] if type(kind) is list else [kind]
    return names[0] if len(names) == 1 and type(names[0]) is str else ""


def _nullable(schema: dict[str, Any]) -> str | None:
    """How to admit null, where a schema does not do so yet."""
    kind, values = schema.get("type"), schema.get("enum")
    lists_null = type(values) is not list or None in values
    if type(kind) is str and kind != "null":
        return f'write "type": ["{kind[:20]}", "null"]' + ("" if lists_null else ", and null in enum")
    if type(kind) is list and "null" not in kind:
        return 'write "null" in type, too' + ("" if lists_null else ", and null in enum")
    if kind is not None:
        return None
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if type(branches) is list and any(type(each) is dict and _has_null(each) for each in branches):
            return None
    if not lists_null or not _OF_ALL_TYPES.isdisjoint(schema):
        return 'write "anyOf": [{…}, {"type": "null"}]'
    return None


def _has_null(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "null" or (type(kind) is list and "null" in kind)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, Decimal)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_pattern(value: Any) -> bool:
    return type(value) is str or (type(value) is dict and "pattern" in value)


def _is_schema(value: Any) -> bool:
    return type(value) is dict


def _is_schema_or_flag(value: Any) -> bool:
    return type(value) in (dict, bool)


def _is_type(value: Any) -> bool:
    return type(value) is str and value in _TYPES


def _is_true(value: Any) -> bool:
    return value is True


def _is_false(value: Any) -> bool:
    return value is False


def _is_list(value: Any) -> bool:
    return type(value) is list and len(value) > 0


def _lists_names(value: Any) -> bool:
    return _is_list(value) and _STRINGS.issuperset(map(type, value))


def _lists_scalars(value: Any) -> bool:
    return _is_list(value) and _CONTAINERS.isdisjoint(map(type, value))


def _holds_schemas(value: Any) -> bool:
    return type(value) is dict and len(value) > 0 and _OBJECTS.issuperset(map(type, value.values()))


def _is_range(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and all(map(_is_number, value))


def _extends(value: Any) -> bool:
    return type(value) is dict or (_is_list(value) and _OBJECTS.issuperset(map(type, value)))


def _excludes_types(value: Any) -> bool:
    return _is_type(value) or _is_list(value)


def _depends(value: Any) -> bool:
    return type(value) is dict or _lists_names(value)


_STRINGS: Final = frozenset((str,))
_OBJECTS: Final = frozenset((dict,))
_CONTAINERS: Final = frozenset((dict, list))
_TYPES: Final = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
_OF_ALL_TYPES: Final = frozenset(("$ref", "allOf", "anyOf", "oneOf", "const"))  # what may exclude null, without a type
_OTHER_CHOICES: Final = ("const", "oneOf", "anyOf")
_IN_PARENT: Final = "list it in required, in the object around it"
_NO_BOUNDS: Final = "JSON Schema has no bounds of formats; a pattern can narrow them"

_LOOK_ALIKES: Final[dict[str, _LookAlike]] = {
    **dict.fromkeys(("min", "minvalue", "minimumvalue", "minval", "gte", "ge"), _LookAlike(_is_number, ("minimum",))),
    **dict.fromkeys(("max", "maxvalue", "maximumvalue", "maxval", "lte", "le"), _LookAlike(_is_number, ("maximum",))),
    "gt": _LookAlike(_is_number, ("exclusiveMinimum",)),
    "lt": _LookAlike(_is_number, ("exclusiveMaximum",)),
    "range": _LookAlike(_is_range, ("minimum", "maximum")),
    **dict.fromkeys(("length", "len"), _LookAlike(_is_number, ("minLength", "maxLength"))),
    "minlen": _LookAlike(_is_number, ("minLength",)),
    "maxlen": _LookAlike(_is_number, ("maxLength",)),
    **dict.fromkeys(("regex", "regexp", "regularexpression"), _LookAlike(_is_pattern, ("pattern",))),
    **dict.fromkeys(("startswith", "endswith"), _LookAlike(_is_text, ("pattern",))),
    **dict.fromkeys(
        (
            *("values", "choices", "options", "allowed", "allowedvalues", "validvalues", "possiblevalues"),
            *("acceptedvalues", "permittedvalues", "enumvalues", "enumeration"),
        ),
        _LookAlike(_lists_scalars, ("enum",), also=_OTHER_CHOICES),
    ),
    **dict.fromkeys(("datatype", "valuetype"), _LookAlike(_is_type, ("type",))),
    # objects
    **dict.fromkeys(("property", "props", "fields", "attributes"), _LookAlike(_holds_schemas, ("properties",))),
    "patternprops": _LookAlike(_holds_schemas, ("patternProperties",)),
    **dict.fromkeys(
        ("requiredproperties", "requiredprops", "requiredfields", "requiredkeys", "mandatory"),
        _LookAlike(_lists_names, ("required",)),
    ),
    **dict.fromkeys(
        ("additionalprops", "additionalfields", "allowadditionalproperties"),
        _LookAlike(_is_schema_or_flag, ("additionalProperties",)),
    ),
    "isrequired": _LookAlike(_is_true, advice=_IN_PARENT),
    # arrays
    **dict.fromkeys(("elements", "element"), _LookAlike(_is_schema, ("items",), also=("prefixItems",))),
    **dict.fromkeys(("elementtype", "itemtype", "itemstype"), _LookAlike(_is_type, ("items",))),
    **dict.fromkeys(("unique", "uniqueelements"), _LookAlike(_is_true, ("uniqueItems",))),
    # JSON Type Definition
    "optionalproperties": _LookAlike(
        _holds_schemas, advice="did you mean 'properties'? What required does not list is optional"
    ),
    # drafts 2 and 3
    "optional": _LookAlike(_is_false, advice=_IN_PARENT),
    "extends": _LookAlike(_extends, ("allOf",)),
    "disallow": _LookAlike(_excludes_types, ("not",), 'write "not": {"type": …}'),
    "divisibleby": _LookAlike(_is_number, ("multipleOf",)),
    "requires": _LookAlike(_depends, ("dependentRequired",)),
    "minimumcanequal": _LookAlike(_is_false, ("exclusiveMinimum",)),
    "maximumcanequal": _LookAlike(_is_false, ("exclusiveMaximum",)),
    # Ajv
    **dict.fromkeys(
        ("formatminimum", "formatmaximum", "formatexclusiveminimum", "formatexclusivemaximum"),
        _LookAlike(_is_text, advice=_NO_BOUNDS),
    ),
    "uniqueitemproperties": _LookAlike(_lists_names, advice="uniqueItems compares whole items; check the rest later"),
    "allrequired": _LookAlike(_is_true, ("required",)),
    "anyrequired": _LookAlike(_lists_names, ("anyOf",), 'write "anyOf": [{"required": ["…"]}, …]'),
    "onerequired": _LookAlike(_lists_names, ("oneOf",), 'write "oneOf": [{"required": ["…"]}, …]'),
    "patternrequired": _LookAlike(_lists_names, advice="name the members that must be there in required"),
    "prohibited": _LookAlike(_lists_names, advice='write false as their schemas: "properties": {"…": false}'),
    "deepproperties": _LookAlike(_holds_schemas, advice="write properties within properties"),
    "deeprequired": _LookAlike(_lists_names, advice="write required within properties"),
    "patterngroups": _LookAlike(_holds_schemas, ("patternProperties",)),
    "switch": _LookAlike(_is_list, ("if", "then", "else")),
    **dict.fromkeys(("merge", "patch"), _LookAlike(_is_schema, ("allOf",))),
}
_FOR_ARRAYS: Final = frozenset(("elements", "element", "unique", "uniqueelements"))
# Some names mean what depends on the type.
_BY_TYPE: Final = frozenset(("min", "max", "length", "len"))
_OF_TYPE: Final = {
    ("string", "minimum"): "minLength",
    ("string", "maximum"): "maxLength",
    ("array", "minimum"): "minItems",
    ("array", "maximum"): "maxItems",
    ("array", "minLength"): "minItems",
    ("array", "maxLength"): "maxItems",
    ("object", "minimum"): "minProperties",
    ("object", "maximum"): "maxProperties",
}
