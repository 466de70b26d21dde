"""The base of the format classes: fields that know their readers, and reading formats from JSON data.

    @dataclass(frozen=True)
    class ConstStringFormat(Format):
        type = "const_string"
        value: str = read_by(string)

A format made in Python and one read from JSON go through the same readers; in the latter case errors know the whole
pointer. Every subclass of `Format` that is defined is a format type.
Tested by tests/structural_tag/test_formats.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from maskwright.errors import LimitError, StructuralTagError
from maskwright.structural_tag.fields import Reader, wrong

if TYPE_CHECKING:
    from maskwright.structural_tag.begun import Begun

MAX_DEPTH = 100


def read_by(reader: Reader, default: Any = MISSING) -> Any:
    """Declare a field of a format: who reads it, and what it is if it is left out."""
    return field(default=default, metadata={"reader": reader})


_READERS: dict[Any, dict[str, tuple[Reader, Any]]] = {}
_DEFAULTS: dict[Any, dict[str, Any]] = {}


def readers_of(cls: Any) -> dict[str, tuple[Reader, Any]]:
    """Return the fields of a format that JSON has, with their readers and defaults."""
    known = _READERS.get(cls)
    if known is None:
        known = {each.name: (each.metadata["reader"], each.default) for each in fields(cls) if each.metadata}
        _READERS[cls] = known
        _DEFAULTS[cls] = {name: default for name, (_, default) in known.items() if default is not MISSING}
    return known


_TYPES: dict[str, type[Format]] = {}
_F = TypeVar("_F", bound="Format")


class Known(NamedTuple):
    """Of a tag that was met before (known_tags.py): what tells it from others, and what was made of it."""

    key: Hashable
    begun: dict[int, Begun]  # by the number of a `Tokens`


@dataclass(frozen=True)
class Format:
    """Base of all formats. `type` is the name in JSON; a tag from an earlier request is `known`."""

    type: ClassVar[str] = ""
    known: ClassVar[Known | None] = None

    def __init_subclass__(cls) -> None:
        _TYPES[cls.type] = cls

    def __post_init__(self) -> None:
        for name, (reader, _) in readers_of(type(self)).items():
            object.__setattr__(self, name, reader(getattr(self, name), f"/{name}"))
        self.check("")

    def check(self, pointer: str) -> None:
        """Refuse fields that do not go together."""

    def to_dict(self, *, captures: bool = True) -> dict[str, Any]:
        """Return the format as JSON data; fields that have their default are left out, and so are unwanted captures."""
        out: dict[str, Any] = {"type": self.type}
        for name, (_, default) in readers_of(type(self)).items():
            value = getattr(self, name)
            if value != default and (captures or name != "capture"):
                out[name] = _plain(value, captures)
        return out


def altered(it: _F, **fields: Any) -> _F:
    """Return a copy of a format with other values in some fields, which are known to be right."""
    made = object.__new__(type(it))
    object.__setattr__(made, "__dict__", {**it.__dict__, "known": None, **fields})
    return made


def _plain(value: Any, captures: bool) -> Any:
    if isinstance(value, Format):
        return value.to_dict(captures=captures)
    return [_plain(item, captures) for item in value] if isinstance(value, tuple) else value


def read_format(data: Any, pointer: str) -> Format:
    """Make a format of JSON data.

    Raises:
        StructuralTagError: It is none; `pointer` says where.
        LimitError: It nests deeper than MAX_DEPTH.
    """
    if isinstance(data, Format):
        return data
    if type(data) is not dict and not isinstance(data, Mapping):
        raise wrong("a format: an object with a type", data, pointer)
    name = data.get("type")
    if name is None:
        raise StructuralTagError("a format without a type", pointer=pointer, hint='add "type"')
    found = _TYPES.get(name) if isinstance(name, str) else None
    if found is None:
        near = get_close_matches(str(name)[:60], _TYPES, 1, 0.3)
        hint = f"did you mean {near[0]!r}?" if near else f"the types are: {', '.join(_TYPES)}"
        raise StructuralTagError(f"unknown format type {str(name)[:60]!r}", pointer=f"{pointer}/type", hint=hint)
    if pointer.count("/") > 3 * MAX_DEPTH:  # a level of formats takes up to three names
        raise LimitError(f"formats nest deeper than {MAX_DEPTH} levels", limit="structural tag depth")
    return _read_fields(found, data, pointer)


def _read_fields(cls: type[Format], data: Mapping[str, Any], pointer: str) -> Format:
    readers = readers_of(cls)
    given = _DEFAULTS[cls].copy()
    for name, value in data.items():
        if name in readers:
            given[name] = readers[name][0](value, f"{pointer}/{name}")
        elif name != "type":
            near = get_close_matches(str(name)[:60], readers, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"its fields are: {', '.join(readers)}"
            raise StructuralTagError(
                f"{cls.type} has no field {str(name)[:60]!r}", pointer=f"{pointer}/{name}", hint=hint
            )
    if len(given) < len(readers):
        name = next(name for name in readers if name not in given)
        raise StructuralTagError(f"{cls.type} needs {name!r}", pointer=pointer, hint=f"add {name!r}")
    made = object.__new__(cls)  # not by __init__, which would read all fields again
    object.__setattr__(made, "__dict__", given)
    made.check(pointer)
    return made
