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
Tested by tests/frontends/json_schema/report/test_schema_blame.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

from maskwright import _kernel
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import layout_of
from maskwright.frontends.json_schema.normalise.normaliser import Normaliser
from maskwright.frontends.json_schema.options import JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document, read_schema
from maskwright.frontends.json_schema.read.guidance import allowed_escapes, layout_options
from maskwright.frontends.json_schema.read.keyword_table import ASSERTING
from maskwright.frontends.json_schema.read.places import Conj, DynamicError, Node, Path, TrackError
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.report.open_values import OpenValue, open_values
from maskwright.frontends.json_schema.sets.strings import name_matches
from maskwright.frontends.json_schema.text.ascii_only import in_ascii
from maskwright.frontends.json_schema.text.escapes import with_escapes
from maskwright.ir import OP_NEVER
from maskwright.tokenizer import TokenizerInfo

_MAX_KEPT: Final = 512
_MAX_WAYS: Final = 16  # of combining branches of anyOf and oneOf
_MAX_PARTS: Final = 64  # that apply to one value
_MEMORY_BYTES: Final = 1 << 20
_END: Final = 256
_BLAMED: Final = ASSERTING - {"then", "else"}
_BRANCHES: Final = ("anyOf", "oneOf")
_END_BYTES: Final = frozenset((b"", b",", b"]", b"}", b" ", b"\t", b"\r", b"\n"))  # b"": where the text ends
_AT_CLOSING: Final = ("required", "minItems", "minProperties", "contains", "minContains")
_OF_MEMBERS: Final = frozenset(
    ("additionalProperties", "properties", "patternProperties", "required", "unevaluatedProperties")
)
_MAX_AHEAD: Final = 200  # bytes behind the place that are looked at


class Blamed(NamedTuple):
    """What rejects a text.

    Attributes:
        pointer: The JSON pointer of the keyword; of the innermost sub-schema, if no keyword alone is to blame.
        keyword: Its name, or None.
        value: What the schema has for it.
        instance: The JSON pointer of the value in the text.
        by_order: Whether the text gets further where members may come in any order.
    """

    pointer: str
    keyword: str | None
    value: Any
    instance: str
    by_order: bool = False


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
        self._kept: OrderedDict[Any, tuple[Any, _kernel.CompiledGrammar | None]] = OrderedDict()

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
        prefix, rest = data[:offset], data[offset : offset + _MAX_AHEAD]
        values = open_values(prefix)
        places = self._places(values, prefix)
        found = None
        for depth in range(len(places) - 1, -1, -1):
            thin = values[depth + 1].step if depth + 1 < len(places) else None
            for conj in places[depth]:
                parts = [self._thin(part, thin) for node in conj for part in self._parts(node)][:_MAX_PARTS]
                found = self._lifted(parts, prefix[values[depth].start :], rest, depth)
                if found is not None:
                    instance = _instance(values[: depth + 1])
                    index, keyword, by_order = found
                    by_order = by_order and not self._has_one_order(places[:depth])
                    return self._blamed(parts, index, keyword, by_order, instance)
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
            ways = [way for way in ways if self._takes(list(way), text, None, depth) is not False] or ways
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
        wrong.
        """
        rejected = rest[:1]
        if self._takes(parts, text, None, depth) is not True or self._takes(parts, text, rejected, depth) is not False:
            return None
        candidates = _candidates(parts, rejected)
        reached = {}
        for each in candidates:
            reached[each] = self._reached(self._less(parts, {each}), text, rest, depth)
        best = max(candidates, key=reached.__getitem__, default=None)
        ordered = next((each for each in candidates if each[1] == "properties"), None)
        may_be_order = best is not None and best[1] in _OF_MEMBERS and not self._options.any_order
        if best is not None and ordered is not None and may_be_order:
            in_any_order = self._reached(parts, text, rest, depth, True)
            if in_any_order and in_any_order >= reached[best]:
                return (*ordered, True)
        if best is not None and reached[best]:
            return (*best, False)
        if ordered is not None:  # in their order, a member that is missing hides what is wrong with another one
            for each in candidates:
                reached[each] = self._reached(self._less(parts, {each}), text, rest, depth, True)
            best = max(candidates, key=reached.__getitem__)
            if reached[best]:
                return (*best, False)
        removed = set(candidates)
        if len(candidates) < 2 or not self._reached(self._less(parts, removed), text, rest, depth):
            return None
        for each in candidates:
            if self._reached(self._less(parts, removed - {each}), text, rest, depth):
                removed.discard(each)
        return (*next(each for each in candidates if each in removed), False)

    def _less(self, parts: list[Node], removed: set[tuple[int, str]]) -> list[Node]:
        """What the parts say without these keywords."""
        rest = []
        for i, node in enumerate(parts):
            keywords = tuple(sorted(keyword for index, keyword in removed if index == i))
            rest.append(self._without(node, keywords) if keywords else node)
        return rest

    def _reached(self, parts: list[Node], text: bytes, rest: bytes, depth: int, any_order: bool = False) -> int:
        """How many bytes of the rest a value can have after this text, the byte that ends it included; 1 for the end
        of the text.
        """
        grammar = self._grammar(tuple(parts), depth, any_order)
        if grammar is None:
            return 0
        matcher = _kernel.Matcher(grammar, [_END], False)
        if not matcher.accept_bytes(text):
            return 0
        for i in range(min(len(rest), _MAX_AHEAD)):
            if not matcher.accept_bytes(rest[i : i + 1]):
                return i + (rest[i : i + 1] in _END_BYTES and matcher.is_completed())
        ahead = min(len(rest), _MAX_AHEAD)
        return ahead + (ahead == len(rest) and matcher.is_completed())

    def _takes(self, parts: list[Node], text: bytes, rejected: bytes | None, depth: int) -> bool | None:
        """Whether a value can begin with this text and go on with this byte; None if that takes too much work to tell.

        A number is ended by what follows it, or by the end of the text, which is `b""`.
        """
        grammar = self._grammar(tuple(parts), depth, False)
        if grammar is None:
            return None
        matcher = _kernel.Matcher(grammar, [_END], False)
        if not matcher.accept_bytes(text):
            return False
        if rejected is None:
            return True
        if rejected and matcher.accept_bytes(rejected):
            return True
        return rejected in _END_BYTES and matcher.is_completed()

    def _grammar(self, conj: Conj, depth: int, any_order: bool) -> _kernel.CompiledGrammar | None:
        layout = layout_of(replace(self._options, any_order=True) if any_order else self._options)
        level = min(depth, len(layout.styles) - 1)
        key = (tuple([id(node.schema) for node in conj]), level, any_order)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        made = self._made(conj, layout_depth=level, any_order=any_order)
        self._kept[key] = (conj, made)  # who is known by identity stays alive
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return made

    def _made(self, conj: Conj, layout_depth: int, any_order: bool) -> _kernel.CompiledGrammar | None:
        options = replace(self._options, any_order=True) if any_order else self._options
        try:
            emitter = Emitter(Normaliser(self._document, options, [], self._tracks), layout_of(options))
            root = emitter.root(conj, layout_depth)
            if root[0] == OP_NEVER:
                return None
            grammar = emitter.builder.build(root)
            if options.ensure_ascii:
                grammar = in_ascii(grammar, emitter.layout.prelude)
            if self._letters is not None:
                grammar = with_escapes(grammar, self._letters)
            return _kernel.compile(_bytes().kernel_vocabulary, grammar.rules, grammar.root, _MEMORY_BYTES)
        except (MaskwrightError, RecursionError):
            return None


@cache
def _bytes() -> TokenizerInfo:
    return TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[_END])


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
