"""Leave out what is said already: complements have many alternatives, and few of them matter.

`Simplifications` look at a place that holds a `Negation`, beside what else must hold there:

    {"const": "a"} and not {"const": "b"}                   →   {"const": "a"}
    {"type": "string"} and not {"type": "string"}           →   nothing

`minimal` drops alternatives of objects that another one contains. "Not this branch, nor that one" is a product of ways
to violate each; with members that violate several at once, most of the product is contained in the rest:

    (no "a", or no "b") and (no "a", or no "c")   →   no "a", or neither "b" nor "c"

Both are sound and not complete: what they do not see only costs alternatives.
Cost: simplifying opens a few levels of members; `minimal` compares pairs. Both count as work.
Tested by tests/frontends/json_schema/normalise/test_schema_one_of.py and test_schema_random.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from maskwright._kernel import canonical_bytes
from maskwright.errors import LimitError, SchemaError
from maskwright.frontends.json_schema.normalise.disjoint import disjoint_places
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.read.places import NOTHING, Conj, Negation, Node, identity, identity_of
from maskwright.frontends.json_schema.sets.intersect import is_nothing, join, undeclared
from maskwright.frontends.json_schema.sets.shape import ObjectShape, Shape

_MAX_WORK: Final = 1000  # for one place


class Simplifications:
    """Those of one document, each found once."""

    def __init__(self) -> None:
        self._known: dict[Any, Conj] = {}
        self._meanings: dict[Any, Any] = {}

    def joined(self, a: Conj, b: Conj, norm: DocumentContext) -> Conj:
        """Return the place of what satisfies both."""
        if len(b) == 1 and a and type(b[0].schema) is Negation:
            return self._with_negation(a, b[0], norm)
        if len(a) == 1 and b and type(a[0].schema) is Negation:
            return self._with_negation(b, a[0], norm)
        return join(a, b)

    def _with_negation(self, rest: Conj, negation: Node, norm: DocumentContext) -> Conj:
        key = (identity_of(rest), identity(negation))
        known = self._known.get(key)
        if known is None:
            if not norm.work.begin_look(_MAX_WORK):
                return join(rest, (negation,))
            try:
                known = self._known[key] = self._simplified(rest, negation, norm)
            finally:
                norm.work.end_look()
        return known

    def _simplified(self, rest: Conj, negation: Node, norm: DocumentContext) -> Conj:
        """The rest alone if that implies the negation, NOTHING if not both."""
        negated = negation.schema.negated
        both = (*rest, negation)
        try:
            if not norm.is_exact(negated):
                return join(rest, (negation,))
            if self._targets(rest, norm).issuperset(self._targets(negated, norm)):
                return NOTHING
            if disjoint_places(rest, negated, norm):
                return rest
            return both if norm.shape_of(both).mask else NOTHING
        except (SchemaError, LimitError):
            return both  # it is refused where it is used

    def _targets(self, place: Conj, norm: DocumentContext) -> set[Any]:
        """What the nodes of a place say, or what they refer to does."""
        return {self._meaning(norm.document.follow(node)) for node in place}

    def _meaning(self, node: Node) -> Any:
        """What names a place by what it says: equal schemas of one document mean the same."""
        key = identity(node)
        known = self._meanings.get(key)
        if known is None:
            content = canonical_bytes(node.schema) if type(node.schema) is dict else None
            known = self._meanings[key] = key if content is None else (content, id(node.resource))
        return known


def minimal(shape: Shape, norm: DocumentContext) -> Shape:
    """Return the same values with no alternative of objects inside another."""
    if len(shape.objects) < 2 or norm.tracks:
        return shape
    return shape.with_objects(tuple(without_contained(shape.objects, norm)))


def without_contained(parts: Iterable[ObjectShape], norm: DocumentContext) -> list[ObjectShape]:
    """Return the alternatives that are not plainly contained in another one."""
    kept: list[ObjectShape] = []
    for part in parts:
        norm.spend(len(kept))
        if any(_contains(other, part, norm) for other in kept):
            continue
        kept = [other for other in kept if not _contains(part, other, norm)]
        kept.append(part)
    return kept


def _contains(outer: ObjectShape, inner: ObjectShape, norm: DocumentContext) -> bool:
    """Whether it is plain that all values of `inner` are values of `outer`."""
    if not outer.required.keys() <= inner.required.keys() or outer.min_properties > inner.min_properties:
        return False
    if outer.max_properties is not None and (
        inner.max_properties is None or inner.max_properties > outer.max_properties
    ):
        return False
    if outer.witnesses is not inner.witnesses and not _all_in(outer.witnesses, inner.witnesses):
        return False
    if outer.extras is not inner.extras and not _all_in(outer.extras, inner.extras):
        return False
    if not _implied(outer.names, inner.names):
        return False
    for name, place in outer.properties.items():
        own = inner.properties.get(name)
        if own is place:
            continue
        if not _implied(place, undeclared(inner, name, norm) if own is None else own):
            return False
    if not outer.extras:
        return True
    undeclared_names = inner.properties.keys() - outer.properties.keys()
    return all(_implied(undeclared(outer, name, norm), inner.properties[name]) for name in undeclared_names)


def _all_in(parts: tuple[object, ...], known: tuple[object, ...]) -> bool:
    return set(map(id, parts)).issubset(map(id, known))


def _implied(place: Conj, by: Conj) -> bool:
    if not place or place is by or is_nothing(by):
        return True
    if len(place) > len(by):
        return False
    if len(by) == 1:
        return bool(identity(place[0]) == identity(by[0]))
    return set(map(identity, by)).issuperset(map(identity, place))
