"""A document that uses no keyword, so that every value is valid, and where in it the schema stands that is meant.

    constrains_nothing({"name": "f", "parameters": {"type": "object"}})   did you mean the schema in it at /parameters?
    constrains_nothing({"name": {"type": "string"}, "age": {}})           did you mean {"type": "object", …
    constrains_nothing({"openapi": "3.1.0", "components": …})             say which is meant, as in "$ref": …
    only_defines({"$defs": {"Pet": {…}}})                                 say which is meant, as in "$ref": …

One that may be meant to admit everything, such as `{}` or `{"title": "anything"}`, is none of them.
Tested by tests/frontends/json_schema/read/test_schema_unused.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from maskwright.frontends.json_schema.options import NOTHING_USED, Finding
from maskwright.frontends.json_schema.read.keyword_table import ASSERTING, DEFINITIONS
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.read.pointers import pointer_of

_NO_EFFECT: Final = f"{NOTHING_USED}, so every value is valid"
_TYPES: Final = frozenset(("str", "string", "int", "integer", "float", "number", "bool", "boolean"))
_AROUND: Final = ("response_format", "function", "json_schema")  # in which a member is the schema
_HOLDERS: Final = ("schema", "parameters", "input_schema", "inputSchema")
_LONGEST: Final = 60


def constrains_nothing(schema: dict[Any, Any], is_name: Callable[[str], bool]) -> tuple[str, str] | None:
    """Of a document that uses no keyword, a member that none would look for, and what was probably meant; else None.

    Args:
        schema: The document.
        is_name: Whether a member may be the name of a property, rather than an extension.
    """
    if not ASSERTING.isdisjoint(schema) or only_defines(schema) is not None:
        return None
    held = _held_schema(schema)
    if held is not None:
        pointer = pointer_of(held)
        return pointer.split("/")[1], f"{_NO_EFFECT}; did you mean the schema in it at {pointer}?"
    components = schema.get("components")
    if type(components) is dict:
        advice = _reference(components.get("schemas"), "#/components/schemas")
        if advice is not None:
            return "components", f"{_NO_EFFECT}; {advice}"
    for name, value in schema.items():
        is_meant = type(value) is dict or (type(value) is str and value in _TYPES)
        if is_meant and type(name) is str and is_name(name):
            meant = f'{{"type": "object", "properties": {{{json.dumps(name[:_LONGEST], ensure_ascii=False)}: …}}}}'
            return name, f"{_NO_EFFECT}; did you mean {meant}?"
    return None


def only_defines(schema: Any) -> Finding | None:
    """Return what is reported of a document that holds definitions, and neither asserts anything nor refers to one."""
    if type(schema) is not dict or DEFINITIONS.isdisjoint(schema) or not ASSERTING.isdisjoint(schema):
        return None
    for keyword in schema:
        advice = _reference(schema[keyword], f"#/{keyword}") if keyword in DEFINITIONS else None
        if advice is not None:
            return Finding(f"/{keyword}", keyword, "annotation", f"{_NO_EFFECT}; {advice}")
    return None


def _held_schema(document: dict[Any, Any]) -> Path:
    """The way to the schema in a tool, a response format or a request; None if it is none of them."""
    whole: Any = document
    path: Path = None
    for name in _AROUND:
        if type(whole.get(name)) is dict:
            whole, path = whole[name], (path, name)
    objects = [name for name, value in whole.items() if type(value) is dict]
    return (path, objects[0]) if len(objects) == 1 and objects[0] in _HOLDERS else None


def _reference(definitions: Any, pointer: str) -> str | None:
    if type(definitions) is not dict:
        return None
    name = next((name for name, each in definitions.items() if type(name) is str and type(each) is dict), None)
    return None if name is None else f'say which is meant, as in "$ref": "{pointer}{pointer_of((None, name))}"'
