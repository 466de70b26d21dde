"""Resources: the documents that references lead to, by URI, and the dynamic scope.

A resource is a schema document or an embedded one (`$id`). They are found with the `referencing` library, from the
caller's registry if there is one, and the standard's metaschemas from `jsonschema-specifications`. These libraries are
imported on the first reference that is not a plain pointer, since they take longer to import than all of this package.

`$dynamicRef` looks for its anchor in the outermost document that led to the place where it stands. So where a schema
uses it, a `Resource` remembers its scope: the documents on the way with dynamic anchors that none before them has, the
outermost first. They are finite in number, and so are the places of a schema, each being what it says in its scope. For
`$recursiveRef` (2019-09) the scope is the outermost of the documents that pass it on.
Sources: JSON Schema 2020-12 core, sections 7.1 and 8.2.3.2; 2019-09 core, section 8.2.4.2.
Tested by tests/frontends/json_schema/read/test_schema_references.py and test_schema_suite.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from maskwright.frontends.json_schema.read.places import Node, Resource

_SPECIFICATIONS: Final = {3: "DRAFT3", 4: "DRAFT4", 6: "DRAFT6", 7: "DRAFT7", 2019: "DRAFT201909", 2020: "DRAFT202012"}
_STANDARD: Final = ("http://json-schema.org/", "https://json-schema.org/")
_VALUES: Final = frozenset(("enum", "const", "default", "examples"))


class MalformedError(Exception):
    """A document cannot be looked through for what a reference points at."""


class Resources:
    """The documents of one root schema."""

    def __init__(self, draft: int, registry: Any, dynamic: bool) -> None:
        self._draft = draft
        self._given = registry
        self._dynamic = dynamic
        self._registry: Any = None
        self._has_metaschemas = False
        self._root: Resource | None = None
        self._known: dict[tuple[int, tuple[int, ...]], Resource] = {}
        self._by_id: dict[int, tuple[str, Any]] = {}  # keeps what scopes name alive
        self._anchors: dict[int, dict[str, Any]] = {}

    def root(self, uri: str, schema: Any) -> Resource:
        """Return the resource of the whole document."""
        self._root = self.entered(uri, schema, None)
        return self._root

    def entered(self, uri: str, schema: Any, outer: Resource | None) -> Resource:
        """Return the resource with this root, as it is reached from `outer`. There is one for each scope."""
        scope = self._scope(schema, () if outer is None else outer.scope) if self._dynamic else ()
        key = (id(schema), scope)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Resource(uri, schema, scope)
            self._by_id[id(schema)] = (uri, schema)
        return known

    def _scope(self, root: Any, outer: tuple[int, ...]) -> tuple[int, ...]:
        if self._draft == 2019:
            passes_on = isinstance(root, dict) and root.get("$recursiveAnchor") is True
            return (outer or (id(root),)) if passes_on else ()
        taken = [self._dynamic_anchors(self._by_id[before][1]) for before in outer]
        if all(any(name in anchors for anchors in taken) for name in self._dynamic_anchors(root)):
            return outer
        return (*outer, id(root))

    def _dynamic_anchors(self, root: Any) -> dict[str, Any]:
        """The schemas of one resource, without those embedded, that have a `$dynamicAnchor`, by its name."""
        known = self._anchors.get(id(root))
        if known is not None:
            return known
        found: dict[str, Any] = {}
        open_parts = [root]
        while open_parts:
            part = open_parts.pop()
            if isinstance(part, dict):
                if part is not root and isinstance(part.get("$id"), str):
                    continue
                name = part.get("$dynamicAnchor")
                if isinstance(name, str):
                    found.setdefault(name, part)
                open_parts += [value for keyword, value in part.items() if keyword not in _VALUES]
            elif isinstance(part, list):
                open_parts += part
        self._anchors[id(root)] = found
        return found

    def outermost_anchor(self, name: str, node: Node, target: Node) -> Node:
        """Return what a `$dynamicRef` with this fragment points at, given where it would as a `$ref`."""
        if self._dynamic_anchors(target.resource.root).get(name) is not target.schema:
            return target
        for outer in node.resource.scope:
            uri, root = self._by_id[outer]
            schema = self._dynamic_anchors(root).get(name)
            if schema is not None:
                return Node(schema, self.entered(uri, root, node.resource), ((None, uri), f"#{name}"))
        return target

    def outermost_recursive(self, node: Node, target: Node) -> Node:
        """Return what a `$recursiveRef` points at, given where it would as a `$ref`."""
        scope = node.resource.scope
        if not scope or not isinstance(target.schema, dict) or target.schema.get("$recursiveAnchor") is not True:
            return target
        uri, root = self._by_id[scope[0]]
        return Node(root, self.entered(uri, root, None), (None, uri))

    def retrieved(self, uri: str, anchor: str) -> tuple[Any, Any]:
        """Return the root of the document with this URI, and the schema with this anchor in it ("" for the root).

        Raises:
            LookupError: There is none.
            MalformedError: A document is malformed.
        """
        from referencing.exceptions import NoSuchResource, Unresolvable

        try:
            registry = self._registry_for(uri)
            root = registry.get_or_retrieve(uri).value.contents
            place = registry.anchor(uri, anchor).value.resource.contents if anchor else root
        except (Unresolvable, NoSuchResource) as error:
            raise LookupError(uri) from error
        except (AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
            raise MalformedError(uri) from error  # from inside the library: it takes documents to be well-formed
        return root, place

    def _registry_for(self, uri: str) -> Any:
        """The registry; with the standard's metaschemas, if the URI is that of one that the registry does not have."""
        if uri.startswith(_STANDARD) and not self._has_metaschemas and uri not in self._get_registry():
            specifications: Any = import_module("jsonschema_specifications")  # which has no types
            self._registry = specifications.REGISTRY.combine(self._get_registry())
            self._has_metaschemas = True
        return self._get_registry()

    def _get_registry(self) -> Any:
        if self._registry is None:
            import referencing.jsonschema

            assert self._root is not None
            specification = getattr(referencing.jsonschema, _SPECIFICATIONS[self._draft])
            resource = specification.create_resource(self._root.root)
            registry: Any = referencing.Registry() if self._given is None else self._given
            registry = registry.with_resource(self._root.uri, resource)
            if self._root.uri:
                registry = registry.with_resource("", resource)
            self._registry = registry.crawl()
        return self._registry
