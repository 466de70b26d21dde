"""Values by JSON Schema, as JSON or in a model's own style: the snippets of `json_schema`.

Made once for each schema, style and choice of options, and kept. A snippet is the grammar of a schema as a leaf
(maskwright.ir.subgrammars), which stands in any grammar as it is, and which the kernel knows again without a look at
it. Where a schema can be compiled for sure (deferral.py), that is deferred until an output comes to it: a model with
128 tools calls a few.
Tested by tests/structural_tag/arguments/test_snippets.py, test_xml.py, test_deferred_arguments.py and test_sizes.py.
"""

from __future__ import annotations

from functools import partial
from string import ascii_letters
from typing import Any, Final, NamedTuple, cast

from maskwright._kernel import from_canonical_bytes
from maskwright.errors import StructuralTagError, UnsatisfiableError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir, why_unsatisfiable
from maskwright.frontends.json_schema.emit.layout import layout_of
from maskwright.frontends.json_schema.normalise.deferral import Deferral, deferral_of, report_of
from maskwright.frontends.json_schema.read.guidance import layout_options
from maskwright.frontends.json_schema.text.white_space import matches_for_sure, may_be_nothing
from maskwright.ir import Expr, GrammarIR, Promised, deferred_subgrammar, subgrammar
from maskwright.ir.emptiness import admits_nothing
from maskwright.structural_tag.formats.classes import JSONSchemaFormat
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.formats.xml_styles import SpelledStyle, spelled_style
from maskwright.structural_tag.texts.excluded_texts import without_texts
from maskwright.structural_tag.texts.tokens import Tokens

_IDENTIFIER_STARTS: Final = ascii_letters.encode() + b"_"


class Snippet(NamedTuple):
    """A grammar as an expression, and what was reported of it."""

    expr: Expr
    report: tuple[Finding, ...]


def arguments(it: JSONSchemaFormat, tokens: Tokens, pointer: str) -> Snippet:
    """Return the snippet of a `json_schema` format.

    Raises:
        SchemaError: The schema is malformed, or cannot be enforced; pointers start at the schema.
        UnsatisfiableError: No value is valid.
        StructuralTagError: An option cannot be combined with the style.
    """
    style = None if it.style == "json" else spelled_style(it.style, tokens)
    if style is None and it.excludes and it.strict_mode:
        raise StructuralTagError(
            "excludes cannot be combined with strict_mode in the style json",
            pointer=f"{pointer}/excludes",
            hint="set additionalProperties to false in the schema instead",
        )
    if style is not None and style.separator:
        for name in ("whitespace_pattern", "indent", "separators"):
            if getattr(it, name) is not None:
                raise StructuralTagError(
                    f"{name} is not supported in the style {it.style}, whose white space is fixed",
                    pointer=f"{pointer}/{name}",
                    hint=f"remove {name}",
                )
    content = it.own_schema.content
    if content is None or it.registry is not None:  # whose contents are not known here
        return _made(it, style)
    key = content, it.choices, style
    return cast(Snippet, KEPT.find(key) or KEPT.keep(key, _made(it, style)))


def _deferral(it: JSONSchemaFormat, style: SpelledStyle | None) -> Deferral | None:
    """What is known of a schema that can be compiled later: there is a snippet with strings for sure."""
    content = it.own_schema.content
    seen = None if content is None else deferral_of(content)
    return seen if seen is not None and _cannot_fail(it, seen, style) else None


