"""Schemas of which a glance shows that they can be compiled, so that doing so can wait until it is needed.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}     evident
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7}}}            not: someone has to look

Evident is a schema of objects that is well-formed, has values, needs no parametric rules in declared order, and has
nothing to be reported. Most arguments of tools are. Nothing here changes what a schema means: what is not evident is
compiled at once. What a sub-schema may say:

    null, boolean    nothing else
    string           enum, or format, or minLength and maxLength
    integer          enum, or minimum and maximum
    number           minimum and maximum
    array            items, minItems, maxItems
    object           properties (with names that every style can write), required (of these), additionalProperties
    without type     nothing, or a list of types, or enum of scalars, or anyOf, not straight in another one

and, anywhere, annotations such as `description`; the root also which draft it is in. The glance itself is the binding's
(cpp/bindings/evident.cpp): it was a tenth of what a new tool costs.

Cost: about a tenth of a microsecond a schema object.
Tested by tests/frontends/json_schema/test_schema_evident.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright import _kernel
from maskwright.frontends.json_schema.formats import FORMATS


class Evident(NamedTuple):
    """What a glance at an evident schema shows besides.

    Attributes:
        has_required: its objects have at least one member.
        bounds_strings: some string has a format, or bounds to its length.
    """

    has_required: bool
    bounds_strings: bool


_EVIDENT: Final = {(a, b): Evident(a, b) for a in (False, True) for b in (False, True)}


def evident(content: bytes) -> Evident | None:
    """What is evident of a schema with this content, if it can be compiled with any options but `any_order`."""
    seen = _kernel.evident(content, FORMATS)
    return None if seen is None else _EVIDENT[seen]
