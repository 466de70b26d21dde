"""Arrays whose items must all differ, where these may have any number of values: `uniqueItems`.

    {"items": {"type": "string"}, "uniqueItems": true}   →   "[" distinct("\"" character* "\"", ",")? "]"

The kernel compares texts (`ir.distinct`), the standard values; so each value has one text here (one_text.py). Arrays
and objects that cannot be given one are compared by what they say (compared_values.py). Beside `prefixItems` or
`contains` they all are (distinct_positions.py).
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py and test_schema_unique_objects.py.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.emit.compared_values import (
    Compared,
    compared_arrays,
    compared_objects,
    leads_back_plainly,
    may_contain,
)
from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.distinct_positions import distinct_positions
from maskwright.frontends.json_schema.emit.one_text import OneText
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Conj, Path
from maskwright.frontends.json_schema.sets.shape import ArrayShape
from maskwright.ir import UNBOUNDED, Expr, alt, distinct


def distinct_array(rules: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of items that all differ; `longest` is -1 for no limit.

    Raises:
        TooManyError: Their items cannot be compared.
    """
    if shape.prefix or shape.contains:
        return distinct_positions(rules, shape, longest, depth)
    style = rules.layout.styles[depth]
    element, values = _compared(rules, shape.rest, style.inner, shape.unique)
    most = UNBOUNDED if longest < 0 else longest
    items = distinct(element, style.comma, max(shape.min_items, 1), most, values)
    return style.array_of(items, may_be_empty=shape.min_items == 0)


def _compared(rules: SchemaRules, item: Conj, depth: int, unique: Path) -> tuple[Expr, list[Compared]]:
    """The items that are compared by their texts, and those that are by what they say."""
    try:
        return OneText(rules).element(item, depth), []
    except TooManyError:
        shape = rules.norm.shape_of(item)
        if may_contain(rules, item, unique) and not leads_back_plainly(rules, shape, unique):
            raise
    texts = [OneText(rules).scalars(shape)]
    values: list[Compared] = []
    try:
        texts.append(OneText(rules).arrays(shape, depth))
    except TooManyError:
        values += compared_arrays(rules, shape, depth)
    try:
        texts.append(OneText(rules).objects(shape, depth))
    except TooManyError:
        values += compared_objects(rules, shape, depth)
    return alt(*texts), values
