"""Formats from JSON data.

    {"type": "const_string", "value": "x"}   →   ConstStringFormat(value="x")

Agents send the same tags turn after turn, each time as new data. The innermost tags, such as calls of tools, are known
by the content of their data, so one that was read before is not read again.
Cost: for a tag that is known, a microsecond for the bytes of its data and half of one more.
Tested by tests/structural_tag/formats/test_formats.py and test_kept_tools.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, Final

from maskwright._kernel import canonical_bytes
from maskwright.errors import LimitError, StructuralTagError
from maskwright.structural_tag.formats.base import TYPES, Format, Known, altered, readers_of
from maskwright.structural_tag.formats.fields import array, wrong
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.near_names import nearest

MAX_DEPTH: Final = 100
TYPES_OF_VALUES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")  # in a JSON Schema

_ELSEWHERE: Final = {  # what types are called in other interfaces
    "ebnf": "grammar",
    "gbnf": "grammar",
    "cfg": "grammar",
    "lark": "grammar",
    "json": "json_schema",
    "json_object": "json_schema",
    "schema": "json_schema",
    "pattern": "regex",
    "text": "any_text",
    "free_text": "any_text",
    "literal": "const_string",
    "const": "const_string",
    "choice": "or",
    "enum": "or",
}

_MADE_BY: Final = "data"
_PARTS: Final = ("json_schema", "qwen_xml_parameter", "const_string", "regex", "any_text")
_JOINTS: Final = ("sequence", "or", "optional")  # of such parts
_DEPTH_OF_PARTS: Final = 4


def _way_out(data: Any) -> str:
    """How to write as a format what stands in the place of one."""
    if data in ("json_schema", "json"):
        return 'write {"type": "json_schema", "json_schema": …}'
    return 'text as it is: {"type": "const_string", "value": …}; any text: {"type": "any_text"}'


def read_format(data: Any, pointer: str) -> Format:
    """Make a format of JSON data.

    Raises:
        StructuralTagError: It is not a valid format; `pointer` says where.
        LimitError: It is nested deeper than MAX_DEPTH.
    """
    if isinstance(data, Format):
        return data
    if type(data) is not dict and not isinstance(data, Mapping):
        raise wrong("a format (an object with a type)", data, pointer, _way_out(data))
    name = data.get("type")
    if name is None:
        raise StructuralTagError("the format has no type", pointer=pointer, hint='add "type"')
    found = TYPES.get(name) if isinstance(name, str) else None
    if found is None:
        near = _ELSEWHERE.get(name) if isinstance(name, str) else None
        near = near or nearest(str(name), TYPES)
        hint = f"did you mean {near!r}?" if near else f"the types are: {', '.join(TYPES)}"
        if name in TYPES_OF_VALUES:
            hint = 'wrap the schema: {"type": "json_schema", "json_schema": …}'
        raise StructuralTagError(f"unknown format type {str(name)[:60]!r}", pointer=f"{pointer}/type", hint=hint)
    if pointer.count("/") > 3 * MAX_DEPTH:  # a level of formats takes up to three names
        hint = "nest fewer formats in each other"
        raise LimitError(f"formats are nested deeper than {MAX_DEPTH} levels", limit="structural tag depth", hint=hint)
    if name == "tag":
        content = _tag_content(data)
        return _known_tag(content) or _new_tag(data, content, pointer)
    return _read_fields(found, data, pointer)


def read_tags(value: Any, pointer: str, types: tuple[str, ...] = ("tag",)) -> tuple[Format, ...]:
    """Make tags of these types of an array, in which the type "tag" may be left out."""
    return tuple([_read_tag(each, pointer, i, types) for i, each in enumerate(array(value, pointer, at_least=1))])


def _read_tag(data: Any, pointer: str, i: int, types: tuple[str, ...]) -> Format:
    if type(data) is dict and data.get("type", "tag") == "tag":
        content = _tag_content(data)
        return _known_tag(content) or _new_tag(data, content, f"{pointer}/{i}")
    read = read_format(data, f"{pointer}/{i}")
    if read.type not in types:
        raise StructuralTagError(f"expected a tag, found {read.type}", pointer=f"{pointer}/{i}")
    return read


def _tag_content(data: Mapping[Any, Any]) -> bytes | None:
    """The bytes of a tag's data, by which it is known; None if it is not."""
    interrupt_checkpoint()
    return canonical_bytes(data) if _holds_no_tags(data.get("content")) else None


def _known_tag(content: bytes | None) -> Format | None:
    found: Format | None = None if content is None else KEPT.find((content, _MADE_BY))
    return found


def _new_tag(data: Mapping[Any, Any], content: bytes | None, pointer: str) -> Format:
    read = _read_fields(TYPES["tag"], data, pointer)
    if content is None:
        return read
    kept: Format = KEPT.keep((content, _MADE_BY), altered(read, known=Known(content, _MADE_BY)))
    return kept


def _holds_no_tags(data: Any, depth: int = 0) -> bool:
    """Whether the data of a format are made of a few parts that are not tags."""
    kind = data.get("type") if type(data) is dict else None
    if kind in _PARTS:
        return True
    if kind not in _JOINTS or depth == _DEPTH_OF_PARTS:
        return False
    inner = data.get("elements", (data.get("content"),))
    return type(inner) in (list, tuple) and all(_holds_no_tags(each, depth + 1) for each in inner)


def _read_fields(cls: type[Format], data: Mapping[Any, Any], pointer: str) -> Format:
    readers = readers_of(cls)
    given = {name: default for name, (_, default) in readers.items() if default is not MISSING}
    for name, value in data.items():
        if name in readers:
            given[name] = readers[name][0](value, f"{pointer}/{name}")
        elif name != "type":
            near = nearest(str(name), readers)
            hint = f"did you mean {near!r}?" if near else f"the fields are: {', '.join(readers)}"
            raise StructuralTagError(
                f"{cls.type} has no field {str(name)[:60]!r}", pointer=f"{pointer}/{name}", hint=hint
            )
    if len(given) < len(readers):
        name = next(name for name in readers if name not in given)
        raise StructuralTagError(f"{cls.type} requires the field {name!r}", pointer=pointer, hint=f"add {name!r}")
    made = object.__new__(cls)  # not by __init__, which would read all fields again
    object.__setattr__(made, "__dict__", given)
    made.check(pointer)
    return made
