"""Keywords about types, finite sets, numbers and strings: see keywords.py.

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.frontends.json_schema.normalise.constants import shape_of_values
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
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


def type_(context: SchemaContext, value: Any) -> None:
    if type(value) is str and value in _TYPES:
        if value == "integer":
            context.kind = _integers(context)
        context.mask &= _TYPES[value]
        return
    names = value if isinstance(value, list) else [value]
    mask = 0
    for name in names:
        bits = _TYPES.get(name) if isinstance(name, str) else None
        if bits is None:
            raise context.malformed("type", _TYPE_NAMES, name)
        mask |= bits
    if not names:
        raise context.malformed("type", "a type or a non-empty array of types", value)
    if mask & NUMBER:
        context.kind = ANY_KIND if "number" in names else _integers(context)
    context.mask &= mask


def _integers(context: SchemaContext) -> int:
    return INTEGER if context.norm.draft > 4 else WRITTEN_INTEGER


def enum(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, list):
        raise context.malformed("enum", "an array", value)
    context.applied.append(shape_of_values(context, "enum", value))


def const(context: SchemaContext, value: Any) -> None:
    context.applied.append(shape_of_values(context, "const", [value]))


# Numbers


def _number_of(context: SchemaContext, keyword: str, value: Any) -> Exact:
    number = exact(value)
    if number is None:
        raise context.malformed(keyword, "a number", value)
    return number


def minimum(context: SchemaContext, value: Any) -> None:
    low = _number_of(context, "minimum", value)
    number = context.numbers()
    is_open = context.schema.get("exclusiveMinimum") is True
    if number.low is None or low > number.low or (low == number.low and is_open):
        number.low, number.low_open = low, is_open


def exclusiveMinimum(context: SchemaContext, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `minimum`
    low = _number_of(context, "exclusiveMinimum", value)
    number = context.numbers()
    if number.low is None or low >= number.low:
        number.low, number.low_open = low, True


def maximum(context: SchemaContext, value: Any) -> None:
    high = _number_of(context, "maximum", value)
    number = context.numbers()
    is_open = context.schema.get("exclusiveMaximum") is True
    if number.high is None or high < number.high or (high == number.high and is_open):
        number.high, number.high_open = high, is_open


def exclusiveMaximum(context: SchemaContext, value: Any) -> None:
    if isinstance(value, bool):
        return  # draft 4: it qualifies `maximum`
    high = _number_of(context, "exclusiveMaximum", value)
    number = context.numbers()
    if number.high is None or high <= number.high:
        number.high, number.high_open = high, True


def multipleOf(context: SchemaContext, value: Any) -> None:
    multiple = _number_of(context, "multipleOf", value)
    if multiple <= 0:
        raise context.malformed("multipleOf", "a number > 0", value)
    context.numbers().multiple_of += ((multiple, (context.node.path, "multipleOf")),)


# Strings


def count_of(context: SchemaContext, keyword: str, value: Any) -> int:
    number = exact(value)
    if number is None or number < 0 or number != int(number):
        raise context.malformed(keyword, "an integer >= 0", value)
    return int(number)


def minLength(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "minLength", value)
    if count:
        string = context.strings()
        string.min_length = max(string.min_length, count)


def maxLength(context: SchemaContext, value: Any) -> None:
    count = count_of(context, "maxLength", value)
    string = context.strings()
    string.max_length = count if string.max_length is None else min(string.max_length, count)


def pattern(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, str):
        raise context.malformed("pattern", "a string", value)
    context.strings().patterns += ((value, (context.node.path, "pattern")),)


def format_(context: SchemaContext, value: Any) -> None:
    if not isinstance(value, str):
        raise context.malformed("format", "a string", value)
    if context.norm.options.formats == "annotate":
        context.annotate("format", 'formats are annotations: formats="annotate"')
    elif value in FORMATS:
        context.strings().formats += (value,)
        if value in MAX_LENGTHS:
            maxLength(context, MAX_LENGTHS[value])
    else:
        context.norm.findings.note(unknown_format(value, (context.node.path, "format")))


def unknown_format(name: str, path: Path) -> Finding:
    """What is reported of a format that is not known."""
    return Finding(pointer_of(path), "format", "annotation", f"unknown format {name[:60]!r}")
