"""`const` and `enum`: shapes of finite sets of values.

Scalars become finite sets of their type. An array or object becomes the schema that admits nothing else, so that it
intersects with other keywords like any other schema:

    {"const": {"a": [1]}}   →   objects with just the member "a": arrays of just one element: {"enum": [1]}

Equality is JSON's: 1 and 1.0 are equal, 1 and true are not.
Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from maskwright.errors import SchemaError
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.read.places import NOTHING, Conj, Path
from maskwright.frontends.json_schema.sets.decimals import exact
from maskwright.frontends.json_schema.sets.shape import (
    ARRAY,
    FALSE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    ArrayShape,
    Extras,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)


def shape_of_values(context: SchemaContext, keyword: str, values: list[Any]) -> Shape:
    """Return the shape of exactly these values."""
    mask = 0
    strings: list[str] = []
    numbers: list[Any] = []
    arrays: list[ArrayShape] = []
    objects: list[ObjectShape] = []
    for value in values:
        if type(value) is str:
            strings.append(value)
        elif value is None:
            mask |= NULL
        elif isinstance(value, bool):
            mask |= TRUE if value else FALSE
        elif isinstance(value, (int, float, Decimal)):
            number = exact(value)
            if number is None:
                raise _not_json(context, keyword, value)
            numbers.append(number)
        elif isinstance(value, list):
            arrays.append(_array(context, keyword, value))
        elif isinstance(value, dict):
            objects.append(_object(context, keyword, value))
        else:
            raise _not_json(context, keyword, value)
    if strings:
        mask |= STRING
    if numbers:
        mask |= NUMBER
    if arrays:
        mask |= ARRAY
    if objects:
        mask |= OBJECT
    return Shape(mask, _numbers(numbers), _strings(strings), tuple(arrays), tuple(objects))


def _not_json(context: SchemaContext, keyword: str, value: Any) -> SchemaError:
    hint = "use null, true, false, finite numbers, strings, arrays and objects"
    return context.malformed(keyword, "made of JSON values", value, hint)


def _strings(values: list[str]) -> tuple[StringShape, ...]:
    shape = StringShape()
    shape.values = dict.fromkeys(values)
    return (shape,)


def _numbers(values: list[Any]) -> tuple[NumberShape, ...]:
    shape = NumberShape()
    shape.values = tuple(dict.fromkeys(values))
    return (shape,)


def _constant(context: SchemaContext, value: Any, path: Path) -> Conj:
    return (context.norm.new_place({"enum": [value]}, context.node, path),)  # draft 4 has no `const`


def _array(context: SchemaContext, keyword: str, values: list[Any]) -> ArrayShape:
    path = (context.node.path, keyword)
    shape = ArrayShape()
    shape.prefix = tuple(_constant(context, value, (path, i)) for i, value in enumerate(values))
    shape.rest = NOTHING
    shape.min_items = shape.max_items = len(values)
    return shape


def _object(context: SchemaContext, keyword: str, members: dict[Any, Any]) -> ObjectShape:
    path = (context.node.path, keyword)
    shape = ObjectShape()
    for name, value in members.items():
        if not isinstance(name, str):
            raise _not_json(context, keyword, members)
        shape.properties[name] = _constant(context, value, (path, name))
    shape.required = dict.fromkeys(members)
    shape.extras = (Extras((), NOTHING),)
    return shape
