"""The base of the format classes: fields that know their readers.

    @dataclass(frozen=True)
    class ConstStringFormat(Format):
        type = "const_string"
        value: str = read_by(string)

A format made in Python and one read from JSON (reading.py) go through the same readers; in the latter case errors know
the whole pointer. Every subclass of `Format` that is defined is a format type.
Tested by tests/structural_tag/formats/test_formats.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from maskwright.structural_tag.formats.fields import Reader
from maskwright.support.numbering import Numbering
from maskwright.support.untracked import acyclic


def read_by(reader: Reader, default: Any = MISSING) -> Any:
    """Declare a field of a format: who reads it, and what it is if it is left out."""
    return field(default=default, metadata={"reader": reader})


_READERS: Final[dict[Any, dict[str, tuple[Reader, Any]]]] = {}


def readers_of(cls: Any) -> dict[str, tuple[Reader, Any]]:
    """Return the fields of a format that JSON has, with their readers and defaults."""
    known = _READERS.get(cls)
    if known is None:
        known = {each.name: (each.metadata["reader"], each.default) for each in fields(cls) if each.metadata}
        _READERS[cls] = known
    return known


TYPES: Final[dict[str, type[Format]]] = {}
_numbers: Final = Numbering()
_F = TypeVar("_F", bound="Format")


class Known(NamedTuple):
    """What a tag was made of, by which it and what is made of it are found again (kept.py).

    Attributes:
        content: the canonical bytes of a tool, or of a tag's data.
        made_by: what made the tag of that: the same makes equal tags of equal content.
        origin: where in the caller's request its schemas stand, for errors and reports; None for their places in the
            structural tag. It is no part of what is made: a tool may stand elsewhere in the next request.
    """

    content: bytes
    made_by: Hashable
    origin: str | None = None


@dataclass(frozen=True)
class Format:
    """Base of all formats. `type` is the name in JSON; what is found again by what it was made of is `known`."""

    type: ClassVar[str] = ""
    known: ClassVar[Known | None] = None

    def __init_subclass__(cls) -> None:
        TYPES[cls.type] = cls

    def __post_init__(self) -> None:
        given = self.__dict__
        values = {name: reader(given[name], f"/{name}") for name, (reader, _) in readers_of(type(self)).items()}
        # A dict that was set: one that Python 3.13 makes when asked cannot be reached from the object (untracked.py).
        object.__setattr__(self, "__dict__", {**given, **values})
        self.check("")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known": None}  # whose numbers mean nothing in another process

    def check(self, pointer: str) -> None:
        """Raise an error for fields that cannot be combined."""

    def to_dict(self, *, captures: bool = True) -> dict[str, Any]:
        """Return the format as JSON data without fields that have their default; `captures=False` omits `capture`."""
        out: dict[str, Any] = {"type": self.type}
        for name, (_, default) in readers_of(type(self)).items():
            value = getattr(self, name)
            if value != default and (captures or name != "capture"):
                out[name] = _plain(value, captures)
        return out


acyclic(Format)


def shared(it: _F) -> _F:
    """Return a format that stands in many tags, such as a family's header: it is known by identity, and lowered once.

    It holds no tags and no schemas.
    """
    return altered(it, known=Known(b"", ("shared", _numbers.take())))


def altered(it: _F, **fields: Any) -> _F:
    """Return a copy of a format with other values in some fields, which are known to be right."""
    made = object.__new__(type(it))
    object.__setattr__(made, "__dict__", {**it.__dict__, "known": None, **fields})
    return made


def _plain(value: Any, captures: bool) -> Any:
    if isinstance(value, Format):
        return value.to_dict(captures=captures)
    return [_plain(item, captures) for item in value] if isinstance(value, tuple) else value
