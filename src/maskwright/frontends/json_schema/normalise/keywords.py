"""The keywords of JSON Schema, one function each, named as the standard names it.

A function takes the `SchemaContext` of its schema object and the keyword's value, checks that the value is well-formed,
and writes down what it asserts. `KEYWORDS` is the dispatch table; a keyword that is not in it is an annotation and
ignored. A keyword speaks about one type and leaves the others free, unless it is an applicator to the same instance.
What cannot be enforced is found out when the shape is emitted, so that it counts only where that type is possible at
all.

Sources: JSON Schema drafts 4, 6, 7, 2019-09 and 2020-12, core and validation.
Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py and test_schema_suite.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from maskwright.frontends.json_schema.normalise import keywords_applicators as applicators
from maskwright.frontends.json_schema.normalise import keywords_containers as containers
from maskwright.frontends.json_schema.normalise import keywords_scalars as scalars
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext

KEYWORDS: Final[dict[str, Callable[[SchemaContext, Any], None]]] = {
    "type": scalars.type_,
    "enum": scalars.enum,
    "const": scalars.const,
    "minimum": scalars.minimum,
    "exclusiveMinimum": scalars.exclusiveMinimum,
    "maximum": scalars.maximum,
    "exclusiveMaximum": scalars.exclusiveMaximum,
    "multipleOf": scalars.multipleOf,
    "minLength": scalars.minLength,
    "maxLength": scalars.maxLength,
    "pattern": scalars.pattern,
    "format": scalars.format_,
    "items": containers.items,
    "prefixItems": containers.prefixItems,
    "minItems": containers.minItems,
    "maxItems": containers.maxItems,
    "uniqueItems": containers.uniqueItems,
    "contains": containers.contains,
    "unevaluatedItems": containers.unevaluatedItems,
    "properties": containers.properties,
    "required": containers.required,
    "additionalProperties": containers.additionalProperties,
    "patternProperties": containers.patternProperties,
    "propertyNames": containers.propertyNames,
    "minProperties": containers.minProperties,
    "maxProperties": containers.maxProperties,
    "dependentRequired": containers.dependentRequired,
    "dependentSchemas": containers.dependentSchemas,
    "dependencies": containers.dependencies,
    "unevaluatedProperties": containers.unevaluatedProperties,
    "allOf": applicators.allOf,
    "anyOf": applicators.anyOf,
    "oneOf": applicators.oneOf,
    "not": applicators.not_,
    "if": applicators.if_,
    "$ref": applicators.ref_,
    "$dynamicRef": applicators.dynamicRef,
    "$recursiveRef": applicators.recursiveRef,
}

_SINCE: Final = {
    6: ("const", "contains", "propertyNames"),
    7: ("if",),
    2019: ("dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "$recursiveRef"),
    2020: ("prefixItems", "$dynamicRef"),
}


def keywords_of(draft: int) -> dict[str, Callable[[SchemaContext, Any], None]]:
    """Return the keywords that a draft has. Those that later drafts dropped are understood in all of them."""
    later = {keyword for since, keywords in _SINCE.items() if since > draft for keyword in keywords}
    return {keyword: function for keyword, function in KEYWORDS.items() if keyword not in later}


BY_DRAFT: Final = {draft: keywords_of(draft) for draft in (3, 4, 6, 7, 2019, 2020)}
