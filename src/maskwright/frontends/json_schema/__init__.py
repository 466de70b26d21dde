"""JSON Schema: `schema_to_ir` makes a grammar of the texts whose values a schema admits.

    read        documents.py    the text, `$schema` (vocabularies.py), where a reference points (resources.py)
    normalise   normalise.py    runs keywords*.py over each schema object: its shape, sorted by type (shape.py);
                                intersect.py, complement.py, disjoint.py, simplify.py and unevaluated.py calculate with
                                shapes; leaves.py shares those of schemas without sub-schemas
    emit        emit.py         with arrays.py, objects.py, scalars.py: from shapes to rules over bytes, counting.py
                                where something is counted, laid out as layout.py says, with the white space of
                                white_space.py, or as the schema asks (guidance.py), and in
                                ASCII alone if wanted (ascii_only.py)

reached.py finds the keywords that apply, for the report of `maskwright.check`.

Exact or refused: no text is admitted whose value the schema does not. What cannot be enforced raises
`UnsupportedSchemaError` with its JSON pointer, or is reported where the caller chose `on_unsupported="relax"`. Of the
many spellings of a value, some are left out: docs/json_schema.md says which.
Tested by tests/frontends/json_schema/.
"""

from __future__ import annotations

from typing import Any

from maskwright.errors import LimitError, UnsatisfiableError
from maskwright.frontends.json_schema.ascii_only import in_ascii
from maskwright.frontends.json_schema.documents import Document, read_schema
from maskwright.frontends.json_schema.emit import Emitter
from maskwright.frontends.json_schema.guidance import layout_options
from maskwright.frontends.json_schema.layout import layout_of
from maskwright.frontends.json_schema.normalise import Normaliser
from maskwright.frontends.json_schema.options import Finding as Finding
from maskwright.frontends.json_schema.options import JsonSchemaOptions as JsonSchemaOptions
from maskwright.frontends.json_schema.shape import DynamicError, TrackError
from maskwright.ir import OP_NEVER, GrammarIR

__all__ = ["DEFAULTS", "Finding", "JsonSchemaOptions", "schema_to_ir"]

DEFAULTS = JsonSchemaOptions()


def schema_to_ir(
    schema: Any,
    options: JsonSchemaOptions = DEFAULTS,
    report: list[Finding] | None = None,
    *,
    capture_members: bool = False,
) -> GrammarIR:
    """Return the grammar of the JSON texts whose value is valid against a schema.

    Args:
        schema: A dict, a bool, or a JSON text (str or bytes). It must not change during the call.
        options: White space, strictness, and what to do with what cannot be enforced.
        report: Receives a `Finding` for each keyword that was left out, or that is an annotation only.
        capture_members: Whether the names and values of the outermost object are captures, `key` and `value`.

    Raises:
        SchemaError: The schema is malformed; `pointer` says where.
        UnsupportedSchemaError: It asserts something that cannot be enforced.
        UnsatisfiableError: No value is valid.
        LimitError: It is too deep or too large.

    >>> print(schema_to_ir({"type": "boolean"}).dump().splitlines()[0])
    root ::= "true" | "false"
    """
    schema, report = read_schema(schema), [] if report is None else report
    options = layout_options(schema, options, report)
    dynamic = tracks = False
    while True:
        norm = Normaliser(Document(schema, options.registry, dynamic), options, report, tracks)
        try:
            return _grammar(norm, Emitter(norm, layout_of(options), capture_members))
        except DynamicError:
            dynamic = True
        except TrackError:
            tracks = True


def _grammar(norm: Normaliser, emitter: Emitter) -> GrammarIR:
    try:
        root = emitter.root((norm.document.node,))
    except RecursionError as error:
        raise LimitError("the schema nests too deep for Python's stack", limit="recursion") from error
    if root[0] == OP_NEVER:
        raise UnsatisfiableError("no value is valid against this schema", hint="look for contradicting keywords")
    grammar = emitter.builder.build(root)
    return in_ascii(grammar, emitter.layout.prelude) if emitter.layout.options.ensure_ascii else grammar
