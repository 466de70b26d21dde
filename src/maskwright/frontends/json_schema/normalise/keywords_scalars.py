"""Keywords about types, finite sets, numbers and strings: see keywords.py.

Tested by tests/frontends/json_schema/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.json_schema.normalise.constants import shape_of_values
from maskwright.frontends.json_schema.normalise.site import Site
from maskwright.frontends.json_schema.options import Finding
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.decimals import exact
from maskwright.frontends.json_schema.sets.formats import FORMATS, MAX_LENGTHS
from maskwright.frontends.json_schema.sets.shape import (
    ANY_KIND,
    ARRAY,
    FALSE,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    WRITTEN_INTEGER,
    Exact,
)

_TYPES: Final = {
    "null": NULL,
    "boolean": FALSE | TRUE,
    "number": NUMBER,
    "integer": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
_TYPE_NAMES: Final = "null, boolean, number, integer, string, array or object"


def type_(site: Site, value: Any) -> None:
    if type(value) is str and value in _TYPES:
        if value == "integer":
            site.kind = _integers(site)
        site.mask &= _TYPES[value]
        return
    names = value if isinstance(value, list) else [value]
    mask = 0
    for name in names:
        bits = _TYPES.get(name) if isinstance(name, str) else None
        if bits is None:
            raise site.malformed("type", _TYPE_NAMES, name)
        mask |= bits
    if not names:
        raise site.malformed("type", "a type or a non-empty array of types", value)
    if mask & NUMBER:
        site.kind = ANY_KIND if "number" in names else _integers(site)
    site.mask &= mask


def _integers(site: Site) -> int:
    return INTEGER if site.norm.draft > 4 else WRITTEN_INTEGER


def enum(site: Site, value: Any) -> None:
    if not isinstance(value, list):
        raise site.malformed("enum", "an array", value)
    site.applied.append(shape_of_values(site, "enum", value))


def const(site: Site, value: Any) -> None:
    site.applied.append(shape_of_values(site, "const", [value]))


# Numbers


def _number_of(site: Site, keyword: str, value: Any) -> Exact:
    number = exact(value)
    if number is None:
        raise site.malformed(keyword, "a number", value)
    return number


def minimum(site: Site, value: Any) -> None:
    low = _number_of(site, "minimum", value)
    number = site.numbers()
    is_open = site.schema.get("exclusiveMinimum") is True
    if number.low is None or low > number.low or (low == number.low and is_open):
        number.low, number.low_open = low, is_open


def exclusiveMinimum(site: Site, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `minimum`
    low = _number_of(site, "exclusiveMinimum", value)
    number = site.numbers()
    if number.low is None or low >= number.low:
        number.low, number.low_open = low, True


def maximum(site: Site, value: Any) -> None:
    high = _number_of(site, "maximum", value)
    number = site.numbers()
    is_open = site.schema.get("exclusiveMaximum") is True
    if number.high is None or high < number.high or (high == number.high and is_open):
        number.high, number.high_open = high, is_open


def exclusiveMaximum(site: Site, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `maximum`
    high = _number_of(site, "exclusiveMaximum", value)
    number = site.numbers()
    if number.high is None or high <= number.high:
        number.high, number.high_open = high, True


def multipleOf(site: Site, value: Any) -> None:
    multiple = _number_of(site, "multipleOf", value)
    if multiple <= 0:
        raise site.malformed("multipleOf", "a number > 0", value)
    site.numbers().multiple_of += ((multiple, (site.node.path, "multipleOf")),)


# Strings


def count_of(site: Site, keyword: str, value: Any) -> int:
    number = exact(value)
    if number is None or number < 0 or number != int(number):
        raise site.malformed(keyword, "an integer >= 0", value)
    return int(number)


def minLength(site: Site, value: Any) -> None:
    count = count_of(site, "minLength", value)
    if count:
        string = site.strings()
        string.min_length = max(string.min_length, count)


def maxLength(site: Site, value: Any) -> None:
    count = count_of(site, "maxLength", value)
    string = site.strings()
    string.max_length = count if string.max_length is None else min(string.max_length, count)


def pattern(site: Site, value: Any) -> None:
    if not isinstance(value, str):
        raise site.malformed("pattern", "a string", value)
    site.strings().patterns += ((value, (site.node.path, "pattern")),)


def format_(site: Site, value: Any) -> None:
    if not isinstance(value, str):
        raise site.malformed("format", "a string", value)
    if site.norm.options.formats == "annotate":
        site.annotate("format", 'formats are annotations: formats="annotate"')
    elif value in FORMATS:
        site.strings().formats += (value,)
        if value in MAX_LENGTHS:
            maxLength(site, MAX_LENGTHS[value])
    else:
        site.norm.note(unknown_format(value, (site.node.path, "format")))


def unknown_format(name: str, path: Path) -> Finding:
    """What is reported of a format that is not known."""
    return Finding(pointer_of(path), "format", "annotation", f"unknown format {name[:60]!r}")
