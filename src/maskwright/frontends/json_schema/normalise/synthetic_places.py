"""Synthetic places, which no one wrote: of complements, of unions, of constants.

    negation(place)     all values that do not satisfy it, unopened: one place each, and its negation is the first one
    constant(3)         just 3

Places are known by the identity of their schemas, so the schemas of these are kept alive while the document is read.
Tested by tests/frontends/json_schema/normalise/test_schema_complement.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.frontends.json_schema.read.places import (
    ANYTHING,
    Conj,
    Negation,
    Node,
    Path,
    Union,
    identity_of,
)


class SyntheticPlaces:
    """Makes the places of one document."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._kept: list[Any] = []
        self._negations: dict[Any, Conj] = {}
        self._constants: dict[Any, Conj] = {}

    def new_place(self, schema: Any, beside: Node, path: Path) -> Node:
        """Return the place of a schema, in the document of another place."""
        self._kept.append(schema)
        return Node(schema, beside.resource, path)

    def negation(self, conj: Conj) -> Conj:
        """Return the place of all values that do not satisfy `conj`."""
        if len(conj) == 1 and type(conj[0].schema) is Negation:
            return conj[0].schema.negated
        key = identity_of(conj)
        known = self._negations.get(key)
        if known is None:
            first = conj[0]
            known = self._negations[key] = (self.new_place(Negation(conj), first, (first.path, "not")),)
        return known

    def constant(self, value: Any) -> Conj:
        """Return the place of one scalar."""
        key = (type(value), value)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = (self.new_place({"enum": [value]}, self._root, None),)
        return known

    def any_of(self, node: Node, keyword: str, places: tuple[Conj, ...]) -> Conj:
        """Return the place of all values that satisfy one of `places`, as a keyword of a schema object asks."""
        if not all(places):
            return ANYTHING
        return (self.new_place(Union(places), node, (node.path, keyword)),)
