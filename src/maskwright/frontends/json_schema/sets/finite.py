"""The values of shapes that have finitely many, as far as these are scalars.

    finite_values(shape of {"enum": ["a", 1, null]})     [("string", "a"), ("number", 1), ("literal", None)]
    finite_values(shape of {"type": "string"})           None

Tested by tests/frontends/json_schema/emit/test_schema_counting.py and normalise/test_schema_one_of.py.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from maskwright.frontends.json_schema.sets.shape import FALSE, NULL, TRUE, Shape

Scalar: TypeAlias = "tuple[str, Any]"  # with its type, as 1 and True are equal for Python


def finite_values(shape: Shape) -> list[Scalar] | None:
    """Return all scalars of a shape, each with its type; None if they are not finite in number."""
    if shape.arrays or shape.objects:
        return None
    values: dict[Scalar, None] = {}
    for kind, parts in (("string", shape.strings), ("number", shape.numbers)):
        for part in parts:
            if part.values is None:
                return None
            values.update(dict.fromkeys([(kind, value) for value in part.values]))
    for bit, value in ((NULL, None), (TRUE, True), (FALSE, False)):
        if shape.mask & bit:
            values["literal", value] = None
    return list(values)
