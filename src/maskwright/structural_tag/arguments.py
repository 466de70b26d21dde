"""Values by JSON Schema, as JSON or in a model's own style: the snippets of `json_schema`.

Made once for each schema and kept (snippets.py).
Tested by tests/structural_tag/test_snippets.py and test_xml.py.
"""

from __future__ import annotations

from functools import lru_cache

from maskwright.errors import StructuralTagError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.layout import layout_of
from maskwright.ir import GrammarIR, subgrammar
from maskwright.structural_tag.formats import JSONSchemaFormat
from maskwright.structural_tag.snippets import SCHEMAS, Snippet
from maskwright.structural_tag.tokens import Tokens
from maskwright.structural_tag.xml_styles import STYLES, SpelledStyle


def arguments(it: JSONSchemaFormat, tokens: Tokens, pointer: str) -> Snippet:
    """Return the snippet of a `json_schema` format.

    Raises:
        SchemaError: The schema is malformed, or cannot be enforced; pointers start at the schema.
        StructuralTagError: An option does not go with the style.
    """
    options = _options(it.strict_mode, it.max_whitespace_cnt, it.any_order)
    if it.style == "json":
        if it.excludes:
            raise StructuralTagError(
                "excludes goes with the XML styles only",
                pointer=f"{pointer}/excludes",
                hint="strings in JSON are ended by their quote; special tokens never occur in them",
            )
        return SCHEMAS.get(it.json_schema, (options, it.capture is not None), lambda: _json(it, options))
    style = STYLES[it.style].spelled(tokens)
    key = (options, style, it.excludes, it.capture is not None)
    return SCHEMAS.get(it.json_schema, key, lambda: _xml(it, options, style))


@lru_cache(maxsize=64)
def _options(strict_mode: bool, max_whitespace_cnt: int | None, any_order: bool) -> JsonSchemaOptions:
    if max_whitespace_cnt is None:
        return JsonSchemaOptions(strict_mode=strict_mode, any_order=any_order)
    return JsonSchemaOptions(strict_mode=strict_mode, max_whitespace_cnt=max_whitespace_cnt, any_order=any_order)


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
