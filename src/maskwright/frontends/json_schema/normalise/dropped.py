"""Constraints that the draft of a schema drops: later drafts, and most readers, would enforce them.

    {"$schema": …draft-07…, "$ref": "#/definitions/id", "maxLength": 9}    maxLength: up to draft 7, $ref hides it
    {"$schema": …draft-04…, "const": 1}                                    const: draft 4 does not have it

They are reported, and a `SchemaWarning`, unless nothing is lost: annotations, and what the schema that `$ref` leads to
says itself, as `type` mostly is. Of the 1,500 schemas of MaskBench's dev set, 27 have such a constraint.
Tested by tests/frontends/json_schema/normalise/test_schema_dropped.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.normalise.findings import Findings
from maskwright.frontends.json_schema.options import HIDDEN_BY_REF, OF_LATER_DRAFT, Finding
from maskwright.frontends.json_schema.read.documents import Document, name_of_draft
from maskwright.frontends.json_schema.read.keyword_table import ASSERTING, KEYWORDS, READ_BY
from maskwright.frontends.json_schema.read.places import Node
from maskwright.frontends.json_schema.read.pointers import pointer_of

_MISSING: Final = object()


def _later_than(draft: int) -> frozenset[str]:
    """Constraints that came later; what says nothing without another one that did is left to that one."""
    later = {keyword for keyword in ASSERTING if KEYWORDS[keyword].since > draft}
    return frozenset(keyword for keyword in later if READ_BY.get(keyword) not in later)


LATER: Final = {draft: _later_than(draft) for draft in (3, 4, 6, 7, 2019, 2020)}


def note_later(node: Node, keyword: str, draft: int, findings: Findings) -> None:
    """Report a constraint of a later draft."""
    reason = f"{OF_LATER_DRAFT}: {name_of_draft(draft)} does not have {keyword!r}; let $schema name a later draft"
    findings.note(Finding(pointer_of((node.path, keyword)), keyword, "annotation", reason))


def note_hidden(node: Node, document: Document, findings: Findings) -> None:
    """Report constraints next to a `$ref` of draft 7 or before, unless what it leads to has them, too."""
    known = document.follow(node).schema  # which refuses a circle
    while document.only_refers(node.schema):
        hidden = [keyword for keyword in node.schema if keyword in ASSERTING and keyword != "$ref"]
        for keyword in hidden:
            if not isinstance(known, dict) or known.get(keyword, _MISSING) != node.schema[keyword]:
                findings.note(_hidden(node, keyword, document.draft))
        node = document.target(node)


def _hidden(node: Node, keyword: str, draft: int) -> Finding:
    why = f"up to draft 7, what stands next to $ref is ignored, and this is {name_of_draft(draft)}"
    reason = f"{HIDDEN_BY_REF}: {why}; put $ref into an allOf"
    return Finding(pointer_of((node.path, keyword)), keyword, "annotation", reason)
