"""What tells formats apart, as keys of compiled grammars.

    content_key(TagFormat("<", RegexFormat("x"), ">"))    ("tag", "<", ("regex", "x", ()), ">", None)

A known tag is its key (base.py), schemas are their content.
Cost: a tenth of a microsecond for a tag that is known.
Tested by tests/structural_tag/formats/test_content_keys.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from maskwright.structural_tag.formats.base import Format, readers_of
from maskwright.structural_tag.formats.classes import GrammarFormat, JSONSchemaFormat, OrFormat, RegexFormat
from maskwright.structural_tag.formats.schemas import OwnSchema


def content_key(it: Format) -> Hashable:
    """Return a key that distinguishes a format from others; None if there is none."""
    try:
        return _key(it, {})
    except ValueError:
        return None


def _key(it: Any, several: dict[int, Hashable]) -> Hashable:
    """`several`: the keys of alternatives, by identity, as one object may stand in several places."""
    if isinstance(it, Format):
        return it.known or _key_of_format(it, several)
    if isinstance(it, tuple):
        return tuple([_key(each, several) for each in it])
    if isinstance(it, OwnSchema) and it.content is None:
        raise ValueError("a schema that is not plain data")
    return it.content if isinstance(it, OwnSchema) else it


def _key_of_format(it: Format, several: dict[int, Hashable]) -> Hashable:
    if isinstance(it, OrFormat):
        known = several.get(id(it))
        if known is None:
            known = several[id(it)] = _fields(it, several)
        return known
    if isinstance(it, JSONSchemaFormat):
        if it.registry is not None:
            raise ValueError("the contents of a registry are not known")
        return _fields(it, several), it.origin  # to which errors and reports point
    if isinstance(it, GrammarFormat) and it.rules is not None:
        raise ValueError("in which language the text was read is not known, and rules are too deep to be hashed")
    if isinstance(it, (GrammarFormat, RegexFormat)) and it.origin is not None:
        return _fields(it, several), it.origin
    return _fields(it, several)


def _fields(it: Format, several: dict[int, Hashable]) -> Hashable:
    fields = it.__dict__
    return (it.type, *[_key(fields[name], several) for name in readers_of(type(it))])
