"""Schemas of which a glance shows that they can be compiled, so that doing so can wait until it is needed.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}     evident
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7}}}            not: someone has to look

Evident is a schema of objects that is well-formed, has values, needs no parametric rules in declared order, and has
nothing to be reported. Most arguments of tools are. Nothing here changes what a schema means: what is not evident is
compiled at once. What a sub-schema may say:

    null, boolean    nothing else
    string           format, and bounds that leave it room; or pattern, if it is plain; or minLength and maxLength
    integer, number  minimum, maximum, exclusiveMinimum, exclusiveMaximum
    array            items, minItems, maxItems
    object           properties (with names that every style can write), required (of these), additionalProperties
    several types    what each of them may say
    any scalar type  enum or const instead, with values of this type
    without type     nothing, or enum or const of scalars; or anyOf, or oneOf of different types, not straight in
                     another one; or a $ref to a definition of the root, alone or alone in allOf

and, anywhere, annotations such as `description`; the root also which draft it is in, and definitions, which have types
and do not lead to themselves. The glance itself is the binding's (cpp/bindings/evident.cpp): it was a tenth of what a
new tool costs.

Cost: about a tenth of a microsecond a schema object.
Tested by tests/frontends/json_schema/test_schema_evident.py.
"""

from __future__ import annotations

from typing import NamedTuple

from maskwright import _kernel
from maskwright.frontends.json_schema.sets.formats import FORMATS
from maskwright.frontends.json_schema.sets.plain_patterns import PLAIN_PATTERNS


class Evident(NamedTuple):
    """What a glance at an evident schema shows besides.

    Attributes:
        has_required: its objects have at least one member.
        has_members: its objects may have members.
        has_long_strings: some string has bounds of many thousands to its length.
        has_free_values: some object has no declared members, or some value may be anything.
        has_formats: some string has a format.
        names_arguments: its objects' declared members have names that can be those of arguments in Python.
    """

    has_required: bool
    has_members: bool
    has_long_strings: bool
    has_free_values: bool
    has_formats: bool
    names_arguments: bool


def evident(content: bytes) -> Evident | None:
    """What is evident of a schema with this content, if it can be compiled with any options."""
    seen = _kernel.evident(content, FORMATS, PLAIN_PATTERNS)
    return None if seen is None else Evident(*seen)
