"""The format of the answer that `response_format` or `text.format` asks for.

    {"type": "json_schema", "json_schema": {"name": …, "schema": …}}      Chat Completions: nested
    {"type": "json_schema", "name": …, "schema": …}                       Responses

Who writes the form of the other API, or a schema where its name belongs, is shown the whole form: a hint about a single
field would only lead to the next error.
Tested by tests/structural_tag/test_openai_shapes.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from maskwright.errors import RequestError
from maskwright.inputs.request_fields import check_all
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.classes import JSONSchemaFormat
from maskwright.structural_tag.formats.fields import kind_of
from maskwright.structural_tag.formats.reading import TYPES_OF_VALUES
from maskwright.structural_tag.tools import optional_flag

_OF_A_NAMED_SCHEMA: Final = ("name", "description", "schema", "strict")
_TYPES: Final = ("text", "json_object", "json_schema")
_KEYWORDS: Final = ("type", "properties", "$ref", "$defs", "anyOf", "oneOf", "allOf", "enum", "const", "items")

# What other servers have as types of their own.
_AS_FORMAT: Final = {
    "regex": '{"type": "regex", "pattern": …}',
    "grammar": '{"type": "grammar", "grammar": …}',
    "choice": '{"type": "or", "elements": [{"type": "const_string", "value": …}, …]}',
}


def type_of(value: Any, pointer: str) -> Any:
    """The type of a format, if there is one.

    Raises:
        RequestError: It is no object.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        of_class = 'a class is written {"type": "json_schema", "json_schema": {"name": …, "schema": its schema}}'
        raise wrong("an object", value, pointer, of_class if isinstance(value, type) else 'write {"type": …}')
    return value.get("type")


def read_format(value: Any, pointer: str, *, nested: str | None) -> Format | None:
    """The format that `response_format` or `text.format` asks for; None for free text.

    `nested` is the field that holds the schema's name and the schema; None if they are fields of the format itself.

    Raises:
        RequestError: It is malformed; `pointer` leads to the place.
    """
    kind = type_of(value, pointer)
    if value is None:
        return None
    if kind is None:
        types = "text, json_object or json_schema"
        raise RequestError("the format has no type", pointer=pointer, hint=f"add 'type': {types}")
    if kind in ("text", "json_object"):
        if value.get("schema") is not None or value.get("json_schema") is not None:
            raise RequestError(f"the type {kind} has no schema", pointer=f"{pointer}/type", hint=_whole(nested))
        check_all(value, ("type",), pointer)
        return None if kind == "text" else JSONSchemaFormat({"type": "object"}, strict_mode=False, origin=pointer)
    if kind != "json_schema":
        raise _unknown_type(str(kind)[:60], pointer, nested)
    value, pointer = _named_schema(value, pointer, nested)
    schema = value.get("schema", True)
    if not isinstance(schema, (dict, bool)):
        way_out = "pass the object itself, not its JSON text" if isinstance(schema, str) else None
        raise wrong("a JSON Schema (an object)", schema, f"{pointer}/schema", way_out)
    strict = optional_flag(value.get("strict"), f"{pointer}/strict")
    return JSONSchemaFormat(schema, strict_mode=strict, origin=f"{pointer}/schema")


def _unknown_type(kind: str, pointer: str, nested: str | None) -> RequestError:
    types = (*_TYPES, "structural_tag") if nested else _TYPES
    near = get_close_matches(kind, types, 1, 0.75)
    if kind in TYPES_OF_VALUES:
        hint = _whole(nested)
    elif kind == "json":
        hint = f"any JSON object is 'json_object'; {_whole(nested)}"
    elif kind in _AS_FORMAT and nested:
        hint = f'write {{"type": "structural_tag", "format": {_AS_FORMAT[kind]}}}'
    else:
        hint = f"did you mean {near[0]!r}?" if near else f"the types are: {', '.join(types)}"
    return RequestError(f"unknown type {kind!r}", pointer=f"{pointer}/type", hint=hint)


def _named_schema(value: Mapping[str, Any], pointer: str, nested: str | None) -> tuple[Mapping[str, Any], str]:
    """The object that holds name and schema, and its pointer."""
    of_the_other = "json_schema" if nested is None else "schema"
    if value.get(of_the_other) is not None and (nested is None or value.get(nested) is None):
        raise RequestError(
            f"{of_the_other} does not belong here", pointer=f"{pointer}/{of_the_other}", hint=_whole(nested)
        )
    check_all(value, ("type", *(_OF_A_NAMED_SCHEMA if nested is None else (nested,))), pointer)
    if nested is None:
        return value, pointer
    inner, pointer = value.get(nested), f"{pointer}/{nested}"
    if not isinstance(inner, Mapping):
        raise wrong("an object with name and schema", inner, pointer, _whole(nested))
    if "schema" not in inner and any(keyword in inner for keyword in _KEYWORDS):
        raise RequestError("this is a schema without its name", pointer=pointer, hint=_whole(nested))
    check_all(inner, _OF_A_NAMED_SCHEMA, pointer)
    return inner, pointer


def _whole(nested: str | None) -> str:
    """How a format with a schema is written."""
    named = '"name": …, "schema": …' if nested is None else f'"{nested}": {{"name": …, "schema": …}}'
    return f'a schema is written {{"type": "json_schema", {named}}}'


def wrong(expected: str, value: Any, pointer: str, hint: str | None = None) -> RequestError:
    """The error for a value of another type."""
    return RequestError(f"expected {expected}, found {kind_of(value)}", pointer=pointer, hint=hint)
