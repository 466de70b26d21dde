"""What keywords and the algebra of shapes may ask about a document; `Normaliser` is what answers.

    norm.shape(node), norm.shape_of(conj)     the shape of one schema, and of several that one value must satisfy
    norm.negation(conj)                       the place of all other values, unopened
    norm.findings.refuse(…), norm.spend(4)    what cannot be enforced; work on pairs of alternatives, which is limited

Invariant: nothing in it refers to it, so it is freed with its last reference.
Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from maskwright.frontends.json_schema.normalise.findings import Findings
from maskwright.frontends.json_schema.normalise.synthetic_places import SyntheticPlaces
from maskwright.frontends.json_schema.normalise.vocabularies import ignored_keywords
from maskwright.frontends.json_schema.normalise.work import Work
from maskwright.frontends.json_schema.options import Finding, JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document
from maskwright.frontends.json_schema.read.places import Conj, Node, Path
from maskwright.frontends.json_schema.sets.intersect import Judge
from maskwright.frontends.json_schema.sets.shape import Shape
from maskwright.frontends.json_schema.sets.strings import name_matches


class DocumentContext(Judge):
    """A document that is being normalised.

    Attributes:
        document: The schemas, and where references lead.
        draft: Which keywords there are: 3, 4, 6, 7, 2019 or 2020.
        options: What the caller chose.
        tracks: Whether shapes carry what keywords have seen: see unevaluated.py.
        ignored: Keywords to which a metaschema gives no meaning.
        findings: Refuses what cannot be enforced, and reports.
        work: Limits the work on pairs of alternatives.
    """

    def __init__(
        self, document: Document, options: JsonSchemaOptions, report: list[Finding], tracks: bool = False
    ) -> None:
        self.document = document
        self.draft = document.draft
        self.options = options
        self.tracks = tracks
        # A metaschema with vocabularies can only come from a registry.
        self.ignored = frozenset() if options.registry is None else ignored_keywords(document)
        self.findings = Findings(document.root, options, report)
        self.work = Work()
        self._places = SyntheticPlaces(document.node)

    @abstractmethod
    def shape(self, node: Node) -> Shape:
        """Return the shape of one schema.

        Raises:
            SchemaError: The schema is malformed.
            LimitError: It nests too deep at one instance, or has too many alternatives.
        """

    @abstractmethod
    def shape_of(self, conj: Conj) -> Shape:
        """Return the shape of what satisfies all these places."""

    def is_exact(self, conj: Conj) -> bool:
        """Whether nothing was left out of these places, so that they have a complement."""
        return not self.findings.may_leave_out or self.shape_of(conj).exact

    def matches(self, pattern: str, name: str) -> bool:
        return name_matches(pattern, None, name)

    def spend(self, units: int) -> None:
        self.work.spend(units)

    def new_place(self, schema: Any, beside: Node, path: Path) -> Node:
        """Return the place of a schema that no one wrote."""
        return self._places.new_place(schema, beside, path)

    def negation(self, conj: Conj) -> Conj:
        """Return the place of all values that do not satisfy `conj`."""
        return self._places.negation(conj)

    def constant(self, value: Any) -> Conj:
        """Return the place of one scalar."""
        return self._places.constant(value)

    def any_of(self, node: Node, keyword: str, places: tuple[Conj, ...]) -> Conj:
        """Return the place of all values that satisfy one of `places`, as a keyword of a schema object asks."""
        return self._places.any_of(node, keyword, places)
