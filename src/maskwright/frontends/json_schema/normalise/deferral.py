"""Schemas whose compilation can be deferred, as a scan of their content shows that it cannot fail.

    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}     can be deferred
    {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 7}}}            cannot

One that can is a schema of objects, is well-formed, has values, needs no parametric rules in declared order, and has
nothing to be reported but formats and keywords that are not known, such as `phone`. Most arguments of tools are.
Nothing here changes what a schema means: what cannot be deferred is compiled at once. What a sub-schema may say:

    null, boolean    nothing else
    string           format, and bounds that leave it room; or pattern, if a plain string within the bounds matches;
                     or minLength and maxLength
    integer, number  minimum, maximum, exclusiveMinimum, exclusiveMaximum, format, which leave it room
    array            items, minItems, maxItems
    object           properties (with names that every style can write), required (of these), additionalProperties
    several types    what each of them may say
    any scalar type  enum or (but in draft 4, which does not have it) const instead, with values of this type
    without type     nothing, or enum or const of scalars; or anyOf, or oneOf of different types, not straight in
                     another one; or a $ref to a definition of the root, alone or alone in allOf

and, anywhere, annotations such as `description`, and keywords that nobody knows (`nullable`), unless they are likely to
be misspelled; the root also which draft it is in, and definitions, which have types and do not lead to themselves. The
scan is the binding's (cpp/bindings/deferral.cpp): in Python it was a tenth of what a new tool costs.

Cost: about a tenth of a microsecond a schema object.
Tested by tests/frontends/json_schema/normalise/test_schema_deferral.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from maskwright import _kernel
from maskwright._kernel import from_canonical_bytes
from maskwright.frontends.json_schema.normalise.findings import unknown_format, unknown_in
from maskwright.frontends.json_schema.options import Finding
from maskwright.frontends.json_schema.read.documents import draft_of
from maskwright.frontends.json_schema.read.guidance import KEYWORD as GUIDANCE
from maskwright.frontends.json_schema.read.keyword_table import ANNOTATIONS
from maskwright.frontends.json_schema.read.misspelled import says_nothing
from maskwright.frontends.json_schema.read.places import Path
from maskwright.frontends.json_schema.sets.formats import FORMATS, limits_integers
from maskwright.frontends.json_schema.sets.plain_patterns import length_of_match
from maskwright.support.memos import remembered


class Deferral(NamedTuple):
    """What the scan shows of a schema that can be deferred.

    Attributes:
        has_required: its objects have at least one member.
        has_members: its objects may have members.
        has_long_strings: some string has bounds of many thousands to its length.
        has_free_values: some object has no declared members, or some value may be anything.
        has_free_objects: some object has no declared members, though its type is given.
        has_formats: some string or number has a format.
        has_unknown_formats: one that is not known.
        names_arguments: its objects' declared members have names that can be those of arguments in Python.
        num_bytes: in so many bytes a value can be written as JSON; -1 if that is not known. A generous bound: with all
            members that are declared, of each list of alternatives all of them.
        num_marks: at most so many values are in that, each of which a style may put between marks.
        has_unknown_keywords: some keyword is not the standard's.
    """

    has_required: bool
    has_members: bool
    has_long_strings: bool
    has_free_values: bool
    has_free_objects: bool
    has_formats: bool
    has_unknown_formats: bool
    names_arguments: bool
    num_bytes: int
    num_marks: int
    has_unknown_keywords: bool

    @property
    def has_findings(self) -> bool:
        """Whether anything is reported (`report_of`)."""
        return self.has_unknown_formats or self.has_unknown_keywords


def deferral_of(content: bytes) -> Deferral | None:
    """Scan the schema with this content; None if compiling it cannot be deferred."""
    unknown: list[str] = []

    def is_ignored(keyword: str) -> bool:
        if keyword not in ANNOTATIONS:
            unknown.append(keyword)
        return _is_ignored(keyword)

    seen = _kernel.can_defer(content, FORMATS, length_of_match, is_ignored)
    return None if seen is None else Deferral(*seen, bool(unknown))


@remembered(4096)
def _is_ignored(keyword: str) -> bool:
    return keyword != GUIDANCE and says_nothing(keyword)


def report_of(content: bytes) -> tuple[Finding, ...]:
    """Return what is reported of a schema with this content that can be deferred: unknown formats and keywords."""
    found: list[Finding] = []
    root = from_canonical_bytes(content)
    has_siblings = draft_of(root) > 7  # before, what stands beside a reference says nothing
    pending: list[tuple[Any, Path]] = [(root, None)]
    entered: set[str] = set()
    while pending:
        schema, path = pending.pop()
        if type(schema) is not dict:
            continue
        target, format_name = schema.get("$ref"), schema.get("format")
        if target is None or has_siblings:
            found += unknown_in(schema, path, schema is root)
        if not (format_name is None or format_name in FORMATS or limits_integers(format_name, schema)):
            found.append(unknown_format(format_name, (path, "format")))
        inner: list[tuple[Any, Path]] = [(schema.get(name), (path, name)) for name in ("items", "additionalProperties")]
        for keyword in ("anyOf", "oneOf"):
            inner += [(each, ((path, keyword), i)) for i, each in enumerate(schema.get(keyword, ()))]
        inner += [(each, ((path, "properties"), name)) for name, each in schema.get("properties", {}).items()]
        inner += [(each, ((path, "allOf"), i)) for i, each in enumerate(schema.get("allOf", ()))]
        if target is not None and target not in entered:
            entered.add(target)
            _, folder, name = target.split("/")
            inner.append((root[folder][name], ((None, folder), name)))
        pending += reversed(inner)
    return tuple(found)
