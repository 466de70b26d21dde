"""Normalise: from schema objects to shapes.

`Normaliser.shape(node)` runs the function of each keyword of one schema object (keywords.py) over a `SchemaContext`,
which gathers what its assertions say, then intersects that with the shapes of the sub-schemas that apply to the same
instance (`allOf`, `anyOf`, `oneOf`, `not`, `if`, `$ref`, …). Sub-schemas of elements and members are not entered: they
stay nodes.

    {"type": "string", "anyOf": [{"maxLength": 2}, {"const": "abc"}, {"type": "null"}]}   →
    STRING, strings (at most 2 characters), ("abc")

Shapes are kept by the identity of the schema object, so each is made once, and a schema that needs itself at the same
instance (`{"$ref": "#"}`) is seen and refused.
Cost: a few microseconds for a schema object without applicators. Tested by
tests/frontends/json_schema/normalise/test_schema_keywords.py.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from maskwright._kernel import canonical_bytes as bytes_of
from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.frontends.json_schema.normalise.complement import complement, difference
from maskwright.frontends.json_schema.normalise.disjoint import disjoint, disjoint_objects, told_apart
from maskwright.frontends.json_schema.normalise.in_place import sub_schemas_in_place
from maskwright.frontends.json_schema.normalise.keywords import BY_DRAFT
from maskwright.frontends.json_schema.normalise.leaves import (
    STRUCTURAL_KEYWORDS,
    canonical_bytes,
    keep_leaf,
    known_leaf,
)
from maskwright.frontends.json_schema.normalise.schema_context import SchemaContext
from maskwright.frontends.json_schema.normalise.simplify import simplified
from maskwright.frontends.json_schema.normalise.unevaluated import held_to, note_seen
from maskwright.frontends.json_schema.normalise.vocabularies import ignored_keywords
from maskwright.frontends.json_schema.options import Finding, JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document
from maskwright.frontends.json_schema.read.guidance import coerces_one_of
from maskwright.frontends.json_schema.read.misspelled import misspelled
from maskwright.frontends.json_schema.read.places import (
    ANYTHING,
    CircularError,
    Conj,
    Negation,
    Node,
    Path,
    Refusal,
    Union,
    identity,
    identity_of,
)
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.intersect import intersect, is_nothing, join
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ANY_KIND,
    ANY_SHAPE,
    FREE_ARRAYS,
    FREE_INTEGERS,
    FREE_NUMBERS,
    FREE_OBJECTS,
    FREE_STRINGS,
    FREE_WRITTEN_INTEGERS,
    INTEGER,
    NO_SHAPE,
    WRITTEN_INTEGER,
    ObjectShape,
    Shape,
    union,
)
from maskwright.frontends.json_schema.sets.strings import name_matches
from maskwright.support.interruption import interrupt_checkpoint

_DEEP: Final = 20  # levels of recursion, beyond which sub-schemas in place are made from the inside out
MAX_IN_PLACE_DEPTH: Final = 40  # where complements open more on the way
MAX_LOOKS: Final = 4  # into members, one inside another, to see what a negation leaves
MAX_SIMPLIFYING_WORK: Final = 1000
MAX_WORK: Final = 20_000  # units of `Normaliser.spend`
MAX_EXCLUSIVE: Final = 200  # object alternatives that telling the branches of a `oneOf` apart may make
_CHECKPOINT_EVERY: Final = 0x20  # units of work, a power of two


class Normaliser:
    """Makes the shapes of one schema."""

    def __init__(
        self, document: Document, options: JsonSchemaOptions, report: list[Finding], tracks: bool = False
    ) -> None:
        self.document = document
        self.options = options
        self.report = report
        self.tracks = tracks  # what keywords have seen: see unevaluated.py
        self.draft = document.draft
        # A metaschema with vocabularies can only come from a registry.
        self.ignored = frozenset() if options.registry is None else ignored_keywords(document)
        self.dialect = " ".join([str(document.draft), options.formats, options.numbers, *sorted(self.ignored)])
        self._coerces_one_of = coerces_one_of(document.root)
        self._keywords = BY_DRAFT[document.draft]
        self._shapes: dict[Any, Shape | None] = {id(True): ANY_SHAPE, id(False): NO_SHAPE}
        self._conjunctions: dict[Any, Shape] = {}
        self._negations: dict[Any, Conj] = {}
        self._constants: dict[Any, Conj] = {}
        self._kept: list[Any] = []  # keeps schemas that no one wrote alive, for they are known by identity
        self._limit = MAX_WORK
        self._simplifications: dict[Any, Conj] = {}
        self._meanings: dict[Any, Any] = {}
        self._left_out = 0  # how often it was met that something had been left out
        self._wider: set[Any] = set()  # places where that was so, by key
        self._looks = 0
        self._depth = 0
        self._work = 0

    def shape(self, node: Node) -> Shape:
        """Return the shape of one schema.

        Raises:
            SchemaError: The schema is malformed.
            LimitError: It nests too deep at one instance, or has too many alternatives.
        """
        key = identity(node) if node[1][2] else id(node[0])
        known = self._shapes.get(key)
        if known is not None:
            if self._left_out and key in self._wider:
                self._left_out += 1
            return known
        schema = node[0]
        if type(schema) is dict and STRUCTURAL_KEYWORDS.isdisjoint(schema):
            shape = self._shapes[key] = self._leaf(node)
            return shape
        if key in self._shapes:
            raise CircularError(
                "this schema refers to itself at the same instance",
                pointer=pointer_of(node.path),
                hint="let the recursion go through a member or an element",
            )
        interrupt_checkpoint()
        if type(schema) is dict:
            self._note_misspelled(node)
        self._shapes[key] = None
        self._depth += 1
        left_out = self._left_out
        try:
            if self._depth > _DEEP:
                self._make_inside(node)
            shape = self._shapes[key] = self._make(node)
            if self._left_out > left_out:
                self._wider.add(key)
        finally:
            self._depth -= 1
            if self._shapes[key] is None:
                del self._shapes[key]
        return shape

    def _make_inside(self, node: Node) -> None:
        """Make the shapes of the sub-schemas in place, the innermost first, so that recursion goes no deeper."""
        if self._depth > MAX_IN_PLACE_DEPTH:
            raise LimitError("allOf, anyOf, $ref and the like nest too deep", limit="MAX_IN_PLACE_DEPTH")
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

    def _leaf(self, node: Node) -> Shape:
        interrupt_checkpoint()
        self._note_misspelled(node)
        content = canonical_bytes(node.schema, self.dialect)
        shape = None if content is None else known_leaf(content)
        if shape is None:
            num_findings = len(self.report)
            shape = self._make(node)
            if content is not None and len(self.report) == num_findings:
                keep_leaf(content, shape, self.options.numbers)
        return shape

    def _note_misspelled(self, node: Node) -> None:
        for keyword, meant in misspelled(node[0]):
            reason = f"unknown keyword {keyword!r}; did you mean {meant!r}?"
            self.note(Finding(pointer_of((node[2], keyword)), keyword, "annotation", reason))

    def shape_of(self, conj: Conj) -> Shape:
        """Return the shape of what satisfies all these places."""
        if len(conj) == 1:
            return self.shape(conj[0])
        if not conj:
            return ANY_SHAPE
        key = identity_of(conj)
        known = self._conjunctions.get(key)
        if known is not None:
            if self._left_out and key in self._wider:
                self._left_out += 1
            return known
        # Conjunctions grow by one place at a time, so most of a new one is known.
        done = next((n for n in range(len(key) - 1, 1, -1) if key[:n] in self._conjunctions), 1)
        shape = self._conjunctions[key[:done]] if done > 1 else self.shape(conj[0])
        wider, left_out = done > 1 and key[:done] in self._wider, self._left_out
        for n in range(done, len(key)):
            shape = self._conjunctions[key[: n + 1]] = self._narrowed(shape, conj[n])
            if wider or self._left_out > left_out:
                self._wider.add(key[: n + 1])
        self._left_out += wider
        return shape

    def is_wider(self, conj: Conj) -> bool:
        """Whether these places may have fewer values than their shape, as something in them was left out.

        Their complement has more values than the shape's, then, and nobody knows which.
        """
        if self.options.on_unsupported == "error" and not self._coerces_one_of:
            return False
        left_out = self._left_out
        self.shape_of(conj)
        return self._left_out > left_out

    def _narrowed(self, shape: Shape, node: Node) -> Shape:
        if type(node.schema) is Negation and not self.is_wider(node.schema.negated):
            rest = difference(shape, self.shape_of(node.schema.negated), self, node.path)
            if rest is not None:
                return rest
        return self.intersect(shape, self.shape(node))

    def intersect(self, a: Shape, b: Shape) -> Shape:
        return intersect(a, b, self)

    def joined(self, a: Conj, b: Conj) -> Conj:
        if len(b) == 1 and a and type(b[0].schema) is Negation:
            return self._simplified(a, b[0])
        if len(a) == 1 and b and type(a[0].schema) is Negation:
            return self._simplified(b, a[0])
        return join(a, b)

    def _simplified(self, rest: Conj, negation: Node) -> Conj:
        if self._left_out and self.is_wider(negation.schema.negated):
            return join(rest, (negation,))
        key = (identity_of(rest), identity(negation))
        known = self._simplifications.get(key)
        if known is not None:
            return known
        if self._looks >= MAX_LOOKS:
            return join(rest, (negation,))
        limit = self._limit
        self._looks += 1
        self._limit = min(limit, self._work + MAX_SIMPLIFYING_WORK)
        try:
            known = self._simplifications[key] = simplified(rest, negation, self)
        finally:
            self._looks -= 1
            self._limit = limit
        return known

    def meaning(self, node: Node) -> Any:
        """Return what names a place by what it says: equal schemas of one document mean the same."""
        key = identity(node)
        known = self._meanings.get(key)
        if known is None:
            content = bytes_of(node.schema) if type(node.schema) is dict else None
            known = self._meanings[key] = key if content is None else (content, id(node.resource))
        return known

    def apart(self, parts: tuple[ObjectShape, ...], alternative: ObjectShape) -> list[ObjectShape]:
        """Return those of the parts of which it can be shown that they have no value in common with the alternative."""
        if self._looks >= MAX_LOOKS:
            return []
        self._looks += 1
        try:
            return [part for part in parts if disjoint_objects(part, alternative, self)]
        finally:
            self._looks -= 1

    def matches(self, pattern: str, name: str) -> bool:
        """Whether a pattern of `patternProperties` takes a member's name."""
        return name_matches(pattern, None, name)

    def spend(self, units: int) -> None:
        """Count work on pairs of alternatives: 1 to compare two, 4 to intersect them.

        Raises:
            LimitError: There were too many.
        """
        before = self._work
        self._work += units
        if (before ^ self._work) & -_CHECKPOINT_EVERY:
            interrupt_checkpoint()
        if self._work > self._limit:
            raise LimitError(
                "anyOf, oneOf, not and if combine to too many alternatives",
                limit="MAX_WORK",
                hint="write the alternatives out, or nest fewer of these keywords",
            )

    def is_empty(self, conj: Conj) -> bool:
        """Whether it is easily seen that no value satisfies all these places."""
        if len(conj) < 2:
            return is_nothing(conj)
        for node in conj:
            if isinstance(node.schema, dict) and ("const" in node.schema or "enum" in node.schema):
                break
        else:
            return False
        try:
            return not self.shape_of(conj).mask
        except CircularError:
            return False

    def made(self, schema: Any, node: Node, path: Path) -> Node:
        """Return a node of a schema that no one wrote."""
        self._kept.append(schema)
        return Node(schema, node.resource, path)

    def negation(self, conj: Conj) -> Conj:
        """Return the place of all values that do not satisfy `conj`."""
        if len(conj) == 1 and type(conj[0].schema) is Negation:
            return conj[0].schema.negated
        key = identity_of(conj)
        known = self._negations.get(key)
        if known is None:
            first = conj[0]
            known = (self.made(Negation(conj), first, (first.path, "not")),)
            self._negations[key] = known
        return known

    def constant(self, value: Any) -> Conj:
        """Return the place of one scalar."""
        key = (type(value), value)
        known = self._constants.get(key)
        if known is None:
            known = (self.made({"enum": [value]}, self.document.node, None),)
            self._constants[key] = known
        return known

    def any_of(self, node: Node, keyword: str, places: tuple[Conj, ...]) -> Conj:
        """Return the place of all values that satisfy one of `places`."""
        if not all(places):
            return ANYTHING
        return (self.made(Union(places), node, (node.path, keyword)),)

    def complement(self, shape: Shape, path: Path) -> Shape | None:
        """Return the shape of all other values; None if there is no exact one."""
        return complement(shape, self, path)

    def _make(self, node: Node) -> Shape:
        schema = node.schema
        if not isinstance(schema, dict):
            if type(schema) is Negation:
                return self._negated(node, schema)
            if type(schema) is Union:
                return union([self.shape_of(place) for place in schema.places])
            raise self.error(
                node,
                None,
                f"a schema must be an object or a boolean, not {type(schema).__name__}",
                _schema_hint(schema),
            )
        if self.ignored:
            schema = {keyword: value for keyword, value in schema.items() if keyword not in self.ignored}
        context = SchemaContext(self, node, schema)
        if "$ref" in schema and self.draft <= 7:
            self._keywords["$ref"](context, schema["$ref"])
        else:
            keywords = self._keywords
            for keyword, value in schema.items():
                function = keywords.get(keyword)
                if function is not None:
                    function(context, value)
        if context.applied or context.exclusive or context.unevaluated or self.tracks:
            return self._combined(context)
        return _own_shape(context)

    def _negated(self, node: Node, schema: Negation) -> Shape:
        wider = self.is_wider(schema.negated)
        shape = None if wider else self.complement(self.shape_of(schema.negated), node.path)
        if shape is None:
            context = SchemaContext(self, node, {})
            context.refuse("not", "the negation of this schema cannot be expressed exactly")
            return ANY_SHAPE
        return shape

    def _combined(self, context: SchemaContext) -> Shape:
        """The shape of a schema object's own assertions and of what it applies."""
        if self.tracks or context.unevaluated:
            note_seen(context)
        own = _own_shape(context)
        if context.applied:
            before = context.applied[: context.own_position]
            after = context.applied[context.own_position :]
            for i, other in enumerate([*before, own, *after]):
                own = other if i == 0 else self.intersect(own, other)
        for branches in context.exclusive:
            own = self._exactly_one(context, own, branches)
        return held_to(own, context) if context.unevaluated else own

    def union(self, shapes: list[Shape]) -> Shape:
        return union(shapes, keep_all=self.tracks)

    def _exactly_one(self, context: SchemaContext, base: Shape, branches: list[Shape]) -> Shape:
        """What satisfies `base` and exactly one of the branches."""
        shapes = [self.intersect(base, branch) for branch in branches]
        try:
            if told_apart(shapes, self):
                return self.union(shapes)
            overlaps: list[list[int]] = [[] for _ in shapes]
            for i, j in combinations(range(len(shapes)), 2):
                if not disjoint(shapes[i], shapes[j], self):
                    overlaps[i].append(j)
                    overlaps[j].append(i)
            path = (context.node.path, "oneOf")
            exclusive = self.union([self._without(i, overlaps[i], shapes, branches, path) for i in range(len(shapes))])
            if len(exclusive.objects) > max(MAX_EXCLUSIVE, len(shapes)):
                raise _NotExact
            return exclusive
        except (_NotExact, LimitError):
            context.refuse("oneOf", "its branches may overlap in a way that cannot be excluded exactly")
            return self.union(shapes)

    def _without(
        self, index: int, overlapping: list[int], shapes: list[Shape], branches: list[Shape], path: Path
    ) -> Shape:
        """One branch less all others that it overlaps."""
        shape = shapes[index]
        for other in overlapping:
            # What went away for one branch often was all that the next one overlapped.
            if disjoint(shape, shapes[other], self):
                continue
            rest = difference(shape, branches[other], self, path)
            if rest is None:
                raise _NotExact
            shape = rest
        return shape

    def error(self, node: Node, keyword: str | None, message: str, hint: str | None) -> SchemaError:
        path = node.path if keyword is None else (node.path, keyword)
        return SchemaError(message, pointer=pointer_of(path), keyword=keyword, hint=hint)

    def refuse(self, refusal: Refusal) -> None:
        """Refuse an assertion that cannot be enforced, or report it when the caller wants it left out."""
        pointer = pointer_of(refusal.path)
        is_coerced = self._coerces_one_of and refusal.keyword == "oneOf"
        if self.options.on_unsupported == "error" and not is_coerced:
            raise UnsupportedSchemaError(
                f"{refusal.keyword} cannot be enforced: {refusal.reason}",
                pointer=pointer,
                keyword=refusal.keyword,
                hint='remove or rewrite it, or pass on_unsupported="relax" to leave it out',
            )
        self._left_out += 1
        self.note(Finding(pointer, refusal.keyword, "relaxed", refusal.reason))

    def note(self, finding: Finding) -> None:
        """Add to the report what is not there yet."""
        if finding not in self.report:
            self.report.append(finding)


