"""Where a schema document is malformed, for a reference that has to look through all of it.

    {"definitions": {"a": 1}, "$ref": "#anchor"}   →   #/definitions/a must be an object or a boolean, not 1

Anchors and embedded documents may stand anywhere, so the `referencing` library walks the whole document, also parts
that nothing refers to; what it cannot walk ends in an error of its own. Here is the same walk, to say where that is.
Cost: linear in the schema; only after such an error.
Tested by tests/frontends/json_schema/read/test_schema_malformed.py.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from maskwright.frontends.json_schema.read.keyword_table import holding
from maskwright.frontends.json_schema.read.places import Path

_OF_SCHEMAS_BY_NAME: Final = holding("by name") - {"dependencies"}
_OF_SCHEMAS: Final = holding("list")
_OF_ONE: Final = holding("one", "list or one")
_TEXTS: Final = ("$schema", "$anchor", "$dynamicAnchor")
_URIS: Final = ("$schema", "$ref")
_A_SCHEMA: Final = "an object or a boolean"


class Malformed(NamedTuple):
    """A part of a schema that is not what its keyword asks for."""

    path: Path
    keyword: str
    expected: str
    value: Any


def malformed_part(root: Any, path: Path, id_keyword: str) -> Malformed | None:
    """Return the first malformed part of a document whose root has this path; None if there is none to be seen."""
    waiting: list[tuple[Any, Path, str]] = [(root, path, "")]
    seen: set[int] = set()
    while waiting:
        schema, path, keyword = waiting.pop()
        if isinstance(schema, bool) or id(schema) in seen:
            continue
        seen.add(id(schema))
        if not isinstance(schema, dict):
            return Malformed(path, keyword, _A_SCHEMA, schema)
        wrong = _wrong_text(schema, path, id_keyword)
        if wrong is not None:
            return wrong
        inside: list[tuple[Any, Path, str]] = []
        for name, value in schema.items():
            found = _inside(name, value, (path, name))
            if isinstance(found, Malformed):
                return found
            inside += found
        waiting += reversed(inside)
    return None


def _wrong_text(schema: dict[Any, Any], path: Path, id_keyword: str) -> Malformed | None:
    for name in (*_TEXTS, id_keyword):
        if name in schema and not isinstance(schema[name], str):
            return Malformed((path, name), name, "a string", schema[name])
    for name in (*_URIS, id_keyword):
        value = schema.get(name)
        if isinstance(value, str) and not is_uri(value):
            return Malformed((path, name), name, "a URI", value)
    return None


def is_uri(text: str) -> bool:
    """Whether a text can be taken apart as a URI."""
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


def _inside(name: Any, value: Any, path: Path) -> Malformed | list[tuple[Any, Path, str]]:
    """The schemas that a keyword holds."""
    if name in _OF_SCHEMAS_BY_NAME:
        if not isinstance(value, dict):
            return Malformed(path, name, "an object", value)
        return [(schema, (path, key), name) for key, schema in value.items()]
    if name in _OF_SCHEMAS or (name == "items" and isinstance(value, list)):
        if not isinstance(value, list):
            return Malformed(path, name, "an array", value)
        return [(schema, (path, i), name) for i, schema in enumerate(value)]
    if name == "dependencies":
        if not isinstance(value, dict):
            return Malformed(path, name, "an object", value)
        return [(schema, (path, key), name) for key, schema in value.items() if not isinstance(schema, (list, str))]
    return [(value, path, name)] if name in _OF_ONE else []
