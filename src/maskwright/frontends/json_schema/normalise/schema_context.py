"""A `SchemaContext` gathers what the keywords of one schema object say, each keyword in its function (keywords.py).

Tested by tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

from maskwright.errors import SchemaError
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.findings import schema_error
from maskwright.frontends.json_schema.options import Finding
from maskwright.frontends.json_schema.read.places import Conj, Node, Refusal
from maskwright.frontends.json_schema.read.pointers import described, pointer_of
from maskwright.frontends.json_schema.sets.intersect import intersect
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ANY_KIND,
    ArrayShape,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
    union,
)

_BOOLEAN: Final = re.compile("true|false")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")


class SchemaContext:
    """One schema object while its keywords are read.

    `number`, `string`, `array` and `object` are None until a keyword says something about that type. `applied` are
    shapes that hold as well, in the order of the text; `own_position` is where in that order the own members come.
    `exclusive` are lists of branches of which exactly one holds. `beside` are indices into `applied` and places whose
    shapes go there, once the others are known: a `oneOf` that stands alone in a branch of `allOf`. `contained` are
    the places of `contains`; `unevaluated` are keywords for what no other keyword has seen, and their places. It is
    `exact` until something is left out.
    """

    def __init__(self, norm: DocumentContext, node: Node, schema: dict[str, Any]) -> None:
        self.norm = norm
        self.node = node
        self.schema = schema
        self.mask = ALL_TYPES
        self.kind = ANY_KIND
        self.number: NumberShape | None = None
        self.string: StringShape | None = None
        self.array: ArrayShape | None = None
        self.object: ObjectShape | None = None
        self.applied: list[Shape] = []
        self.own_position = 0
        self.exclusive: list[list[Shape]] = []
        self.beside: list[tuple[int, Node]] = []
        self.contained: tuple[Conj, ...] = ()
        self.unevaluated: tuple[tuple[str, Conj], ...] = ()
        self.exact = True

    def numbers(self) -> NumberShape:
        if self.number is None:
            self.number = NumberShape()
        return self.number

    def strings(self) -> StringShape:
        if self.string is None:
            self.string = StringShape()
        return self.string

    def arrays(self) -> ArrayShape:
        if self.array is None:
            self.array = ArrayShape()
        return self.array

    def objects(self) -> ObjectShape:
        if self.object is None:
            self.object = ObjectShape()
            self.own_position = len(self.applied)
        return self.object

    def child(self, keyword: str, schema: Any, token: str | int | None = None) -> Node:
        """Return the node of a sub-schema under a keyword, or under a name or index in it."""
        path = (self.node.path, keyword)
        return self.norm.document.child(self.node, schema, path if token is None else (path, token))

    def shape(self, keyword: str, schema: Any, token: str | int | None = None) -> Shape:
        """Return the shape of a sub-schema that applies to the same instance."""
        return self.norm.shape(self.child(keyword, schema, token))

    def intersect(self, a: Shape, b: Shape) -> Shape:
        return intersect(a, b, self.norm)

    def union(self, shapes: list[Shape]) -> Shape:
        return union(shapes, keep_all=self.norm.tracks)

    def any_of(self, keyword: str, places: tuple[Conj, ...]) -> Conj:
        """Return the place of the values that satisfy one of the places."""
        return self.norm.any_of(self.node, keyword, places)

    def malformed(self, keyword: str, expected: str, value: Any, hint: str | None = None) -> SchemaError:
        if isinstance(value, tuple | set | frozenset):
            hint = "use a list, which is JSON's array"
        elif isinstance(value, str) and _is_meant(value, expected):
            hint = f"write {value} without quotes"
        return schema_error(
            self.node, keyword, f"{keyword} must be {expected}, not {described(value)}", hint or f"write {expected}"
        )

    def refuse(self, keyword: str, reason: str) -> None:
        """Refuse a keyword, or leave it out."""
        self.norm.findings.refuse(Refusal(keyword, (self.node.path, keyword), reason))
        self.exact = False

    def annotate(self, keyword: str, reason: str) -> None:
        self.norm.findings.note(Finding(pointer_of((self.node.path, keyword)), keyword, "annotation", reason))


def _is_meant(text: str, expected: str) -> bool:
    """Whether a string says in quotes what should be none."""
    if "boolean" in expected:
        return _BOOLEAN.fullmatch(text) is not None
    return ("integer" in expected or "number" in expected) and _NUMBER.fullmatch(text) is not None
