"""What callers know of the schemas in a structural tag, written into its formats: options, and where the tag stands.

    with_defaults(JSONSchemaFormat(schema, any_order=True), {"strict_mode": True, "any_order": False})
        →   JSONSchemaFormat(schema, any_order=True, strict_mode=True)

What a format says itself wins; the layout is one choice, so a format that says part of it says it all.
Invariant: recursion goes no deeper than formats nest, which is limited to MAX_DEPTH.
Tested by tests/structural_tag/formats/test_tag_options.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.options import LAYOUT_OPTIONS, JsonSchemaOptions, chosen_options
from maskwright.structural_tag.formats.base import Format, altered, readers_of
from maskwright.structural_tag.formats.classes import JSONSchemaFormat, QwenXMLParameterFormat
from maskwright.structural_tag.formats.reading import MAX_DEPTH

_Change: TypeAlias = Callable[[JSONSchemaFormat, str], JSONSchemaFormat]  # of a format and its pointer


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
    return _changed(it, lambda each, pointer: _with_options(each, options), "", 0)


def located(it: Format, pointer: str) -> Format:
    """Return the format of a tag that stands at `pointer` in a request, so that schemas in it are pointed at there."""

    def change(each: JSONSchemaFormat, within: str) -> JSONSchemaFormat:
        origin = f"{within}/json_schema" if each.origin is None else each.origin
        return altered(each, origin=pointer + origin)

    return _changed(it, change, "/format", 0)


def _with_options(it: JSONSchemaFormat, options: Mapping[str, Any]) -> JSONSchemaFormat:
    skipped = LAYOUT_OPTIONS if it.says_layout else ()
    new = {k: v for k, v in options.items() if getattr(it, k) is None and k not in skipped}
    return altered(it, **new) if new else it


def _changed(it: Format, change: _Change, pointer: str, depth: int) -> Format:
    if depth > MAX_DEPTH:
        raise LimitError(f"formats are nested deeper than {MAX_DEPTH} levels", limit="structural tag depth")
    if isinstance(it, QwenXMLParameterFormat):
        it = JSONSchemaFormat(it.json_schema, "qwen_xml")
    if isinstance(it, JSONSchemaFormat):
        return change(it, pointer)
    found = {}
    for name in readers_of(type(it)):
        value = getattr(it, name)
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