def _cannot_fail(it: JSONSchemaFormat, seen: Deferral, style: SpelledStyle | None) -> bool:
    pattern = it.whitespace_pattern
    # Outside JSON, white space may come first, and what comes first is promised.
    if pattern is not None and not (style is None and matches_for_sure(pattern)):
        return False
    if it.formats == "annotate" and seen.has_formats:  # they are reported
        return False
    if style is None:
        return not it.excludes
    has_members = seen.has_members and not (it.strict_mode and seen.has_free_values)
    if seen.has_long_strings or not has_members:
        return False
    # Of values that may be anything, objects are left out, or reported.
    if style.repeats_names and seen.has_free_values and it.on_unsupported == "relax":
        return False
    # There, an empty `properties` says that there are no members.
    if style.repeats_names and seen.has_free_objects and not it.own_schema.data.get("properties"):
        return False
    if style.is_python and not seen.names_arguments:
        return False
    # Of strings, a style takes none that hold what ends them.
    content = it.own_schema.content
    assert content is not None
    ends = (style.string_end, *it.excludes)
    return not any(end and end.encode() in content for end in ends)


def _made(it: JSONSchemaFormat, style: SpelledStyle | None) -> Snippet:
    content, excluded, captures = (
        it.own_schema.content,
        tuple([x.encode() for x in it.excludes]),
        it.capture is not None,
    )
    options, seen = it.options, _deferral(it, style)
    if content is not None and seen is not None:
        later = partial(_read_content, content, style, options, excluded, captures)
        found = report_of(content) if seen.has_findings else ()
        return Snippet(deferred_subgrammar(later, _promised(seen, style, options), layout_of(options).prelude), found)
    data, report = it.own_schema.data, list[Finding]()
    options = layout_options(data, options)
    made = _read(data, report, style, options, excluded, captures)
    if admits_nothing(made):
        raise _nothing_valid(data, style, options, excluded)
    prelude = layout_of(options).prelude
    if made.rules[0] is not prelude[0]:  # its escapes are others
        prelude = ()
    return Snippet(subgrammar(made, prelude), tuple(report))


def _nothing_valid(
    data: Any, style: SpelledStyle | None, options: JsonSchemaOptions, excluded: tuple[bytes, ...]
) -> UnsatisfiableError:
    if style is None and excluded:
        return UnsatisfiableError("every value that is valid against this schema contains an excluded text")
    if style is None:
        return why_unsatisfiable(data, options)
    from maskwright.structural_tag.arguments.spelled import no_object

    return no_object(data, options)


def _promised(seen: Deferral, style: SpelledStyle | None, options: JsonSchemaOptions) -> Promised:
    """What is known of a snippet that is made later."""
    any_order, nullable, size = options.any_order, not seen.has_required, _size(seen, style, options)
    if style is None:
        return Promised(b"{", parametric=any_order, num_bytes=size)
    if style.is_python:
        return Promised(_IDENTIFIER_STARTS, nullable=nullable, parametric=any_order, num_bytes=size)
    if style.separator:
        return Promised(b"{", parametric=any_order, num_bytes=size)
    first = style.open[0]
    beginnings = b" \t\n\r" + (first.encode()[:1] if isinstance(first, str) else b"")
    return Promised(beginnings, not isinstance(first, str), nullable, any_order, style.repeats_names, size)


def _size(seen: Deferral, style: SpelledStyle | None, options: JsonSchemaOptions) -> int:
    """In how many bytes a value can be written; -1 if that is not known."""
    pattern = options.whitespace_pattern
    is_compact = options.indent is None and options.separators is None and (pattern is None or may_be_nothing(pattern))
    if seen.num_bytes < 0 or not is_compact or (style is not None and style.repeats_names):
        return -1
    return seen.num_bytes + (0 if style is None else seen.num_marks * style.most_around)


def _read_content(content: bytes, *choices: Any) -> GrammarIR:
    return _read(from_canonical_bytes(content), [], *choices)


def _read(
    schema: Any,
    report: list[Finding],
    style: SpelledStyle | None,
    options: JsonSchemaOptions,
    excluded: tuple[bytes, ...],
    capture_members: bool,
) -> GrammarIR:
    if style is None:
        beside = without_texts(excluded) if excluded else ()
        return schema_to_ir(schema, options, report, capture_members=capture_members, beside=beside)
    from maskwright.structural_tag.arguments.spelled import spelled_to_ir

    return spelled_to_ir(schema, style, options, excluded, report, capture_members=capture_members)
