"""Objects with some member that …: what the complements of rules for all members ask for.

    not {"additionalProperties": A}   →   some member that is not declared, and not an A

Such a witness is one of the declared members, or one with a name out of a finite set, which becomes declared; or it is
any other member. If its value matters, that one is written last, so that no later member of the same name takes its
place; a second witness of this kind is refused, as their names might have to differ. Witnesses of which only the name
matters come anywhere among the other members, and one member may be several of them.
Tested by tests/frontends/json_schema/normalise/test_schema_complement.py and test_schema_random.py.
"""

from __future__ import annotations

from typing import Final

from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.simplify import without_contained
from maskwright.frontends.json_schema.read.places import ANYTHING, NOTHING, Conj, Path
from maskwright.frontends.json_schema.sets.intersect import is_closed, is_nothing, join, undeclared
from maskwright.frontends.json_schema.sets.shape import Extras, ObjectShape, Witness
from maskwright.frontends.json_schema.sets.strings import admits_string

_MAX_CHOICES: Final = 400
_MAX_OTHERS: Final = 4


class WitnessError(Exception):
    """The witnesses of a shape have no exact form."""


def violations(shape: ObjectShape, norm: DocumentContext, path: Path) -> list[ObjectShape]:
    """Return the objects with a member that a shape's rules for undeclared members or for names forbid."""
    found = []
    declared = frozenset(shape.properties)
    for extras in shape.extras:
        for pattern, path, conj in extras.patterns:
            if not is_free(conj):
                found.append(Witness(((pattern, path, True),), ANYTHING, opposite(conj, norm), declared, path))
        if not is_free(extras.additional):
            unmatched = tuple((pattern, path, False) for pattern, path, _ in extras.patterns)
            found.append(Witness(unmatched, ANYTHING, opposite(extras.additional, norm), declared, path))
    if not is_free(shape.names):
        found.append(Witness((), opposite(shape.names, norm), ANYTHING, frozenset(), path))
    return [_with(witness) for witness in found]


def _with(witness: Witness) -> ObjectShape:
    shape = ObjectShape()
    shape.witnesses = (witness,)
    return shape


def is_free(conj: Conj) -> bool:
    """Whether a place plainly admits all values."""
    return all(node.schema is True for node in conj)


def opposite(conj: Conj, norm: DocumentContext) -> Conj:
    """Return the place of all other values."""
    if is_free(conj):
        return NOTHING
    return ANYTHING if any(node.schema is False for node in conj) else norm.negation(conj)


def without(witness: Witness, norm: DocumentContext) -> ObjectShape | None:
    """Return the objects that have no such member; None if there is no exact shape for them."""
    shape = ObjectShape()
    shape.properties = dict.fromkeys(sorted(witness.excluded), ANYTHING)
    forbidden = opposite(witness.value, norm)
    matched = [is_matched for _, _, is_matched in witness.patterns]
    if witness.names:
        if not is_free(witness.value) or witness.patterns or witness.excluded:
            return None
        shape.names = opposite(witness.names, norm)
    elif not any(matched):
        shape.extras = (Extras(tuple((p, path, ANYTHING) for p, path, _ in witness.patterns), forbidden),)
    elif len(matched) == 1:
        [(pattern, path, _)] = witness.patterns
        shape.extras = (Extras(((pattern, path, forbidden),), ANYTHING),)
    else:
        return None
    return shape


def choices(shape: ObjectShape, norm: DocumentContext) -> list[tuple[ObjectShape, tuple[Witness, ...]]]:
    """Return the ways to choose a member for each witness: objects without witnesses, and those that are not declared.

    Raises:
        WitnessError: There are too many, or the values of two matter.
    """
    named = [(witness, _finite_names(witness, norm)) for witness in _needed(shape.witnesses, norm)]
    bare = shape.copy()
    bare.witnesses = ()
    ways: list[tuple[ObjectShape, tuple[Witness, ...]]] = [(bare, ())]
    # Finite ones first, as the names that they declare may be those of others.
    for witness, its_names in sorted(named, key=lambda pair: pair[1] is None):
        following: list[tuple[ObjectShape, tuple[Witness, ...]]] = []
        for part, others in ways:
            if not witness.value and any(_admits(witness, name, norm) for name in part.required):
                following.append((part, others))
                continue
            names = dict.fromkeys([*part.properties, *part.required, *(its_names or ())])
            following += [(_with_member(part, n, witness, norm), others) for n in names if _admits(witness, n, norm)]
            if its_names is None and not is_closed(part):
                following.append((part, (*others, witness)))
        declared = without_contained([part for part, others in following if not others], norm)
        ways = [(part, ()) for part in declared] + [way for way in following if way[1]]
        if len(ways) > _MAX_CHOICES:
            raise WitnessError
    if any(len(others) > _MAX_OTHERS or sum(bool(w.value) for w in others) > 1 for _, others in ways):
        raise WitnessError
    return ways


def _needed(witnesses: tuple[Witness, ...], norm: DocumentContext) -> list[Witness]:
    """Those that are not another one as well, whatever that is."""
    needed: list[Witness] = []
    for witness in witnesses:
        if not any(_implies(other, witness, norm) for other in needed):
            needed = [other for other in needed if not _implies(witness, other, norm)]
            needed.append(witness)
    return needed


def _implies(a: Witness, b: Witness, norm: DocumentContext) -> bool:
    asked_a, asked_b = ({(pattern, matched) for pattern, _, matched in one.patterns} for one in (a, b))
    if a.names is not b.names or not asked_b <= asked_a:
        return False
    return b.excluded <= a.excluded and is_nothing(norm.joined(opposite(b.value, norm), a.value))


def _with_member(shape: ObjectShape, name: str, witness: Witness, norm: DocumentContext) -> ObjectShape:
    declared = shape.properties.get(name)
    conj = undeclared(shape, name, norm) if declared is None else declared
    out = shape.copy()
    out.properties = {**shape.properties, name: join(conj, witness.value)}
    out.required = {**shape.required, name: None}
    return out


def _admits(witness: Witness, name: str, norm: DocumentContext) -> bool:
    if name in witness.excluded:
        return False
    if any(norm.matches(pattern, name) != is_matched for pattern, _, is_matched in witness.patterns):
        return False
    return not witness.names or any(admits_string(part, name) for part in norm.shape_of(witness.names).strings)


def _finite_names(witness: Witness, norm: DocumentContext) -> list[str] | None:
    if not witness.names:
        return None
    names: list[str] = []
    for part in norm.shape_of(witness.names).strings:
        if part.values is None:
            return None
        names += part.values
    return names
