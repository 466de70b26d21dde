"""JSON Schema: `schema_to_ir` makes a grammar of the texts whose values a schema admits.

    text        what JSON text may look like: white space, separators, ASCII alone, some escapes only
    read        keyword_table.py: which keywords there are; documents.py: the text, `$schema`, where a reference points
                (resources.py); what a schema asks for itself (guidance.py)
    sets        sets of values by type (shape.py), calculated with, and their spellings: numbers, strings, scalars.py
    normalise   normaliser.py makes shapes, schema_object.py by running keywords*.py over each schema object;
                complement.py, disjoint.py, one_of.py, simplify.py and unevaluated.py calculate with shapes;
                document_context.py is what they may ask about the document
    emit        emitter.py, with arrays.py and objects.py: from shapes to rules over bytes, counting.py where
                something is counted, laid out as layout.py says
    report      contradiction.py: why no value is valid; reached.py: the keywords that apply, for `maskwright.check`

Each folder imports those above it in this list.

Exact or refused: no text is admitted whose value the schema does not. What cannot be enforced raises
`UnsupportedSchemaError` with its JSON pointer, or is reported where the caller chose `on_unsupported="relax"`. Of the
many spellings of a value, some are left out: docs/json_schema.md says which.
Tested by tests/frontends/json_schema/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from maskwright.errors import LimitError, MaskwrightError, UnsatisfiableError
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import layout_of
from maskwright.frontends.json_schema.normalise.normaliser import Normaliser
from maskwright.frontends.json_schema.options import DEFAULTS as DEFAULTS
from maskwright.frontends.json_schema.options import Finding as Finding
from maskwright.frontends.json_schema.options import JsonSchemaKeywords as JsonSchemaKeywords
from maskwright.frontends.json_schema.options import JsonSchemaOptions as JsonSchemaOptions
from maskwright.frontends.json_schema.options import read_options as read_options
from maskwright.frontends.json_schema.read.documents import Document, read_schema, unsupported_draft
from maskwright.frontends.json_schema.read.guidance import allowed_escapes, layout_options
from maskwright.frontends.json_schema.read.places import Conj, DynamicError, TrackError
from maskwright.frontends.json_schema.read.unused import only_defines
from maskwright.frontends.json_schema.text.ascii_only import in_ascii
from maskwright.frontends.json_schema.text.escapes import with_escapes
from maskwright.ir import OP_NEVER, GrammarIR

__all__ = [
    "DEFAULTS",
    "Finding",
    "JsonSchemaKeywords",
    "JsonSchemaOptions",
    "normalised",
    "read_options",
    "schema_to_ir",
    "why_unsatisfiable",
]

_T = TypeVar("_T")


def schema_to_ir(
    schema: Any,
    options: JsonSchemaOptions = DEFAULTS,
    report: list[Finding] | None = None,
    *,
    capture_members: bool = False,
    beside: Conj = (),
) -> GrammarIR:
    """Return the grammar of the JSON texts whose value is valid against a schema.

    Args:
        schema: A dict, a bool, or a JSON text (str or bytes). It must not change during the call.
        options: White space, strictness, and what to do with what cannot be enforced.
        report: Receives a `Finding` for each keyword that was left out, or that is an annotation only.
        capture_members: Whether the names and values of the outermost object are captures, `key` and `value`.
        beside: What values have to satisfy beside the schema.

    Raises:
        SchemaError: The schema is malformed; `pointer` says where.
        UnsupportedSchemaError: It asserts something that cannot be enforced.
        UnsatisfiableError: It is plain that no value is valid; `pointers` say what contradicts itself. What takes
            automata to find out, the kernel finds.
        LimitError: It is too deep or too large.

    >>> print(schema_to_ir({"type": "boolean"}).dump().splitlines()[0])
    root ::= "true" | "false"
    """
    schema, report = read_schema(schema), [] if report is None else report
    found = (unsupported_draft(schema, options.registry), only_defines(schema))
    report += [each for each in found if each is not None]
    options = layout_options(schema, options, report)
    grammar = _grammar_of(schema, options, report, capture_members, beside)
    if grammar is None:
        if beside:
            raise UnsatisfiableError("every value that is valid against this schema contains an excluded text")
        raise why_unsatisfiable(schema, options)
    letters = allowed_escapes(schema)
    return grammar if letters is None else with_escapes(grammar, letters)


def _grammar_of(
    schema: Any,
    options: JsonSchemaOptions,
    report: list[Finding],
    capture_members: bool = False,
    beside: Conj = (),
) -> GrammarIR | None:
    """The grammar; None if no value is valid."""
    return normalised(
        schema, options, report, lambda norm: _emitted(norm, Emitter(norm, layout_of(options), capture_members), beside)
    )


def normalised(schema: Any, options: JsonSchemaOptions, report: list[Finding], make: Callable[[Normaliser], _T]) -> _T:
    """Return what `make` makes of a schema; it starts over where that turns out to need a closer look."""
    dynamic = tracks = False
    while True:
        norm = Normaliser(Document(schema, options.registry, dynamic), options, report, tracks)
        try:
            return make(norm)
        except DynamicError:
            dynamic = True
        except TrackError:
            tracks = True


def _emitted(norm: Normaliser, emitter: Emitter, beside: Conj) -> GrammarIR | None:
    try:
        root = emitter.root((norm.document.node, *beside))
    except RecursionError as error:  # the caller's stack: MAX_IN_PLACE_DEPTH keeps each schema within half of Python's
        raise LimitError(
            "too little of Python's stack is left to read the schema",
            limit="recursion",
            hint="compile it from a less deeply nested call, or raise sys.setrecursionlimit",
        ) from error
    if root[0] == OP_NEVER:
        return None
    grammar = emitter.builder.build(root)
    return in_ascii(grammar, emitter.layout.prelude) if emitter.layout.options.ensure_ascii else grammar


def why_unsatisfiable(schema: Any, options: JsonSchemaOptions = DEFAULTS) -> UnsatisfiableError:
    """Return the error for a schema against which no value is valid; it names the parts that contradict each other.

    Args:
        schema: As for `schema_to_ir`, which may have made a grammar of it that turned out to admit nothing.
        options: Likewise.
    """
    from maskwright.frontends.json_schema.report.contradiction import at, contradiction, described, pointer, way_out
    from maskwright.frontends.json_schema.sets.text_grammars import KEYWORD
    from maskwright.ir.emptiness import admits_nothing

    schema = read_schema(schema)
    options = layout_options(schema, options)

    def ask(other: Any) -> tuple[bool, int]:
        try:
            grammar = _grammar_of(other, options, [])
            if grammar is None:
                return True, 0
            return admits_nothing(grammar), len(grammar.rules)
        except MaskwrightError:
            return False, 0

    parts = contradiction(schema, ask)
    for part in parts:
        if part[-1:] == (KEYWORD,) and ask({KEYWORD: at(schema, part), "type": "string"})[0]:
            return UnsatisfiableError(
                f"no value is valid against this schema: no text follows the grammar at #{pointer(part)}",
                pointers=(pointer(part),),
                hint="give each rule that it needs an alternative that comes to an end",
            )
    return UnsatisfiableError(
        f"no value is valid against this schema: {described(schema, parts)}",
        pointers=tuple(map(pointer, parts)),
        hint=way_out(schema, parts),
    )
