"""What becomes of keywords that do not constrain the output: refused, left out and reported, or only reported.

    on_unsupported="error"     a multipleOf that takes too many states: `UnsupportedSchemaError`
    on_unsupported="relax"     Finding("/multipleOf", "multipleOf", "relaxed", "computing remainders takes …")
    either way                 Finding("/propertys", "propertys", "annotation", "unknown keyword …")
    either way                 Finding("/format", "format", "annotation", "unknown format 'phone'")
    either way                 Finding("/x-label", "x-label", "annotation", "it is not a keyword of JSON Schema")
    either way                 Finding("/pattern", "pattern", "enforced", "a lost escape: …"): another one is meant

Tested by tests/frontends/json_schema/test_schema_options.py and read/test_schema_misspelled.py.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from maskwright.errors import GrammarWarning, SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema.options import (
    BLANK_COUNT,
    IN_GRAMMAR,
    IN_SLASHES,
    LOST_ESCAPE,
    MISSPELLED_FORMAT,
    NOT_A_KEYWORD,
    POSIX_CLASS,
    UNDECLARED,
    UNKNOWN_KEYWORD,
    Finding,
    JsonSchemaOptions,
)
from maskwright.frontends.json_schema.read import guidance
from maskwright.frontends.json_schema.read.misplaced import misplaced
from maskwright.frontends.json_schema.read.misspelled import is_unknown_name, unknown_keywords
from maskwright.frontends.json_schema.read.places import Node, Path, Refusal
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.read.undeclared import undeclared
from maskwright.frontends.json_schema.read.unused import constrains_nothing
from maskwright.frontends.json_schema.sets.misspelled_formats import format_meant_by
from maskwright.frontends.regex import Dialect
from maskwright.frontends.regex.refused import without_slashes
from maskwright.frontends.warnings.blank_counts import blank_count
from maskwright.frontends.warnings.lost_escapes import lost_escape
from maskwright.frontends.warnings.posix_classes import lone_posix_class, posix_class
from maskwright.support.entrances import RELAX


class Findings:
    """The report on one document, which has each finding once."""

    def __init__(self, schema: Any, options: JsonSchemaOptions, report: list[Finding]) -> None:
        self._root = schema
        self._report = report
        self._known = set(report)
        self._relaxes = options.on_unsupported == "relax"
        self._coerces_one_of = guidance.coerces_one_of(schema)

    @property
    def may_leave_out(self) -> bool:
        """Whether anything can be left out: otherwise all shapes are exact."""
        return self._relaxes or self._coerces_one_of

    def note(self, finding: Finding) -> None:
        if finding not in self._known:
            self._known.add(finding)
            self._report.append(finding)

    def note_unknown(self, node: Node) -> None:
        """Report the keywords of a schema object that the standard does not have."""
        for finding in unknown_in(node[0], node[2], node[0] is self._root):
            self.note(finding)

    def note_misplaced(self, node: Node, schema: dict[str, Any], known: Container[str]) -> None:
        """Report those keywords of a schema object, among the known ones, that were surely meant for another type."""
        for keyword, reason, advice in misplaced(schema):
            if keyword in known:
                self.note(Finding(pointer_of((node.path, keyword)), keyword, "annotation", f"{reason}; {advice}"))

    def note_undeclared(self, node: Node, schema: dict[str, Any]) -> None:
        """Report the names in `required` under which no member is declared, but one under nearly the same."""
        for index, name, meant in undeclared(schema):
            reason = f"{UNDECLARED}: {name!r}; did you mean {meant!r}?"
            self.note(Finding(pointer_of(((node.path, "required"), index)), "required", "enforced", reason))

    def note_pattern(self, pattern: str, path: Path, keyword: str) -> None:
        """Report what in a regular expression is surely meant as something else."""
        for finding in (
            lost_in_pattern(pattern, pointer_of(path), keyword),
            _posix_in_pattern(pattern, path, keyword),
            _slashes_of_pattern(pattern, path, keyword),
            blank_count_in_pattern(pattern, pointer_of(path), keyword),
        ):
            if finding is not None:
                self.note(finding)

    def note_remark(self, remark: str, path: Path, keyword: str) -> None:
        """Report what a `GrammarWarning` would say of a grammar that stands there."""
        self.note(Finding(pointer_of(path), keyword, "enforced", f"{IN_GRAMMAR}: {remark}"))

    def refuse(self, refusal: Refusal) -> None:
        """Refuse an assertion that cannot be enforced, or report it when the caller wants it left out."""
        pointer = pointer_of(refusal.path)
        if not (self._relaxes or (self._coerces_one_of and refusal.keyword == "oneOf")):
            raise UnsupportedSchemaError(
                f"{refusal.keyword} cannot be enforced: {refusal.reason}",
                pointer=pointer,
                keyword=refusal.keyword,
                hint=f"remove or rewrite it, or {RELAX} to leave it out",
            )
        self.note(Finding(pointer, refusal.keyword, "relaxed", refusal.reason))


def unknown_in(schema: dict[Any, Any], path: Path, is_root: bool) -> list[Finding]:
    """Return what is reported of the keywords of a schema object that the standard does not have."""
    unknown = unknown_keywords(schema)
    if not unknown:
        return []
    advised = any(advice is not None for _, advice in unknown)
    unused = constrains_nothing(schema, is_unknown_name) if is_root and not advised else None
    found: list[Finding] = []
    for keyword, advice in unknown:
        reason = NOT_A_KEYWORD if advice is None else f"{UNKNOWN_KEYWORD} {keyword!r}; {advice}"
        if unused is not None and keyword == unused[0]:
            reason = unused[1]
        elif keyword == guidance.KEYWORD:
            if is_root:
                continue
            reason = guidance.NOT_HERE
        found.append(Finding(pointer_of((path, keyword)), keyword, "annotation", reason))
    return found


def unknown_format(name: str, path: Path) -> Finding:
    """Return what is reported of a format that is not known."""
    meant = format_meant_by(name)
    reason = f"unknown format {name[:60]!r}" if meant is None else f"{MISSPELLED_FORMAT} {name!r}; {meant}"
    return Finding(pointer_of(path), "format", "annotation", reason)


def lost_in_pattern(pattern: str, pointer: str, keyword: str, dialect: Dialect = "ecma") -> Finding | None:
    """Return what is reported of a regular expression if one of its escapes was lost."""
    lost = lost_escape(pattern, dialect=dialect)
    return (
        None if lost is None else Finding(pointer, keyword, "enforced", f"{LOST_ESCAPE}: {lost.message}; {lost.hint}")
    )


def _posix_in_pattern(pattern: str, path: Path, keyword: str) -> Finding | None:
    found = posix_class(pattern)
    if found is None:
        return None
    why = f"{found.text} is not what it is elsewhere, as patterns are those of ECMA-262"
    advice = f"write {found.characters} between the brackets"
    return Finding(pointer_of(path), keyword, "enforced", f"{POSIX_CLASS}: {why}; {advice}")


def _slashes_of_pattern(pattern: str, path: Path, keyword: str) -> Finding | None:
    way_out = without_slashes(pattern)
    if way_out is None:
        return None
    return Finding(
        pointer_of(path), keyword, "enforced", f"{IN_SLASHES}: they are part of it, so it never matches; {way_out}"
    )


def lone_posix_class_in_pattern(pattern: str, pointer: str, keyword: str) -> Finding | None:
    """Return what is reported of a regular expression of Python's dialect with a POSIX class that stands alone."""
    alone = lone_posix_class(pattern)
    if alone is None:
        return None
    why = f"{alone} matches one of its own characters"
    return Finding(pointer, keyword, "enforced", f"{POSIX_CLASS}: {why}; write [{alone}]")


def blank_count_in_pattern(pattern: str, pointer: str, keyword: str) -> Finding | None:
    """Return what is reported of a regular expression with a blank in a count."""
    count = blank_count(pattern)
    if count is None:
        return None
    return Finding(pointer, keyword, "enforced", f"{BLANK_COUNT}: {count.message}; {count.hint}")


def of_warnings(found: Iterable[GrammarWarning], pointer: str, keyword: str) -> list[Finding]:
    """Return what is reported of a grammar at a place, of which warnings would be issued elsewhere."""
    said = [str(each).replace("\n  hint: ", "; ") for each in found]
    return [Finding(pointer, keyword, "enforced", f"{IN_GRAMMAR}: {each}") for each in said]


def schema_error(node: Node, keyword: str | None, message: str, hint: str) -> SchemaError:
    """Return the error for a schema object, or a keyword of it, that is malformed."""
    path = node.path if keyword is None else (node.path, keyword)
    return SchemaError(message, pointer=pointer_of(path), keyword=keyword, hint=hint)
