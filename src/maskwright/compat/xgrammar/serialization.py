"""Objects as JSON texts with a version, and the errors that reading them has.

    >>> loaded(dumped({"a": 1}), "Grammar")["a"]
    1
    >>> text_of(b"\\xff"), bytes_of("\\xff")
    ('ÿ', b'\\xff')

The texts are Maskwright's own: what XGrammar wrote is refused by its version, and the other way round.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeVar

from maskwright.compat.xgrammar.config import SERIALIZATION_VERSION
from maskwright.compat.xgrammar.exception import DeserializeFormatError, DeserializeVersionError, InvalidJSONError
from maskwright.support.arguments import instance

_VERSION: Final = "__VERSION__"
_T = TypeVar("_T")


def dumped(data: dict[str, Any], *, versioned: bool = True) -> str:
    """Write an object's data as JSON."""
    if versioned:
        data = {**data, _VERSION: SERIALIZATION_VERSION}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def loaded(text: str, kind: str, *, versioned: bool = True) -> dict[str, Any]:
    """Read an object's data.

    Raises:
        InvalidJSONError: It is not JSON.
        DeserializeVersionError: It has no version, or another one.
        DeserializeFormatError: It is not an object.
    """
    instance("json_string", text, str)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"the serialized {kind} is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise DeserializeFormatError(f"a serialized {kind} must be a JSON object")
    if versioned and data.get(_VERSION) != SERIALIZATION_VERSION:
        found = f"{data[_VERSION]!r:.60}" if _VERSION in data else "missing"
        raise DeserializeVersionError(
            f"the version of the serialized {kind} is {found}, expected {SERIALIZATION_VERSION!r}",
            hint="serialize it again with this release of Maskwright",
        )
    return data


def field(data: dict[str, Any], name: str, kind: type[_T]) -> _T:
    """Return a member of an object.

    Raises:
        DeserializeFormatError: It is missing or of another type.
    """
    value = data.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        problem = "is missing" if name not in data else f"must be of type {kind.__name__}"
        raise DeserializeFormatError(f"the member {name!r} of the serialized object {problem}")
    return value


def text_of(data: bytes) -> str:
    """Write bytes as a text: a character for each."""
    return data.decode("latin-1")


def bytes_of(text: Any) -> bytes:
    """Read what `text_of` wrote."""
    try:
        return instance("each token", text, str).encode("latin-1")
    except UnicodeEncodeError:
        raise DeserializeFormatError("a serialized token has a character beyond U+00FF") from None
