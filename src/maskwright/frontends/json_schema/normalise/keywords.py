"""The keywords of JSON Schema and our own, one function each, named as the standard names it.

A function takes the `SchemaContext` of its schema object and the keyword's value, checks that the value is well-formed,
and writes down what it asserts. `FUNCTIONS` is the dispatch table; a keyword that is not in it is an annotation and
ignored, or read by another one's function. A keyword speaks about one type and leaves the others free, unless it is an
applicator to the same instance. What cannot be enforced is found out when the shape is emitted, so that it counts only
where that type is possible at all. What else is known of keywords is in read/keyword_table.py.

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
from maskwright.frontends.json_schema.read.keyword_table import KEYWORDS

FUNCTIONS: Final[dict[str, Callable[[SchemaContext, Any], None]]] = {
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
    "x-grammar": scalars.x_grammar,
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


def _of_draft(draft: int) -> dict[str, Callable[[SchemaContext, Any], None]]:
    """The keywords that a draft has. Those that later drafts dropped are understood in all of them."""
    return {keyword: function for keyword, function in FUNCTIONS.items() if KEYWORDS[keyword].since <= draft}


BY_DRAFT: Final = {draft: _of_draft(draft) for draft in (3, 4, 6, 7, 2019, 2020)}
