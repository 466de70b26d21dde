"""Tags known from earlier requests: one object each, so that they are neither read nor lowered again.

    {"tags": [{"begin": "<f=", "content": {"type": "json_schema", …}, "end": "</f>"}, …]}
                         →   the same, with the `TagFormat` that equal data became before in each such tag's place

Agents send the same tools turn after turn, each time as new data. The innermost tags, such as calls of tools, are known
by the content of their data; those that are formats already, by their fields. A known tag owns its schemas
(kept_schemas.py): a caller who changes what he passed changes nothing here. They are used inside and never handed out.

Invariant: tags that are known by the same key are lowered alike.
Cost: about a microsecond for a tag that is known.
Tested by tests/structural_tag/test_known_tags.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, TypeAlias

from maskwright._kernel import canonical_bytes
from maskwright.errors import MaskwrightError
from maskwright.structural_tag.arguments.snippets import needs_no_pointer
from maskwright.structural_tag.formats.base import Format, Known, altered, readers_of
from maskwright.structural_tag.formats.classes import JSONSchemaFormat, OrFormat, QwenXMLParameterFormat, TagFormat
from maskwright.structural_tag.formats.content_cache import ContentCache
from maskwright.structural_tag.formats.defaults import checked_options, with_defaults
from maskwright.structural_tag.formats.fields import schema
from maskwright.structural_tag.formats.kept_schemas import KeptSchema, SchemaData, kept
from maskwright.structural_tag.formats.reading import MAX_DEPTH, read_format
from maskwright.structural_tag.formats.tag import StructuralTag, parsed
from maskwright.structural_tag.formats.xml_styles import spelled_style
from maskwright.structural_tag.texts.tokens import tokens_of
from maskwright.support.interruption import interrupt_checkpoint

TAGS: Final[ContentCache[Format]] = ContentCache()
_NO_OPTIONS: Final[Mapping[str, Any]] = {}
_Finder: TypeAlias = "Callable[[SchemaData], KeptSchema]"

_PARTS: Final = ("json_schema", "qwen_xml_parameter", "const_string", "regex", "any_text")
_JOINTS: Final = ("sequence", "or", "optional")  # of such parts
_DEPTH_OF_PARTS: Final = 4
_BYTES_OF_A_PART: Final = 64


def read_known(
    tag: StructuralTag | str | bytes | Mapping[str, Any], given: Mapping[str, Any] = _NO_OPTIONS
) -> StructuralTag:
    """Return a structural tag in which those tags that can be known are.

    Args:
        tag: The tag, its data, or its JSON text.
        given: Options for each JSON Schema in it that does not say otherwise.

    Raises:
        StructuralTagError, LimitError: As `StructuralTag.from_json`.
        OptionError: An option is unknown or invalid.
    """
    options = checked_options(given) if given else given
    if not isinstance(tag, StructuralTag):
        data = parsed(tag) if isinstance(tag, (str, bytes)) else tag
        tag = StructuralTag.from_json(_known_data(data, 0, None))
        if not options:
            return tag
    return StructuralTag(_known_format(with_defaults(tag.format, options), 0, _finder(), {}))


def content_key(it: Any) -> Hashable:
    """Return a key that distinguishes a format, or the value of a field, from others; None if there is none."""
    return _content_key(it, kept)


def _content_key(it: Any, find: _Finder) -> Hashable:
    try:
        return _key(it, find)
    except ValueError:
        return None


def _finder() -> _Finder:
    """The way to find schemas of one request, in which several tags may have the same object."""
    found: dict[int, KeptSchema] = {}

    def find(schema: SchemaData) -> KeptSchema:
        known = found.get(id(schema))
        if known is None:
            known = found[id(schema)] = kept(schema)
        return known

    return find


def _key(it: Any, find: _Finder) -> Hashable:
    if it is None or type(it) is str:  # as most fields are
        return it
    if isinstance(it, JSONSchemaFormat):
        if it.registry is not None:
            raise ValueError("the contents of a registry are not known")
        known = find(it.json_schema)
        style = None if it.style == "json" else spelled_style(it.style, tokens_of(None))
        origin = None if needs_no_pointer(it, known, style) else it.origin  # to which errors and reports point
        return (it.type, _content(known.content), it.choices, origin)
    if isinstance(it, Format):
        if it.known:
            return it.known.key
        return (it.type, *[_key(getattr(it, name), find) for name in readers_of(type(it))])
    if isinstance(it, tuple):
        return tuple([_key(each, find) for each in it])
    return _content(find(it).content) if isinstance(it, dict) else it


def _content(known: bytes | None) -> bytes:
    if known is None:
        raise ValueError("a schema that is not plain data")
    return known


def _known_data(data: Any, depth: int, usual_type: str | None) -> Any:
    """Replace the innermost tags in a format's data, whose type is the usual one if it does not say."""
    if type(data) is not dict or depth > MAX_DEPTH:
        return data
    if data.get("type", usual_type) == "tag" and _holds_no_tags(data.get("content")):
        content = canonical_bytes(data)
        return data if content is None else TAGS.find(content) or _new_tag(data, content)
    found: dict[str, Any] = {}
    for name in ("format", "content"):
        if name in data:
            found[name] = _known_data(data[name], depth + 1, None)
    for name, usual in (("tags", "tag"), ("elements", None)):
        several = data.get(name)
        if type(several) is list:
            found[name] = [_known_data(each, depth + 1, usual) for each in several]
    return {**data, **found} if found else data


