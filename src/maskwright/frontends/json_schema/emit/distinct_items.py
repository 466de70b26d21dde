"""Arrays whose items must all differ, where these may have any number of values: `uniqueItems`.

    {"items": {"type": "string"}, "uniqueItems": true}   →   "[" distinct("\"" character* "\"", ",")? "]"

The kernel compares texts (`ir.distinct`), the standard values; so each value has one text here (one_text.py). Of an
object with undeclared members, the declared ones come first and are compared alone, so that two such items must differ
there; the others come between the texts that are compared. Items beside `prefixItems` or `contains` are not compared.
Tested by tests/frontends/json_schema/emit/test_schema_unique_items.py and test_schema_unique_objects.py.
"""

from __future__ import annotations

from maskwright.frontends.json_schema.emit.counting import TooManyError
from maskwright.frontends.json_schema.emit.distinct_names import require_complete
from maskwright.frontends.json_schema.emit.layout import CLOSE_OBJECT
from maskwright.frontends.json_schema.emit.objects import undeclared_member
from maskwright.frontends.json_schema.emit.one_text import OneText
from maskwright.frontends.json_schema.emit.schema_rules import SchemaRules
from maskwright.frontends.json_schema.read.places import Conj
from maskwright.frontends.json_schema.sets.shape import ArrayShape
from maskwright.ir import EMPTY, OP_NEVER, UNBOUNDED, Expr, distinct, seq, star


def distinct_array(rules: SchemaRules, shape: ArrayShape, longest: int, depth: int) -> Expr:
    """Return the spellings of arrays of items that all differ; `longest` is -1 for no limit.

    Raises:
        TooManyError: Their items cannot be compared.
    """
    if shape.prefix or shape.contains:
        raise TooManyError
    style = rules.layout.styles[depth]
    item, rest = _compared_part(rules, shape.rest, style.inner)
    most = UNBOUNDED if longest < 0 else longest
    items = seq(distinct(item, seq(rest, style.comma), max(shape.min_items, 1), most), rest)
    return style.array_of(items, may_be_empty=shape.min_items == 0)


def _compared_part(rules: SchemaRules, item: Conj, depth: int) -> tuple[Expr, Expr]:
    """What is compared of an item, and what comes after that."""
    try:
        return OneText(rules).element(item, depth), EMPTY
    except TooManyError:
        part, shape = OneText(rules).declared_part(item, depth)
    member = undeclared_member(rules, shape, depth)
    require_complete(rules, member)
    style = rules.layout.styles[depth]
    further = star(seq(style.comma, rules.as_rule("member", member))) if member[0] != OP_NEVER else EMPTY
    return part, seq(further, style.trail, CLOSE_OBJECT)
