"""Normalise: from schema objects to shapes.

    {"type": "string", "anyOf": [{"maxLength": 2}, {"const": "abc"}, {"type": "null"}]}   →
    STRING, strings (at most 2 characters), ("abc")

`Normaliser.shape(node)` runs the function of each keyword of one schema object (keywords.py), and intersects what they
say with the shapes of the sub-schemas that apply to the same instance, such as `allOf` and `$ref` (schema_object.py).
Sub-schemas of elements and members are not entered: they stay nodes.

Shapes are kept by the identity of the schema object, so each is made once, and a schema that needs itself at the same
instance (`{"$ref": "#"}`) is seen and refused.
Invariant: what it holds does not refer to it, so it is freed with its last reference.
Cost: a few microseconds for a schema object without applicators. Tested by
tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.normalise.complement import difference
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.in_place import sub_schemas_in_place
from maskwright.frontends.json_schema.normalise.schema_object import make_shape
from maskwright.frontends.json_schema.normalise.simplify import Simplifications
from maskwright.frontends.json_schema.options import Finding, JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document
from maskwright.frontends.json_schema.read.misspelled import is_standard
from maskwright.frontends.json_schema.read.places import (
    CircularError,
    Conj,
    Negation,
    Node,
    identity,
    identity_of,
    lists_values,
)
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.intersect import intersect, is_nothing
from maskwright.frontends.json_schema.sets.shape import ANY_SHAPE, NO_SHAPE, Shape
from maskwright.support.interruption import interrupt_checkpoint

_DEEP: Final = 20  # levels of recursion, beyond which sub-schemas in place are made from the inside out
MAX_IN_PLACE_DEPTH: Final = 40  # where complements open more on the way


class Normaliser(DocumentContext):
    """Makes the shapes of one document."""

    def __init__(
        self, document: Document, options: JsonSchemaOptions, report: list[Finding], tracks: bool = False
    ) -> None:
        super().__init__(document, options, report, tracks)
        self._shapes: dict[Any, Shape | None] = {id(True): ANY_SHAPE, id(False): NO_SHAPE}  # None while it is made
        self._conjunctions: dict[Any, Shape] = {}
        self._simplifications = Simplifications()
        self._depth = 0

    def shape(self, node: Node) -> Shape:
        key = identity(node) if node[1][2] else id(node[0])
        known = self._shapes.get(key)
        if known is not None:
            return known
        if key in self._shapes:
            raise CircularError(
                "this schema refers to itself at the same instance",
                pointer=pointer_of(node.path),
                hint="let the recursion go through a member or an element",
            )
        interrupt_checkpoint()
        if type(node[0]) is dict and not is_standard(node[0]):
            self.findings.note_unknown(node)
        self._shapes[key] = None
        self._depth += 1
        try:
            if self._depth > _DEEP:
                self._make_inside(node)
            shape = self._shapes[key] = make_shape(node, self)
        finally:
            self._depth -= 1
            if self._shapes[key] is None:
                del self._shapes[key]
        return shape

    def shape_of(self, conj: Conj) -> Shape:
        if len(conj) == 1:
            return self.shape(conj[0])
        if not conj:
            return ANY_SHAPE
        key = identity_of(conj)
        known = self._conjunctions.get(key)
        if known is not None:
            return known
        # Conjunctions grow by one place at a time, so most of a new one is known.
        done = next((n for n in range(len(key) - 1, 1, -1) if key[:n] in self._conjunctions), 1)
        shape = self._conjunctions[key[:done]] if done > 1 else self.shape(conj[0])
        for n in range(done, len(key)):
            shape = self._conjunctions[key[: n + 1]] = self._narrowed(shape, conj[n])
        return shape

    def is_empty(self, conj: Conj) -> bool:
        if len(conj) < 2:
            return is_nothing(conj)
        if not any(lists_values(node) for node in conj):
            return False
        try:
            return not self.shape_of(conj).mask
        except CircularError:
            return False

    def joined(self, a: Conj, b: Conj) -> Conj:
        return self._simplifications.joined(a, b, self)

    def _make_inside(self, node: Node) -> None:
        """Make the shapes of the sub-schemas in place, the innermost first, so that recursion goes no deeper."""
        if self._depth > MAX_IN_PLACE_DEPTH:
            hint = "nest fewer of them in each other"
            raise LimitError("allOf, anyOf, $ref and the like nest too deep", limit="MAX_IN_PLACE_DEPTH", hint=hint)
        waiting = [node]
        entered = {identity(node)}
        while waiting:
            self.spend(1)
            inside = []
            for each in sub_schemas_in_place(self.document, waiting[-1]):
                key = identity(each)
                if key not in self._shapes and key not in entered:
                    entered.add(key)
                    inside.append(each)
            if inside:
                waiting += reversed(inside)
            else:
                made = waiting.pop()
                if made is not node:
                    self.shape(made)

    def _narrowed(self, shape: Shape, node: Node) -> Shape:
        if type(node.schema) is Negation and self.is_exact(node.schema.negated):
            rest = difference(shape, self.shape_of(node.schema.negated), self, node.path)
            if rest is not None:
                return rest
        return intersect(shape, self.shape(node), self)
