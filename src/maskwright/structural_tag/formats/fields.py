"""Readers of fields: each checks one value and returns it in the one form that the classes keep.

    >>> strings(["a", "b"], "/excludes")
    ('a', 'b')

A reader takes the value and the JSON pointer at which it stands, for the error. Lists become tuples.
Tested by tests/structural_tag/formats/test_formats.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from maskwright.errors import StructuralTagError
from maskwright.structural_tag.formats.schemas import OwnSchema

Reader: TypeAlias = Callable[[Any, str], Any]

MAX_COUNT: Final = 2**31 - 1


def wrong(expected: str, value: Any, pointer: str, hint: str | None = None) -> StructuralTagError:
    """Return the error for a value of the wrong kind."""
    return StructuralTagError(f"expected {expected}, found {kind_of(value)}", pointer=pointer, hint=hint)


def kind_of(value: Any) -> str:
    """Name a value's kind as JSON does, without showing the value."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", dict: "an object"}
    return names.get(type(value), "an array" if isinstance(value, (list, tuple)) else type(value).__name__)


def string(value: Any, pointer: str) -> str:
    if not isinstance(value, str):
        raise wrong("a string", value, pointer)
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        raise StructuralTagError(
            "the string contains a lone surrogate, which is not valid Unicode text", pointer=pointer
        ) from None
    return value


def boolean(value: Any, pointer: str) -> bool:
    if not isinstance(value, bool):
        raise wrong("true or false", value, pointer)
    return value


def count(value: Any, pointer: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong("an integer", value, pointer)
    if not 0 <= value <= MAX_COUNT:
        raise StructuralTagError(f"expected an integer from 0 to {MAX_COUNT:,}", pointer=pointer)
    return value


def optional_count(value: Any, pointer: str) -> int | None:
    return None if value is None else count(value, pointer)


def count_or_any(value: Any, pointer: str) -> int:
    """A number of times; -1 is without bound."""
    return -1 if type(value) is int and value == -1 else count(value, pointer)


def token(value: Any, pointer: str) -> int | str:
    """A token, by its id or its text."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise wrong("a token id or the text of a token", value, pointer)
    return value


def schema(value: Any, pointer: str) -> OwnSchema:
    """A schema's data."""
    if not isinstance(value, (dict, bool)):
        way_out = "pass the object itself, not its JSON text" if isinstance(value, str) else None
        if isinstance(value, type):
            way_out = "pass its schema: pydantic.TypeAdapter(it).json_schema()"
        raise wrong("a JSON Schema (an object or a boolean)", value, pointer, way_out)
    return OwnSchema(value)


def array(value: Any, pointer: str, *, at_least: int = 0) -> list[Any] | tuple[Any, ...]:
    """Items that are still to be read."""
    if not isinstance(value, (list, tuple)):
        raise wrong("an array", value, pointer)
    if len(value) < at_least:
        raise StructuralTagError("the array must not be empty", pointer=pointer, hint="add at least one item")
    return value


def several(reader: Reader, *, at_least: int = 0) -> Reader:
    """Return the reader of a list whose items `reader` reads."""

    def read(value: Any, pointer: str) -> tuple[Any, ...]:
        items = array(value, pointer, at_least=at_least)
        return tuple([reader(item, f"{pointer}/{i}") for i, item in enumerate(items)])

    return read


strings = several(string)
tokens = several(token)


def filled(value: Any, pointer: str) -> str:
    if string(value, pointer) == "":
        raise StructuralTagError("the string must not be empty", pointer=pointer)
    return str(value)


def optional_string(value: Any, pointer: str) -> str | None:
    return None if value is None else string(value, pointer)


def optional_name(value: Any, pointer: str) -> str | None:
    """The name of a capture, or None."""
    if value is not None and "\0" in filled(value, pointer):
        raise StructuralTagError("a capture name must not contain the NUL character", pointer=pointer)
    return value if value is None else str(value)


def optional(reader: Reader) -> Reader:
    """Return the reader of what `reader` reads, or null."""
    return lambda value, pointer: None if value is None else reader(value, pointer)


def one_of(*choices: str) -> Reader:
    """Return the reader of one of several words."""

    def read(value: Any, pointer: str) -> str:
        if value not in choices:
            raise StructuralTagError(f"expected one of {', '.join(choices)}, found {value!r:.60}", pointer=pointer)
        return str(value)

    return read
