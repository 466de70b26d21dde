"""What becomes of keywords that do not constrain the output: refused, left out and reported, or only reported.

    on_unsupported="error"     a multipleOf that takes too many states: `UnsupportedSchemaError`
    on_unsupported="relax"     Finding("/multipleOf", "multipleOf", "relaxed", "computing remainders takes …")
    either way                 Finding("/propertys", "propertys", "annotation", "unknown keyword …")

Tested by tests/frontends/json_schema/test_schema_options.py and read/test_schema_misspelled.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema.options import UNKNOWN_KEYWORD, Finding, JsonSchemaOptions
from maskwright.frontends.json_schema.read.guidance import coerces_one_of
from maskwright.frontends.json_schema.read.misspelled import misspelled
from maskwright.frontends.json_schema.read.places import Node, Refusal
from maskwright.frontends.json_schema.read.pointers import pointer_of


class Findings:
    """The report on one document, which has each finding once."""

    def __init__(self, schema: Any, options: JsonSchemaOptions, report: list[Finding]) -> None:
        self._report = report
        self._relaxes = options.on_unsupported == "relax"
        self._coerces_one_of = coerces_one_of(schema)

    @property
    def may_leave_out(self) -> bool:
        """Whether anything can be left out: otherwise all shapes are exact."""
        return self._relaxes or self._coerces_one_of

    def note(self, finding: Finding) -> None:
        if finding not in self._report:
            self._report.append(finding)

    def note_misspelled(self, node: Node) -> None:
        for keyword, meant in misspelled(node[0]):
            reason = f"{UNKNOWN_KEYWORD} {keyword!r}; did you mean {meant!r}?"
            self.note(Finding(pointer_of((node[2], keyword)), keyword, "annotation", reason))

    def refuse(self, refusal: Refusal) -> None:
        """Refuse an assertion that cannot be enforced, or report it when the caller wants it left out."""
        pointer = pointer_of(refusal.path)
        if not (self._relaxes or (self._coerces_one_of and refusal.keyword == "oneOf")):
            raise UnsupportedSchemaError(
                f"{refusal.keyword} cannot be enforced: {refusal.reason}",
                pointer=pointer,
                keyword=refusal.keyword,
                hint='remove or rewrite it, or pass on_unsupported="relax" to leave it out',
            )
        self.note(Finding(pointer, refusal.keyword, "relaxed", refusal.reason))


def schema_error(node: Node, keyword: str | None, message: str, hint: str) -> SchemaError:
    """Return the error for a schema object, or a keyword of it, that is malformed."""
    path = node.path if keyword is None else (node.path, keyword)
    return SchemaError(message, pointer=pointer_of(path), keyword=keyword, hint=hint)