def _new_tag(data: dict[str, Any], content: bytes) -> Any:
    try:
        read = read_format({"type": "tag", **_with_kept_schemas(data)}, "")
    except MaskwrightError:
        return data  # for the one who knows the pointer
    return _keep(read, content, len(content))


def _with_kept_schemas(data: dict[str, Any]) -> dict[str, Any]:
    """A copy of the data of a tag, or of a part of one, which reads as a format with schemas of its own."""
    copy, kind = data.copy(), data.get("type", "tag")
    if kind in _PARTS:
        if "json_schema" in copy:
            copy["json_schema"] = kept(schema(copy["json_schema"], ""))
    elif kind in _JOINTS and "elements" in copy:
        copy["elements"] = [_with_kept_schemas(each) for each in copy["elements"]]
    else:
        copy["content"] = _with_kept_schemas(copy["content"])
    return copy


def _known_format(it: Format, depth: int, find: _Finder, several: dict[int, Format]) -> Format:
    """`several`: what became of alternatives, by identity, as one object may stand in several places."""
    interrupt_checkpoint()
    if it.known or depth > MAX_DEPTH:
        return it
    if isinstance(it, TagFormat) and _holds_no_tags(it.content):
        key = _content_key(it, find)
        return it if key is None else TAGS.find(key) or _keep(_owned(it, find), key, _weight(it, find))
    if not isinstance(it, OrFormat):
        return _rebuilt(it, lambda each: _known_format(each, depth + 1, find, several))
    known = several.get(id(it))
    if known is None:
        known = several[id(it)] = _rebuilt(it, lambda each: _known_format(each, depth + 1, find, several))
    return known


def _holds_no_tags(it: Any, depth: int = 0) -> bool:
    """Whether a format, or its data, is made of a few parts that are not tags."""
    if type(it) is dict:
        kind: Any = it.get("type")
        fields = it
    elif isinstance(it, Format):
        kind, fields = it.type, vars(it)
    else:
        return False
    if kind in _PARTS or (isinstance(it, Format) and it.known and not isinstance(it, TagFormat)):
        return True
    if kind not in _JOINTS or depth == _DEPTH_OF_PARTS:
        return False
    inner = fields.get("elements", (fields.get("content"),))
    return type(inner) in (list, tuple) and all(_holds_no_tags(each, depth + 1) for each in inner)


def _keep(owned: Format, key: Hashable, weight: int) -> Format:
    object.__setattr__(owned, "known", Known(key, {}))
    return TAGS.keep(key, owned, weight)


def _owned(it: Format, find: _Finder) -> Format:
    """A copy of a tag, or a part of one, with schemas of its own."""
    if isinstance(it, (JSONSchemaFormat, QwenXMLParameterFormat)):
        return altered(it, json_schema=find(it.json_schema))
    if it.known:
        return it
    return _rebuilt(it, lambda each: _owned(each, find))


def _rebuilt(it: Format, change: Callable[[Format], Format]) -> Format:
    """A format with changes in the formats that it is made of."""
    found: dict[str, Any] = {}
    for name in ("content", "tags", "elements"):
        value = vars(it).get(name)
        if isinstance(value, Format):
            found[name] = change(value)
        elif isinstance(value, tuple):
            found[name] = tuple([change(each) for each in value])
    return altered(it, **found) if found else it


def _weight(it: Format, find: _Finder) -> int:
    """How many bytes there are in a tag, or a part of one, which is not malformed: schemas, and some for the rest."""
    if isinstance(it, (JSONSchemaFormat, QwenXMLParameterFormat)):
        return len(find(it.json_schema).content or b"")
    inner = vars(it).get("elements", (vars(it).get("content"),))
    return _BYTES_OF_A_PART + sum(
        [_weight(each, find) for each in inner if isinstance(each, Format) and not each.known]
    )
