"""Schema documents: read the text, find what a `$ref` points at.

A `$ref` that is a plain pointer (`#/$defs/x`) is followed by hand, as that takes a microsecond. All other references
(anchors, embedded documents, relative and absolute URIs) go through a registry of the `referencing` library, made on
the first of them. Nothing is ever fetched from the network.

Invariant: what is found is the very object inside the caller's schema, so its identity names it.
Tested by tests/frontends/json_schema/test_schema_references.py.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from urllib.parse import urldefrag, urljoin

from maskwright.errors import LimitError, SchemaError
from maskwright.frontends.json_schema.pointers import pointer_of, tokens_of
from maskwright.frontends.json_schema.shape import Node, Path, Resource

_DRAFTS = {"draft-03": 3, "draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019, "2020-12": 2020}
_SPECIFICATIONS = {3: "DRAFT3", 4: "DRAFT4", 6: "DRAFT6", 7: "DRAFT7", 2019: "DRAFT201909", 2020: "DRAFT202012"}
_SCALARS = frozenset((str, int, bool, float, type(None)))
_MAX_CHAIN = 100
_MAX_DEPTH = 2_500
_MAX_CONTAINERS = 1_000_000


def read_schema(schema: Any) -> Any:
    """Return the schema as data; a text is parsed, keeping its numbers exact.

    Raises:
        SchemaError: It is no JSON text, or neither an object nor a boolean.
        LimitError: It nests too deep, or holds a number too long.
    """
    if isinstance(schema, (str, bytes, bytearray)):
        try:
            schema = json.loads(schema, parse_float=Decimal, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise LimitError("the schema's text nests too deep", limit="recursion") from error
        except SchemaError:
            raise
        except json.JSONDecodeError as error:
            raise SchemaError(
                f"the schema is no JSON text: {error.msg} (line {error.lineno} column {error.colno})",
                hint="pass a dict, or the text of a JSON object",
            ) from error
        except ValueError as error:
            raise SchemaError(f"the schema's text cannot be read: {error}") from error
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(
            f"a schema is an object or a boolean, not {type(schema).__name__}",
            hint="pass a dict, a bool, or a JSON text",
        )
    check_size(schema)
    return schema


def check_size(schema: Any) -> None:
    """Refuse data that is too deep or too large to work on, before any recursion or copy meets it.

    Parts that are shared count as often as they can be reached: written out, they would be.

    Raises:
        LimitError: There are more than a million objects and arrays, or they nest too deep.
    """
    level, count, depth = [schema] if isinstance(schema, (dict, list)) else [], 0, 0
    while level:
        depth += 1
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if type(part) not in _SCALARS and isinstance(part, (dict, list))
        ]
        count += len(level)
        if depth > _MAX_DEPTH:
            raise LimitError(f"the schema nests deeper than {_MAX_DEPTH} levels", limit="schema_depth")
        if count > _MAX_CONTAINERS:
            raise LimitError(f"the schema has more than {_MAX_CONTAINERS} objects and arrays", limit="schema_size")


def _refuse_constant(name: str) -> Any:
    raise SchemaError(f"{name} is no JSON number")


def draft_of(schema: Any) -> int:
    """Return the draft by `$schema`; 2020-12 where it does not say."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(uri, str):
        for name, draft in _DRAFTS.items():
            if name in uri:
                return draft
    return 2020


