"""Places in a schema: a sub-schema, the document that it stands in, and the path to it.

    Node({"type": "string"}, Resource("https://example.com/a", …), (None, "name"))

A conjunction (`Conj`) is what one value must satisfy all together: a tuple of places. Places that no one wrote stand
for complements and unions of others.

Invariant: places are compared by `identity`, never by their content.
Tested by tests/frontends/json_schema/read/test_schema_references.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from maskwright.errors import SchemaError

Path: TypeAlias = "tuple[Any, str | int] | None"  # (path of the parent, last token)
_T = TypeVar("_T")


class Resource(NamedTuple):
    """A schema document or an embedded one: what a `$ref` inside is relative to."""

    uri: str
    root: Any
    scope: tuple[int, ...] = ()  # the documents that led here, by identity, where that matters (resources.py)


class Node(NamedTuple):
    """A place in a schema. `schema` is a dict, a bool or, for places that no one wrote, a `Negation` or a `Union`."""

    schema: Any
    resource: Resource
    path: Path


node_at: Callable[[tuple[Any, Resource, Path]], Node] = partial(tuple.__new__, Node)
"""As `Node._make`, at half its time."""


Conj: TypeAlias = "tuple[Node, ...]"


def identity(node: Node) -> Any:
    """Return what names a place: its schema object, and the documents that led there where that matters."""
    schema, (_, _, scope), _ = node
    return (id(schema), scope) if scope and schema is not True and schema is not False else id(schema)


def identity_of(conj: Conj) -> Any:
    """Return what names the conjunction of some places."""
    if len(conj) == 1:
        node = conj[0]
        return identity(node) if node[1][2] else id(node[0])
    # Mostly there is no scope: then this is `identity`, written out, as conjunctions grow long and are asked for often.
    return tuple([identity(node) if node[1][2] else id(node[0]) for node in conj])


def lists_values(node: Node) -> bool:
    """Whether a schema says by `const` or `enum` which values there are."""
    return isinstance(node.schema, dict) and ("const" in node.schema or "enum" in node.schema)


class Negation:
    """A schema made from others: all values that do not satisfy `negated`."""

    __slots__ = ("negated",)

    def __init__(self, negated: Conj) -> None:
        self.negated = negated


class Union:
    """A schema made from others: all values that satisfy one of `places`."""

    __slots__ = ("places",)

    def __init__(self, places: tuple[Conj, ...]) -> None:
        self.places = places


def _only(part: _T) -> tuple[_T, ...]:
    """A tuple of one; written as `(part,)` it would have no identity in compiled code."""
    return (part,)


_NOWHERE: Final = Resource("", True)
NOTHING: Final[Conj] = _only(Node(False, _NOWHERE, None))
ANYTHING: Final[Conj] = ()
OPEN: Final[Conj] = _only(Node(True, _NOWHERE, None))  # as ANYTHING, but said so in the schema


FREE_PLACES: Final[dict[str, Conj]] = {
    name: (Node({"type": name}, _NOWHERE, None),)
    for name in ("string", "integer", "number", "boolean", "null", "array", "object")
}
"""The place of all values of one type: the same object wherever a schema says no more than that."""


class CircularError(SchemaError):
    """A schema needs its own shape to make its shape."""


class DynamicError(Exception):
    """The schema has dynamic references, so that its places must remember how they were reached."""


class TrackError(Exception):
    """The schema asks for what other keywords have not seen, so that shapes must carry what they have."""


class Refusal(NamedTuple):
    """An assertion that cannot be enforced: raised, or reported, where the shape is emitted."""

    keyword: str
    path: Path
    reason: str
