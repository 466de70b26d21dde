"""What callers know of the schemas in a structural tag, written into its formats: options, and where the tag stands.

    with_defaults(JSONSchemaFormat(schema, any_order=True), {"strict_mode": True, "any_order": False})
        →   JSONSchemaFormat(schema, any_order=True, strict_mode=True)

What a format says itself wins; the layout is one choice, so a format that says part of it says it all. What becomes of
a known tag is known as well.
Invariant: recursion goes no deeper than formats nest, which is limited to MAX_DEPTH.
Tested by tests/structural_tag/formats/test_tag_options.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.options import LAYOUT_OPTIONS, JsonSchemaOptions, chosen_options
from maskwright.structural_tag.formats.base import Format, altered, readers_of
from maskwright.structural_tag.formats.classes import (
    GrammarFormat,
    JSONSchemaFormat,
    QwenXMLParameterFormat,
    RegexFormat,
    TagFormat,
)
from maskwright.structural_tag.formats.kept import kept_tag
from maskwright.structural_tag.formats.reading import MAX_DEPTH
from maskwright.structural_tag.formats.tag import StructuralTag

_F = TypeVar("_F", bound=Format)
_Text: TypeAlias = JSONSchemaFormat | GrammarFormat | RegexFormat  # whose mistakes are pointed at
_FIELDS: Final = {JSONSchemaFormat: "json_schema", GrammarFormat: "grammar", RegexFormat: "pattern"}
_NO_OPTIONS: Final[Mapping[str, Any]] = {}


class _Change(NamedTuple):
    """What becomes of a text at a pointer, and what distinguishes that from other changes; None if nothing does.

    `origin` is that of the known tag that the text is in.
    """

    apply: Callable[[_Text, str], _Text]
    made_by: Callable[[str], Hashable]
    origin: str | None = None


def read_tag(
    tag: StructuralTag | str | bytes | Mapping[str, Any], given: Mapping[str, Any] = _NO_OPTIONS
) -> StructuralTag:
    """Return a structural tag with these options for each JSON Schema in it that does not say otherwise.

    Args:
        tag: The tag, its data, or its JSON text.
        given: Options, as callers pass them.

    Raises:
        StructuralTagError, LimitError: As `StructuralTag.from_json`.
        OptionError: An option is unknown or invalid.
    """
    options = checked_options(given) if given else given
    read = tag if isinstance(tag, StructuralTag) else StructuralTag.from_json(tag)
    return StructuralTag(with_defaults(read.format, options)) if options else read


def checked_options(given: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return the options that are not left to their defaults, in the form that formats keep.

    Raises:
        OptionError: An option is unknown or invalid; `others` are arguments that the caller may have meant.
    """
    chosen = chosen_options(given, others)
    options = JsonSchemaOptions(**chosen)
    return {name: getattr(options, name) for name in chosen}


def with_defaults(it: Format, options: Mapping[str, Any]) -> Format:
    """Return a format in which each `json_schema` has these options, unless it says otherwise."""
    if not options:
        return it
    is_known = options.get("registry") is None  # whose contents are not known
    made_by = tuple(options.items()) if is_known else None
    return _changed(it, _Change(lambda each, pointer: _with_options(each, options), lambda pointer: made_by), "", 0)


def located(it: Format, pointer: str) -> Format:
    """Return the format of a tag that stands at `pointer` in a request, so that errors point into it there."""

    def moved(each: _Text, within: str) -> _Text:
        origin = f"{within}/{_FIELDS[type(each)]}" if each.origin is None else each.origin
        return altered(each, origin=pointer + origin)

    return _changed(it, _Change(moved, lambda within: (pointer, within)), "/format", 0)


def remade(tag: TagFormat, made_by: Hashable, make: Callable[[TagFormat], TagFormat]) -> TagFormat:
    """Return what is made of a tag; of a known one, what was made of it before."""
    if tag.known is None or made_by is None:
        return make(tag)
    return kept_tag(tag.known._replace(made_by=(tag.known.made_by, made_by)), lambda: make(tag))


def _with_options(it: _Text, options: Mapping[str, Any]) -> _Text:
    if not isinstance(it, JSONSchemaFormat):
        return it
    skipped = LAYOUT_OPTIONS if it.says_layout else ()
    new = {k: v for k, v in options.items() if getattr(it, k) is None and k not in skipped}
    return altered(it, **new) if new else it


def _changed(it: Format, change: _Change, pointer: str, depth: int) -> Format:
    if depth > MAX_DEPTH:
        hint = "nest fewer formats in each other"
        raise LimitError(f"formats are nested deeper than {MAX_DEPTH} levels", limit="structural tag depth", hint=hint)
    if isinstance(it, QwenXMLParameterFormat):
        it = it.as_json_schema
    if isinstance(it, _Text) and it.known is None:
        changed = change.apply(it, pointer)
        return changed if change.origin is None else altered(changed, origin=change.origin)
    if isinstance(it, TagFormat) and it.known is not None:
        inside = change._replace(origin=it.known.origin)
        return remade(it, change.made_by(pointer), lambda tag: _fields_changed(tag, inside, pointer, depth))
    return it if it.known is not None else _fields_changed(it, change, pointer, depth)


def _fields_changed(it: _F, change: _Change, pointer: str, depth: int) -> _F:
    found = {}
    for name in readers_of(type(it)):
        value = it.__dict__[name]
        changed = _in_field(value, change, f"{pointer}/{name}", depth + 1)
        if changed is not value:
            found[name] = changed
    return altered(it, **found) if found else it


def _in_field(value: Any, change: _Change, pointer: str, depth: int) -> Any:
    """The value of a field: a format, several, or pairs with formats in them; other values as they are."""
    if isinstance(value, Format):
        return _changed(value, change, pointer, depth)
    if isinstance(value, tuple):
        changed = tuple([_in_field(each, change, f"{pointer}/{i}", depth) for i, each in enumerate(value)])
        return value if all(a is b for a, b in zip(changed, value, strict=True)) else changed
    return value
