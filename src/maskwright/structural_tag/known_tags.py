"""Tags known from earlier requests: one object each, so that they are neither read nor lowered again.

    {"tags": [{"begin": "<f=", "content": {"type": "json_schema", …}, "end": "</f>"}, …]}
                         →   the same, with the `TagFormat` that equal data became before in each such tag's place

Agents send the same tools turn after turn, each time as new data. A tag around a schema, the call of one tool, is known
by the content of its data; or of its fields, if it is a format already. A known tag owns its schema: a caller who
changes what he passed changes nothing here. They are used inside and never handed out.

Invariant: tags that are known by the same content are lowered alike.
Cost: about a microsecond for a tag that is known.
Tested by tests/structural_tag/test_known_tags.py.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Mapping
from operator import attrgetter
from typing import Any

from maskwright._kernel import content_of
from maskwright.errors import MaskwrightError
from maskwright.structural_tag.base import MAX_DEPTH, Format, Known, altered, read_format, readers_of
from maskwright.structural_tag.content_cache import ContentCache
from maskwright.structural_tag.formats import JSONSchemaFormat, QwenXMLParameterFormat, TagFormat, TokenFormat
from maskwright.structural_tag.tag import StructuralTag, parsed

TAGS: ContentCache[Format] = ContentCache()

_SCHEMA_TYPES = (JSONSchemaFormat.type, QwenXMLParameterFormat.type)
_SCHEMA_FIELDS = attrgetter(*readers_of(JSONSchemaFormat))


def read_known(tag: StructuralTag | str | bytes | Mapping[str, Any]) -> StructuralTag:
    """Return a structural tag in which those tags that can be known are.

    Raises:
        StructuralTagError, LimitError: As `StructuralTag.from_json`.
    """
    if isinstance(tag, StructuralTag):
        return StructuralTag(_known_format(tag.format, 0))
    data = parsed(tag) if isinstance(tag, (str, bytes)) else tag
    return StructuralTag.from_json(_known_data(data, 0, None))


def content_key(it: Any) -> Hashable:
    """Return what tells a format, or the value of a field, apart from others; None if it cannot be told."""
    try:
        return _key(it)
    except ValueError:
        return None


def _key(it: Any) -> Hashable:
    if isinstance(it, Format):
        return it.known.content if it.known else (it.type, *[_key(getattr(it, name)) for name in readers_of(type(it))])
    if isinstance(it, tuple):
        return tuple([_key(each) for each in it])
    content: Hashable = content_of(it) if isinstance(it, dict) else it
    if content is None and it is not None:
        raise ValueError("a schema that is no plain data")
    return content


def _known_data(data: Any, depth: int, usual_type: str | None) -> Any:
    """Replace the calls in a format's data, whose type is the usual one if it does not say."""
    if type(data) is not dict or depth > MAX_DEPTH:
        return data
    inner = data.get("content")
    if type(inner) is dict and inner.get("type") in _SCHEMA_TYPES and data.get("type", usual_type) == "tag":
        content = content_of(data)
        return data if content is None else TAGS.find(content) or _new_call(data, content)
    found: dict[str, Any] = {}
    for name in ("format", "content"):
        if name in data:
            found[name] = _known_data(data[name], depth + 1, None)
    for name, usual in (("tags", "tag"), ("elements", None)):
        several = data.get(name)
        if type(several) is list:
            found[name] = [_known_data(each, depth + 1, usual) for each in several]
    return {**data, **found} if found else data


def _new_call(data: dict[str, Any], content: bytes) -> Any:
    try:
        known = read_format({"type": "tag", **marshal.loads(marshal.dumps(data))}, "")
    except MaskwrightError:
        return data  # for the one who knows the pointer
    return _keep(known, content, content)


def _known_format(it: Format, depth: int) -> Format:
    if it.known or depth > MAX_DEPTH:
        return it
    if isinstance(it, TagFormat) and isinstance(it.content, JSONSchemaFormat):
        return _known_tag(it, it.content)
    found: dict[str, Any] = {}
    for name in ("content", "tags", "elements"):
        value = vars(it).get(name)
        if isinstance(value, Format):
            found[name] = _known_format(value, depth + 1)
        elif isinstance(value, tuple):
            found[name] = tuple([_known_format(each, depth + 1) for each in value])
    return altered(it, **found) if found else it


def _known_tag(tag: TagFormat, inner: JSONSchemaFormat) -> Format:
    content = content_of((_plain(tag.begin), _plain(tag.end), tag.capture, *_SCHEMA_FIELDS(inner)))
    if content is None:
        return tag
    key = content, inner.origin  # which is for errors: equal tags are lowered alike without it
    found = TAGS.find(key)
    if found is None:
        schema = marshal.loads(marshal.dumps(inner.json_schema))
        found = _keep(altered(tag, content=altered(inner, json_schema=schema)), content, key)
    return found


def _keep(known: Format, content: bytes, key: Hashable) -> Format:
    object.__setattr__(known, "known", Known(content, {}))
    TAGS.keep(key, known, len(content))
    return known


def _plain(it: Any) -> Any:
    """A begin or an end, tokens as tuples."""
    if isinstance(it, TokenFormat):
        return (it.token,)
    return tuple([_plain(each) for each in it]) if isinstance(it, tuple) else it
