"""Arrays whose items must all differ, where these are scalars of which there may be any number: `uniqueItems`.

    {"items": {"type": "string"}, "uniqueItems": true}   →   "[" distinct("\"" character* "\"", ",")? "]"

The kernel compares texts (`ir.distinct`), the standard values. So each value has one text here: a string as
`json.dumps(ensure_ascii=False)` writes it, a number in decimals, with no exponent, no sign of zero and no zeros at the
end of the fraction. Items that are arrays or objects, or stand beside `prefixItems` or `contains`, are not compared.
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, utf8
from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.sets.decimals import digits_of
from maskwright.frontends.json_schema.sets.numerals import admitted_values
from maskwright.frontends.json_schema.sets.ranges import DIGITS, MINUS, NATURAL, NONZERO, POINT
from maskwright.frontends.json_schema.sets.scalars import scalar_texts
from maskwright.frontends.json_schema.sets.shape import (
    NUMBER,
    WRITTEN_FRACTION,
    WRITTEN_INTEGER,
    ArrayShape,
    Exact,
    NumberShape,
    Shape,
    StringShape,
)
from maskwright.frontends.json_schema.sets.strings import QUOTE, string_text
from maskwright.frontends.regular import spelled_out
from maskwright.ir import (
    OP_NEVER,
    UNBOUNDED,
    Expr,
    alt,
    and_,
    distinct,
    literal,
    not_,
    optional,
    repeat,
    seq,
    star,
)

_SHORT_ESCAPES: Final = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 0x22: '"', 0x5C: "\\"}
_CHARACTER: Final = alt(
    utf8(ALL_CHARACTERS - CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])),
    *[
        literal(f"\\{_SHORT_ESCAPES[point]}".encode() if point in _SHORT_ESCAPES else b"\\u%04x" % point)
        for point in (*range(0x20), 0x22, 0x5C)
    ],
)
_STRING: Final = seq(QUOTE, star(_CHARACTER), QUOTE)
_NUMBER: Final = and_(
    seq(optional(MINUS), NATURAL, optional(seq(POINT, DIGITS, NONZERO))),
    not_(literal(b"-0")),
)


def distinct_array(emitter: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of scalars that all differ; `longest` is -1 for no limit.

    Raises:
        TooManyError: Their items cannot be compared.
    """
    if shape.prefix or shape.contains:
        raise TooManyError
    item = _item_text(emitter, emitter.norm.shape_of(shape.rest))
    style = emitter.layout.styles[depth]
    most = UNBOUNDED if longest < 0 else longest
    return style.array_of(distinct(item, style.comma, max(shape.min_items, 1), most), may_be_empty=shape.min_items == 0)


def _item_text(emitter: SchemaRules, shape: Shape) -> Expr:
    """Scalars, each value by one text."""
    if shape.arrays or shape.objects:
        raise TooManyError
    texts = [_string_text(part) for part in shape.strings]
    texts += [_number_text(emitter, part) for part in shape.numbers]
    literals = Shape(shape.mask & ~NUMBER, strings=())
    texts += scalar_texts(literals, emitter.norm.options.numbers, emitter.refuse, emitter.builder)
    return alt(*texts)


def _string_text(shape: StringShape) -> Expr:
    if shape.values is not None:
        return string_text(shape)
    if shape.patterns or shape.formats or shape.excluded:
        text = string_text(shape)
        return and_(text, _STRING) if text[0] != OP_NEVER else text
    most = UNBOUNDED if shape.max_length is None else shape.max_length
    return seq(QUOTE, repeat(_CHARACTER, shape.min_length, most), QUOTE)


def _number_text(emitter: SchemaRules, shape: NumberShape) -> Expr:
    if shape.kind in (WRITTEN_INTEGER, WRITTEN_FRACTION):  # told apart by their texts
        raise TooManyError
    if shape.values is not None:
        return alt(*[literal(_decimal(value).encode()) for value in admitted_values(shape)])
    numbers = Shape(NUMBER, numbers=(shape,))
    texts = scalar_texts(numbers, emitter.norm.options.numbers, emitter.refuse, emitter.builder)
    shared = emitter.layout.prelude
    text = spelled_out(alt(*texts), lambda rule: shared[rule].body if rule < len(shared) else None)
    if text is None:  # remainders are computed by rules
        raise TooManyError
    return and_(text, _NUMBER) if text[0] != OP_NEVER else text


def _decimal(value: Exact) -> str:
    negative, whole, fraction = digits_of(value)
    return f"{'-' if negative else ''}{whole}{'.' if fraction else ''}{fraction}"
