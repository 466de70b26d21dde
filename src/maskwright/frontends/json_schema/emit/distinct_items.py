"""Arrays whose items must all differ, where these may have any number of values: `uniqueItems`.

    {"items": {"type": "string"}, "uniqueItems": true}   →   "[" distinct("\"" character* "\"", ",")? "]"

The kernel compares texts (`ir.distinct`), the standard values; so each value has one text here (one_text.py). Items
that stand beside `prefixItems` or `contains` are not compared.
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py and test_schema_unique_objects.py.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.one_text import OneText
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.sets.shape import ArrayShape
from maskwright.ir import UNBOUNDED, Expr, distinct


def distinct_array(rules: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of items that all differ; `longest` is -1 for no limit.

    Raises:
        TooManyError: Their items cannot be compared.
    """
    if shape.prefix or shape.contains:
        raise TooManyError
    style = rules.layout.styles[depth]
    item = OneText(rules).element(shape.rest, style.inner)
    most = UNBOUNDED if longest < 0 else longest
    return style.array_of(distinct(item, style.comma, max(shape.min_items, 1), most), may_be_empty=shape.min_items == 0)
