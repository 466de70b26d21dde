"""Emit: from shapes to rules over bytes.

`Emitter.place(conj, depth)` gives the expression for the instances of a place of the schema. It is inlined where it is
used first; a place that is used again, refers to itself, is the target of a `$ref` or lies many levels deep becomes a
rule, named after its JSON pointer. Places are told apart by the identity of their schema objects.

    {"type": "array", "items": {"type": "integer"}}   →   "[" ws (integer (ws "," ws integer)* ws)? "]"

Objects and arrays that are one alternative among several, as in `anyOf` of null and a `$ref`, are those of the place
that they come from: they are told apart by their identity, too.

Invariant: every place and every alternative occurs at most twice in the grammar, once inline and once as a rule, so
size is linear in the schema. Recursion in Python is limited to _INLINE_LEVELS: what lies deeper waits in a queue.
Tested by tests/frontends/json_schema/emit/test_schema_emit.py and test_schema_suite.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.frontends.json_schema.emit.arrays import array_text
from maskwright.frontends.json_schema.emit.layout import Layout
from maskwright.frontends.json_schema.emit.objects import object_text
from maskwright.frontends.json_schema.emit.schema_rules import SMALL, SchemaRules
from maskwright.frontends.json_schema.normalise.document_context import DocumentContext
from maskwright.frontends.json_schema.normalise.dropped import note_hidden
from maskwright.frontends.json_schema.read.places import Conj, Node, identity_of
from maskwright.frontends.json_schema.read.pointers import pointer_of
from maskwright.frontends.json_schema.sets.scalars import one_of, scalar_texts
from maskwright.frontends.json_schema.sets.shape import (
    ALL_TYPES,
    ANY_SHAPE,
    ARRAY,
    FREE_ARRAYS,
    FREE_OBJECTS,
    OBJECT,
    UNKNOWN_SHAPE,
    ArrayShape,
    ObjectShape,
    Shape,
)
from maskwright.ir import Expr

# CPython keeps the frames of calls in chunks of 16 kB, and each call across the end of one maps and unmaps the next: of
# schemas that nested deeper than some ten levels, that took half of the time.
_INLINE_LEVELS: Final = 8
MAX_PLACES: Final = 200_000


class Emitter(SchemaRules):
    """Makes the rules of one schema."""

    def __init__(self, norm: DocumentContext, layout: Layout, capture_members: bool = False) -> None:
        super().__init__(norm, layout)
        self._known: dict[Any, Expr | None] = {}
        self._targets: dict[tuple[str, int], Node] = {}
        self._parts: dict[tuple[int, int, bool], tuple[Any, Conj, ObjectShape | ArrayShape]] = {}
        self._queue: list[tuple[Expr, Any, Conj, int]] = []
        self._level = 0
        self._capture_members = capture_members  # while the outermost objects are made

    def root(self, conj: Conj, depth: int = 0) -> Expr:
        """Return the expression for a whole text; with `depth`, for a value inside so many containers."""
        expr = self.place(conj, depth)
        self._capture_members = False
        while self._queue:
            rule, key, waiting, depth = self._queue.pop()
            self.builder.define(rule, self._shape(self.norm.shape_of(waiting), depth, key, waiting))
        return expr

    def place(self, conj: Conj, depth: int) -> Expr:
        free = self.layout.styles[depth].free.get(id(conj))
        if free is not None and not (self._capture_members and self._level == 0):
            return free
        is_target = False
        if len(conj) == 1:
            schema = conj[0][0]
            if type(schema) is dict and "$ref" in schema:
                target = self._target(conj[0])
                is_target = target is not conj[0]
                conj = (target,)
        key = identity_of(conj)
        if self.layout.depth_matters:
            key = (key, depth)
        if key in self._known:
            return self._used_again(key, conj)
        return self._used_first(key, conj, depth, is_target)

    @property
    def captures_members(self) -> bool:
        return self._capture_members and self._level == 1

    def _target(self, node: Node) -> Node:
        """Return what a node that does nothing but refer leads to; the node itself if it asserts more."""
        document, schema = self.norm.document, node[0]
        uri = schema["$ref"]
        if len(schema) > 1:
            if not document.only_refers(schema):
                return node
            if document.draft <= 7:
                note_hidden(node, document, self.norm.findings)
        key = (uri, id(node.resource))
        known = self._targets.get(key) if type(uri) is str else None
        if known is None:
            known = self._targets[key] = document.follow(node)
        return known

    def _used_first(self, key: Any, conj: Conj, depth: int, is_target: bool) -> Expr:
        if len(self._known) >= MAX_PLACES:
            hint = "use a smaller schema, or write equal parts once and refer to them by $ref"
            raise LimitError(f"the schema has more than {MAX_PLACES} sub-schemas", limit="MAX_PLACES", hint=hint)
        shape = self.norm.shape(conj[0]) if len(conj) == 1 else self.norm.shape_of(conj)
        if shape.text is not None and not is_target:
            self._known[key] = shape.text
            return shape.text
        if self._level >= _INLINE_LEVELS:
            rule = self._known[key] = self._declare(conj)
            self._queue.append((rule, key, conj, depth))
            return rule
        self._known[key] = None
        self._level += 1
        expr = self._shape(shape, depth, key, conj)
        self._level -= 1
        declared = self._known[key]
        if declared is not None:  # it refers to itself
            self.builder.define(declared, expr)
            return declared
        if is_target and expr[0] not in SMALL:
            expr = self.builder.add(_name(conj), expr)
        self._known[key] = expr
        return expr

    def _used_again(self, key: Any, conj: Conj) -> Expr:
        expr = self._known[key]
        if expr is None:
            expr = self._known[key] = self._declare(conj)
        elif expr[0] not in SMALL:
            expr = self._known[key] = self.builder.add(_name(conj), expr)
        return expr

    def _declare(self, conj: Conj) -> Expr:
        return self.builder.declare(_name(conj))

    def _shape(self, shape: Shape, depth: int, key: Any, conj: Conj) -> Expr:
        if shape.text is not None:
            return shape.text
        if shape is ANY_SHAPE or shape is UNKNOWN_SHAPE:
            return self.layout.styles[depth].value
        objects, arrays = shape.objects, shape.arrays
        has_scalars = shape.mask & ~(OBJECT | ARRAY) != 0
        if has_scalars or len(objects) + len(arrays) > 1:
            key = None  # none of the parts is all of the place
        parts: list[Expr] = []
        is_free = objects is FREE_OBJECTS and (not self.strict or shape.mask == ALL_TYPES)
        if is_free and not self.captures_members:
            parts.append(self.layout.styles[depth].object)
        else:
            closed = self.strict and not is_free
            parts += [self._part(part, depth, closed, key, conj) for part in objects]
        if arrays is FREE_ARRAYS:
            parts.append(self.layout.styles[depth].array)
        else:
            parts += [self._part(part, depth, False, key, conj) for part in arrays]
        if has_scalars:
            parts += scalar_texts(shape, self.norm.options.numbers, self.refuse, self.builder)
        expr = one_of(parts)
        if not (objects or arrays):
            shape.text = expr
        return expr

    def _part(self, part: ObjectShape | ArrayShape, depth: int, closed: bool, key: Any, conj: Conj) -> Expr:
        """Return the spellings of an alternative; with `key`, of the only one of the place known by it."""
        if self.captures_members:
            return self._text(part, depth, closed)
        identity = id(part), depth if self.layout.depth_matters else 0, closed
        known = self._parts.get(identity)
        if known is not None:
            return self._used_again(known[0], known[1])
        if key is not None:
            self._parts[identity] = key, conj, part
            return self._text(part, depth, closed)
        self._parts[identity] = identity, conj, part
        self._known[identity] = None
        expr = self._text(part, depth, closed)
        declared = self._known[identity]
        if declared is not None:  # it refers to itself
            self.builder.define(declared, expr)
            expr = declared
        self._known[identity] = expr
        return expr

    def _text(self, part: ObjectShape | ArrayShape, depth: int, closed: bool) -> Expr:
        if isinstance(part, ArrayShape):
            return array_text(self, part, depth)
        return object_text(self, part, depth, closed)


def _name(conj: Conj) -> str:
    return " & ".join(["#" + pointer_of(node.path) for node in conj])
