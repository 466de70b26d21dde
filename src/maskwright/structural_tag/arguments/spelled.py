"""Arguments in styles other than JSON: the entrance, from a JSON Schema to a grammar.

    {"properties": {"n": {"type": "integer"}}}   →   ws ("<parameter=n>" ws integer ws "</parameter>" ws)?

How members and values are written is in `xml.py`; for calls in Python's syntax, in `python_calls.py`.
Tested by tests/structural_tag/arguments/test_xml.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.errors import MaskwrightError, UnsatisfiableError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, normalised, schema_to_ir, why_unsatisfiable
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import layout_of
from maskwright.frontends.json_schema.normalise.normaliser import Normaliser
from maskwright.frontends.json_schema.read.documents import read_schema
from maskwright.frontends.json_schema.read.guidance import layout_options
from maskwright.ir import OP_NEVER, GrammarIR
from maskwright.ir.emptiness import admits_nothing
from maskwright.structural_tag.arguments.python_calls import PythonWriter
from maskwright.structural_tag.arguments.xml import Writer
from maskwright.structural_tag.formats.xml_styles import SpelledStyle


def spelled_to_ir(
    schema: Any,
    style: SpelledStyle,
    options: JsonSchemaOptions,
    excluded: tuple[bytes, ...],
    report: list[Finding],
    *,
    capture_members: bool = False,
) -> GrammarIR:
    """Return the grammar of the spellings of a schema's objects.

    With `capture_members`, names of members are captures, `name` or, with escapes, `attribute`; and so are values:
    `string` without quotes; `padded`, a string with a newline in front that may be there and does not count; `value` in
    JSON; `true` and `false` in any spelling; `object` and `array`, member by member and item by item.

    Raises:
        SchemaError: As `schema_to_ir`; also where the style cannot spell what the schema asks for.
        UnsatisfiableError: It is plain that no object is valid.
    """
    schema = read_schema(schema)
    options = layout_options(schema, options, report)
    writer_of = PythonWriter if style.is_python else Writer

    def written(norm: Normaliser) -> GrammarIR:
        emitter = Emitter(norm, layout_of(options))
        writer = writer_of(emitter, style, excluded, capture_members)
        node = norm.document.node
        root = writer.members(writer.of_types((node,), ("object",)), node.path)
        writer.finish()
        if root[0] == OP_NEVER:
            raise no_object(schema, options)
        return emitter.builder.build(emitter.builder.add("arguments", root))

    return normalised(schema, options, report, written)


def no_object(schema: Any, options: JsonSchemaOptions) -> UnsatisfiableError:
    """The error for a schema of which no object can be spelled; if it has no values at all, it names the keywords."""
    try:
        if admits_nothing(schema_to_ir(schema, options)):
            return why_unsatisfiable(schema, options)
    except UnsatisfiableError as error:
        return error
    except MaskwrightError:
        pass
    return UnsatisfiableError(
        "no object that is valid against this schema can be written in this style",
        hint="change the schema or the style",
    )
