"""Which keyword of a schema rejects a text at a byte.

    schema   {"properties": {"age": {"type": "integer"}}}
    text     {"age": x        the byte at offset 8 is rejected: /properties/age/type

The text before the place is read as JSON, which tells the values that are open there, the innermost last, and so the
sub-schemas that apply to each of them. At each value, from the inside out, keywords are left out of its sub-schemas one
at a time: the first without which the text gets further is to blame. If it takes several, it is the first of a set
without which the text gets further, and of which none can stay. If none helps, JSON itself, or the layout, rejects it.

Invariants: sub-schemas are compiled on their own, and what is kept of them is bounded. The branches of `allOf` and the
targets of `$ref` are looked into; `anyOf`, `oneOf`, `if` and `not` are blamed as a whole.
Source: Zeller, Yesterday, my program worked. Today, it does not. Why? (ESEC/FSE 1999), for the search.
Tested by tests/frontends/json_schema/report/test_schema_blame.py and tests/report/test_explain.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from maskwright.frontends.json_schema.options import JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document, read_schema
from maskwright.frontends.json_schema.read.guidance import allowed_escapes, layout_options
from maskwright.frontends.json_schema.read.keyword_table import ASSERTING
from maskwright.frontends.json_schema.read.places import Conj, DynamicError, Node, Path, TrackError
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.report.open_values import OpenValue, open_values
from maskwright.frontends.json_schema.report.trials import MAX_AHEAD, Trials
from maskwright.frontends.json_schema.sets.strings import name_matches

_MAX_KEPT: Final = 512
_MAX_WAYS: Final = 16  # of combining branches of anyOf and oneOf
_MAX_PARTS: Final = 64  # that apply to one value
_BLAMED: Final = ASSERTING - {"then", "else"}
_BRANCHES: Final = ("anyOf", "oneOf")
_AT_CLOSING: Final = ("required", "minItems", "minProperties", "contains", "minContains")
_OF_MEMBERS: Final = frozenset(
    ("additionalProperties", "properties", "patternProperties", "required", "unevaluatedProperties")
)


class Blamed(NamedTuple):
    """What rejects a text.

    Attributes:
        pointer: The JSON pointer of the keyword; of the innermost sub-schema, if no keyword alone is to blame.
        keyword: Its name, or None.
        value: What the schema has for it.
        instance: The JSON pointer of the value in the text.
        by_order: Whether the text gets further where members may come in any order.
        by_strict_mode: Whether it is the option that says so, as if the sub-schema at `pointer` had this keyword.
    """

    pointer: str
    keyword: str | None
    value: Any
    instance: str
    by_order: bool = False
    by_strict_mode: bool = False


class Blame:
    """Finds what rejects texts of one schema. Not thread-safe.

    Args:
        schema: As for `schema_to_ir`, which made a grammar of it with these options.
        options: Likewise.
    """

    def __init__(self, schema: Any, options: JsonSchemaOptions) -> None:
        data = read_schema(schema)
        self._options = replace(layout_options(data, options), on_unsupported="relax")
        self._letters = allowed_escapes(data)
        self._schema = data
        self._begin(dynamic=False, tracks=False)

    def _begin(self, *, dynamic: bool, tracks: bool) -> None:
        """Start over with a closer look at the schema, where that turns out to be needed: see `normalised`."""
        self._dynamic, self._tracks = dynamic, tracks
        self._document = Document(self._schema, self._options.registry, dynamic)
        self._thinned: dict[Any, tuple[Node, Node]] = {}
        self._trials = Trials(self._document, self._options, self._letters, tracks)
        loose = replace(self._options, strict_mode=False)
        is_strict = self._options.strict_mode
        self._open = Trials(self._document, loose, self._letters, tracks) if is_strict else self._trials

    def find(self, data: bytes, offset: int) -> Blamed | None:
        """Return what rejects the byte at `offset`, or the end of the text there; None if nothing can be said.

        Raises:
            MaskwrightError: The schema takes too much work.
        """
        try:
            return self._find(data, offset)
        except DynamicError:
            self._begin(dynamic=True, tracks=self._tracks)
        except TrackError:
            self._begin(dynamic=self._dynamic, tracks=True)
        return self.find(data, offset)  # each happens once

    def _find(self, data: bytes, offset: int) -> Blamed | None:
        prefix, rest = data[:offset], data[offset : offset + MAX_AHEAD]
        values = open_values(prefix)
        places = self._places(values, prefix)
        found = None
        for depth in range(len(places) - 1, -1, -1):
            thin = values[depth + 1].step if depth + 1 < len(places) else None
            for conj in places[depth]:
                whole = [part for node in conj for part in self._parts(node)][:_MAX_PARTS]
                parts = [self._thin(part, thin) for part in whole]
                if self._is_closed(parts, prefix[values[depth].start :], rest, depth):
                    return _closed(conj[0].path, parts, prefix[values[depth].start :], _instance(values[: depth + 1]))
                found = self._lifted(parts, prefix[values[depth].start :], rest, depth)
                if found is not None:
                    instance = _instance(values[: depth + 1])
                    index, keyword, by_order = found
                    by_order = by_order and not self._has_one_order(places[:depth])
                    return self._blamed(whole, index, keyword, by_order, instance)
        for depth in range(len(places) - 1, -1, -1):
            for conj in places[depth]:
                return Blamed(pointer_of(conj[0].path), None, None, _instance(values[: depth + 1]))
        return None

    def _has_one_order(self, around: list[list[Conj]]) -> bool:
        """Whether one of the values around may be an array of distinct items: their members come in one order."""
        parts = [part.schema for ways in around for conj in ways for node in conj for part in self._parts(node)]
        return any(isinstance(schema, dict) and schema.get("uniqueItems") is True for schema in parts)

    def _blamed(self, parts: list[Node], index: int, keyword: str, by_order: bool, instance: str) -> Blamed:
        node = parts[index]
        return Blamed(pointer_of((node.path, keyword)), keyword, node.schema[keyword], instance, by_order)

    def _is_closed(self, parts: list[Node], text: bytes, rest: bytes, depth: int) -> bool:
        """Whether strict mode is to blame: the text gets further without it, if only with its members in any order."""
        if self._open is self._trials or self._trials.takes(parts, text, rest[:1], depth) is not False:
            return False
        if self._open.reached(parts, text, rest, depth):
            return True
        in_any_order = self._trials.reached(parts, text, rest, depth, any_order=True)
        return self._open.reached(parts, text, rest, depth, any_order=True) > in_any_order

    def _places(self, values: list[OpenValue], prefix: bytes) -> list[list[Conj]]:
        """For each open value, the ways in which sub-schemas can apply to it, as far as they are known."""
        places: list[list[Conj]] = [[(self._document.node,)]]
        for depth in range(1, len(values)):
            value = values[depth]
            ways: list[Conj] = []
            for conj in places[-1]:
                for way in self._ways(conj, prefix[values[depth - 1].start :], depth - 1):
                    inner = tuple([child for node in way for child in self._children(node, value)])
                    if inner and inner not in ways:
                        ways.append(inner)
            if not ways:
                break
            places.append(ways[:_MAX_WAYS])
        return places

    def _ways(self, conj: Conj, text: bytes, depth: int) -> list[Conj]:
        """The ways to choose a branch of each `anyOf` and `oneOf`; of several, those that the text has not left."""
        ways: list[Conj] = [()]
        for node in conj:
            ways = [(*way, *more) for way in ways for more in self._ways_of(node, 0)][:_MAX_WAYS]
        if len(ways) > 1:
            ways = [way for way in ways if self._trials.takes(list(way), text, None, depth) is not False] or ways
        return ways

    def _ways_of(self, node: Node, level: int) -> list[Conj]:
        ways: list[Conj] = [()]
        for part in self._parts(node):
            schema = part.schema
            chosen = [k for k in _BRANCHES if isinstance(schema, dict) and isinstance(schema.get(k), list)]
            if not chosen or level > _MAX_WAYS:
                ways = [(*way, part) for way in ways]
                continue
            rest = self._without(part, tuple(chosen))
            ways = [(*way, rest) for way in ways]
            for keyword in chosen:
                branches = [
                    more
                    for i, branch in enumerate(schema[keyword][:_MAX_WAYS])
                    for more in self._ways_of(self._document.child(part, branch, ((part.path, keyword), i)), level + 1)
                ]
                ways = [(*way, *more) for way in ways for more in branches][:_MAX_WAYS]
        return ways

    def _parts(self, node: Node) -> list[Node]:
        """What a schema object says together with the branches of its `allOf` and the target of its `$ref`."""
        parts: list[Node] = []
        waiting, seen = [node], {id(node.schema)}
        while waiting and len(parts) < _MAX_PARTS:
            each = waiting.pop(0)
            schema = each.schema
            if not isinstance(schema, dict) or "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
                parts.append(each)
                continue
            applied: list[Node] = []
            if "$ref" in schema:
                applied.append(self._document.target(each))
            hides = self._document.draft <= 7 and "$ref" in schema
            branches = schema.get("allOf")
            if isinstance(branches, list) and not hides:
                applied += [self._document.child(each, x, ((each.path, "allOf"), i)) for i, x in enumerate(branches)]
            if any(id(x.schema) in seen and isinstance(x.schema, dict) for x in applied):
                parts.append(each)
                continue
            seen.update(id(x.schema) for x in applied)
            waiting += applied
            if not applied:
                parts.append(each)
            elif not hides:
                parts.append(self._without(each, ("$ref", "allOf")))
        return parts

    def _without(self, node: Node, keywords: tuple[str, ...]) -> Node:
        """The same place without some keywords: the same object each time."""
        return self._changed(node, keywords, {k: v for k, v in node.schema.items() if k not in keywords})

    def _thin(self, node: Node, step: str | int | None) -> Node:
        """The same place with nothing said of the members that are closed: they are valid."""
        schema = node.schema
        members = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(members, dict):
            return node
        thin = {name: True if type(sub) is dict and sub and name != step else sub for name, sub in members.items()}
        return self._changed(node, step, {**schema, "properties": thin})

    def _changed(self, node: Node, how: Any, schema: dict[str, Any]) -> Node:
        key = (id(node.schema), how)
        known = self._thinned.get(key)
        if known is None or known[0].path != node.path:
            if len(self._thinned) >= _MAX_KEPT:
                self._thinned.clear()
            known = self._thinned[key] = (node, Node(schema, node.resource, node.path))
        return known[1]

    def _children(self, node: Node, value: OpenValue) -> Iterator[Node]:
        """The sub-schemas that apply to a member, its name or an element."""
        schema = node.schema
        if not isinstance(schema, dict):
            return
        for path in _applied(schema, value):
            place: Any = schema
            at: Path = node.path
            for token in path:
                place, at = place[token], (at, token)
            if isinstance(place, (dict, bool)):
                yield self._document.child(node, place, at)

    def _lifted(self, parts: list[Node], text: bytes, rest: bytes, depth: int) -> tuple[int, str, bool] | None:
        """The keyword without which the text gets further, the furthest of several; whether the order is all that is
        wrong. Strict mode, which is not to blame here, would hide it.
        """
        rejected, takes = rest[:1], self._open.takes
        if takes(parts, text, None, depth) is not True or takes(parts, text, rejected, depth) is not False:
            return None
        candidates = _candidates(parts, rejected)
        reached = {}
        for each in candidates:
            reached[each] = self._open.reached(self._less(parts, {each}), text, rest, depth)
        best = max(candidates, key=reached.__getitem__, default=None)
        ordered = next((each for each in candidates if each[1] == "properties"), None)
        may_be_order = best is not None and best[1] in _OF_MEMBERS and not self._options.any_order
        if best is not None and ordered is not None and may_be_order:
            in_any_order = self._open.reached(parts, text, rest, depth, any_order=True)
            if in_any_order and in_any_order >= reached[best]:
                return (*ordered, True)
        if best is not None and reached[best]:
            return (*best, False)
        if ordered is not None:  # in their order, a member that is missing hides what is wrong with another one
            for each in candidates:
                reached[each] = self._open.reached(self._less(parts, {each}), text, rest, depth, any_order=True)
            best = max(candidates, key=reached.__getitem__)
            if reached[best]:
                return (*best, False)
        removed = set(candidates)
        if len(candidates) < 2 or not self._open.reached(self._less(parts, removed), text, rest, depth):
            return None
        for each in candidates:
            if self._open.reached(self._less(parts, removed - {each}), text, rest, depth):
                removed.discard(each)
        return (*next(each for each in candidates if each in removed), False)

    def _less(self, parts: list[Node], removed: set[tuple[int, str]]) -> list[Node]:
        """What the parts say without these keywords."""
        rest = []
        for i, node in enumerate(parts):
            keywords = tuple(sorted(keyword for index, keyword in removed if index == i))
            rest.append(self._without(node, keywords) if keywords else node)
        return rest


def _closed(path: Path, parts: list[Node], text: bytes, instance: str) -> Blamed:
    """What strict mode says of a value that begins with this text."""
    keyword = "additionalProperties"
    if text.lstrip()[:1] == b"[":
        keyword = "items" if any("prefixItems" in part.schema for part in parts) else "additionalItems"
    return Blamed(pointer_of(path), keyword, False, instance, by_strict_mode=True)


def _candidates(parts: list[Node], rejected: bytes) -> list[tuple[int, str]]:
    """The keywords that may be to blame, those first that are about ends of containers where one is rejected.

    Before all others comes `uniqueItems`, which goes too where `items` does, as not all values can be compared.
    """
    found = [
        (i, keyword)
        for i, node in enumerate(parts)
        if isinstance(node.schema, dict)
        for keyword in node.schema
        if keyword in _BLAMED
    ]
    if rejected in (b"}", b"]"):
        found.sort(key=lambda each: each[1] not in _AT_CLOSING)
    found.sort(key=lambda each: each[1] != "uniqueItems")
    return found


def _applied(schema: dict[str, Any], value: OpenValue) -> list[tuple[str | int, ...]]:
    """Where the sub-schemas stand that apply to a value within an object or an array."""
    if value.is_name:
        return [("propertyNames",)] if "propertyNames" in schema else []
    return _members(schema, value.step) if isinstance(value.step, str) else _elements(schema, value.step or 0)


def _members(schema: dict[str, Any], name: str) -> list[tuple[str | int, ...]]:
    """Where the sub-schemas stand that apply to a member."""
    found: list[tuple[str | int, ...]] = []
    declared, patterns = schema.get("properties"), schema.get("patternProperties")
    if isinstance(declared, dict) and name in declared:
        found.append(("properties", name))
    if isinstance(patterns, dict):
        found += [("patternProperties", pattern) for pattern in patterns if name_matches(pattern, None, name)]
    if not found and "additionalProperties" in schema:
        found.append(("additionalProperties",))
    return found


def _elements(schema: dict[str, Any], index: int) -> list[tuple[str | int, ...]]:
    """Where the sub-schemas stand that apply to an element."""
    first = "prefixItems" if isinstance(schema.get("prefixItems"), list) else "items"
    listed = schema.get(first)
    if isinstance(listed, list):
        if index < len(listed):
            return [(first, index)]
        rest = "items" if first == "prefixItems" else "additionalItems"
        return [(rest,)] if rest in schema else []
    return [("items",)] if "items" in schema else []


def _instance(values: list[OpenValue]) -> str:
    """The JSON pointer of the last value; of a name, that of its object."""
    path: Path = None
    for value in values[1:]:
        if not value.is_name:
            path = (path, "" if value.step is None else value.step)
    return pointer_of(path)