class _NotExact(Exception):
    pass


_FREE: Final = {ANY_KIND: FREE_NUMBERS, INTEGER: FREE_INTEGERS, WRITTEN_INTEGER: FREE_WRITTEN_INTEGERS}
# Those of draft 4's integers are written differently by option, and shapes keep their texts.
_SIMPLE: Final = {
    (mask, kind): Shape(mask, _FREE[kind]) for mask in range(ALL_TYPES + 1) for kind in (ANY_KIND, INTEGER)
}


def _own_shape(context: SchemaContext) -> Shape:
    """The shape of a schema object's own assertions."""
    if context.number is None and context.string is None and context.array is None and context.object is None:
        return _SIMPLE.get((context.mask, context.kind)) or Shape(context.mask, FREE_WRITTEN_INTEGERS)
    numbers = _FREE[context.kind]
    if context.number is not None:
        context.number.kind = context.kind
        numbers = (context.number,)
    return Shape(
        context.mask,
        numbers,
        (context.string,) if context.string is not None else FREE_STRINGS,
        (context.array,) if context.array is not None else FREE_ARRAYS,
        (context.object,) if context.object is not None else FREE_OBJECTS,
    )


def _schema_hint(value: Any) -> str:
    """What to write for something that stands where a schema belongs."""
    if isinstance(value, type):
        return 'write {"type": "integer"} for int, or pass one class for all of it'
    if isinstance(value, str):
        return 'write {"type": "string"} for a type, {"const": "text"} for a fixed text'
    return "write a schema, such as {} for any value"
