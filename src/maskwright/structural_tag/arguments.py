"""Values by JSON Schema, as JSON or in a model's own style: the snippets of `json_schema`.

Made once for each schema and kept. A snippet is the grammar of a schema as a leaf (maskwright.ir.subgrammars), which
stands in any grammar as it is, and which the kernel knows again without a look at it. Where it is evident that a schema
can be compiled, that is deferred until an output comes to it: a model with 128 tools calls a few.
Tested by tests/structural_tag/test_snippets.py and test_xml.py.
"""

from __future__ import annotations

import marshal
from typing import NamedTuple

from maskwright._kernel import content_of
from maskwright.errors import StructuralTagError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.evident import is_evident
from maskwright.frontends.json_schema.guidance import layout_options
from maskwright.frontends.json_schema.layout import layout_of
from maskwright.ir import Expr, GrammarIR, deferred_subgrammar, subgrammar
from maskwright.structural_tag.content_cache import ContentCache
from maskwright.structural_tag.formats import JSONSchemaFormat
from maskwright.structural_tag.tokens import Tokens
from maskwright.structural_tag.xml_styles import STYLES, SpelledStyle


class Snippet(NamedTuple):
    """A grammar as an expression, and what was reported of it."""

    expr: Expr
    report: tuple[Finding, ...]


SCHEMAS: ContentCache[Snippet] = ContentCache()


def arguments(it: JSONSchemaFormat, tokens: Tokens, pointer: str) -> Snippet:
    """Return the snippet of a `json_schema` format.

    Raises:
        SchemaError: The schema is malformed, or cannot be enforced; pointers start at the schema.
        StructuralTagError: An option does not go with the style.
    """
    style = None if it.style == "json" else STYLES[it.style].spelled(tokens)
    if style is None and it.excludes:
        raise StructuralTagError(
            "excludes goes with the XML styles only",
            pointer=f"{pointer}/excludes",
            hint="strings in JSON are ended by their quote; special tokens never occur in them",
        )
    if style is not None and style.separator and it.whitespace_pattern is not None:
        raise StructuralTagError(
            "the white space of this style is fixed",
            pointer=f"{pointer}/whitespace_pattern",
            hint="leave whitespace_pattern out",
        )
    content = content_of(it.json_schema)
    choices = it.strict_mode, it.max_whitespace_cnt, it.any_order, it.whitespace_pattern
    key = content, choices, style, it.excludes, it.capture is not None
    found = None if content is None else SCHEMAS.find(key)
    if found is None:
        options = layout_options(it.json_schema, it.options)
        if style is not None:
            found = _xml(it, options, style)
        elif content is not None and not options.any_order and is_evident(it.json_schema):
            found = _deferred_json(it, options)
        else:
            found = _json(it, options)
        if content is not None:
            SCHEMAS.keep(key, found, len(content))
    return found


def _deferred_json(it: JSONSchemaFormat, options: JsonSchemaOptions) -> Snippet:
    packed = marshal.dumps(it.json_schema)  # the caller may change it meanwhile
    capture_members = it.capture is not None

    def make() -> GrammarIR:
        return schema_to_ir(marshal.loads(packed), options, capture_members=capture_members)

    return Snippet(deferred_subgrammar(make, b"{", layout_of(options).prelude), ())


def _json(it: JSONSchemaFormat, options: JsonSchemaOptions) -> Snippet:
    report: list[Finding] = []
    ir = schema_to_ir(it.json_schema, options, report, capture_members=it.capture is not None)
    return _snippet(ir, options, report)


def _xml(it: JSONSchemaFormat, options: JsonSchemaOptions, style: SpelledStyle) -> Snippet:
    from maskwright.structural_tag.xml import xml_to_ir

    report: list[Finding] = []
    excluded = tuple(x.encode() for x in it.excludes)
    ir = xml_to_ir(it.json_schema, style, options, excluded, report, capture_members=it.capture is not None)
    return _snippet(ir, options, report)


def _snippet(ir: GrammarIR, options: JsonSchemaOptions, report: list[Finding]) -> Snippet:
    return Snippet(subgrammar(ir, layout_of(options).prelude), tuple(report))