class Document:
    """The root schema and everything embedded in it."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.draft = draft_of(root)
        self.id_keyword = "id" if self.draft < 6 else "$id"
        uri = root.get(self.id_keyword) if isinstance(root, dict) else None
        self.resource = Resource(urldefrag(uri)[0] if isinstance(uri, str) else "", root)
        self.node = Node(root, self.resource, None)
        self._registry: Any = None
        self._targets: dict[tuple[str, int], Node] = {}
        self._resources = [self.resource]  # keeps those of `_targets` alive, for they are known by identity

    def child(self, parent: Node, schema: Any, path: Path) -> Node:
        """Return the node of a sub-schema, which may be an embedded document."""
        if isinstance(schema, dict) and self.id_keyword in schema:
            return Node(schema, self._entered(parent.resource, schema), path)
        return Node(schema, parent.resource, path)

    def _entered(self, resource: Resource, schema: dict[str, Any]) -> Resource:
        uri = schema[self.id_keyword]
        # Up to draft 7 a `$ref` hides its siblings, and an `$id` that is only a fragment is an anchor.
        if not isinstance(uri, str) or uri.startswith("#") or (self.draft <= 7 and "$ref" in schema):
            return resource
        self._resources.append(Resource(urldefrag(urljoin(resource.uri, uri))[0], schema))
        return self._resources[-1]

    def target(self, node: Node) -> Node:
        """Return what the `$ref` of a node points at.

        Raises:
            SchemaError: There is nothing there, or no schema.
        """
        uri = node.schema["$ref"]
        if not isinstance(uri, str):
            raise self._error(node, f"$ref must be a string, not {type(uri).__name__}", "write a URI or #/pointer")
        key = (uri, id(node.resource))
        known = self._targets.get(key)
        if known is None:
            known = self._targets[key] = self._found(node, uri)
        return known

    def _found(self, node: Node, uri: str) -> Node:
        plain = uri == "#" or uri.startswith("#/")
        found = self._by_pointer(node, uri) if plain else self._by_registry(node, uri)
        if not isinstance(found.schema, (dict, bool)):
            raise self._error(node, f"{uri} is no schema", "let $ref point at an object or a boolean")
        return found

    def _by_pointer(self, node: Node, uri: str) -> Node:
        place: Any = node.resource.root
        resource = node.resource
        path: Path = None if place is self.root else (None, resource.uri)
        if place is self.root and node.resource is not self.resource:
            resource = self.resource
        for token in tokens_of(uri[1:]):
            if isinstance(place, dict) and token in place:
                place = place[token]
            elif isinstance(place, list) and token.isdecimal() and int(token) < len(place):
                place, token = place[int(token)], token
            else:
                raise self._error(node, f"{uri} points at nothing", "define it, or correct the pointer")
            path = (path, token)
            if type(place) is dict and self.id_keyword in place:
                resource = self._entered(resource, place)
        return Node(place, resource, path)

    # The library takes longer to import than all of this package: only the few schemas that need it pay for it.

    def _by_registry(self, node: Node, uri: str) -> Node:
        import referencing.exceptions

        base = node.resource.uri
        try:
            resolver = self._get_registry().resolver(base)
            resolved = resolver.lookup(uri)
            # Python's private name, but the only way to learn the base URI that the target has.
            target_uri = resolved.resolver._base_uri
            root = resolved.resolver.lookup(target_uri or "#").contents
        except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource, ValueError) as error:
            raise self._error(
                node, f"{uri} cannot be resolved", "nothing is fetched from the network: embed the schema in $defs"
            ) from error
        self._resources.append(Resource(target_uri, root))
        return Node(resolved.contents, self._resources[-1], (None, uri))

    def _get_registry(self) -> Any:
        if self._registry is None:
            import referencing.jsonschema

            specification = getattr(referencing.jsonschema, _SPECIFICATIONS[self.draft])
            resource = specification.create_resource(self.root)
            registry: Any = referencing.Registry().with_resource(self.resource.uri, resource)
            if self.resource.uri:
                registry = registry.with_resource("", resource)
            self._registry = registry.crawl()
        return self._registry

    def follow(self, node: Node) -> Node:
        """Follow `$ref`s until a node that asserts something of its own."""
        for _ in range(_MAX_CHAIN):
            if not self.only_refers(node.schema):
                return node
            node = self.target(node)
        raise self._error(node, "these references lead in a circle", "let one of them point at a schema")

    def only_refers(self, schema: Any) -> bool:
        """Whether a schema asserts nothing but what its `$ref` points at."""
        if type(schema) is not dict or "$ref" not in schema:
            return False
        return len(schema) == 1 or self.draft <= 7 or _SAYS_NOTHING.issuperset(schema)

    def _error(self, node: Node, message: str, hint: str) -> SchemaError:
        return SchemaError(message, pointer=pointer_of((node.path, "$ref")), keyword="$ref", hint=hint)


_SAYS_NOTHING = frozenset(
    (
        "$ref",
        "$defs",
        "definitions",
        "$schema",
        "$id",
        "$comment",
        "$anchor",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    )
)
