"""Schema documents: read the text, find what a reference points at.

A `$ref` that is a plain pointer (`#/$defs/x`) is followed by hand, as that takes a microsecond. All other references
(anchors, embedded documents, relative and absolute URIs) go through `Resources`. Nothing is ever fetched from the
network.

Invariant: what is found is the very object inside the caller's schema, so its identity names it.
Tested by tests/frontends/json_schema/read/test_schema_references.py.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from maskwright._kernel import canonical_bytes as bytes_of
from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError, type_name
from maskwright.frontends.json_schema.options import UNKNOWN_DRAFT, Finding
from maskwright.frontends.json_schema.read.keyword_table import ANNOTATIONS, DEFINITIONS, KEYWORDS
from maskwright.frontends.json_schema.read.malformed import is_uri, malformed_part
from maskwright.frontends.json_schema.read.places import Node, Path, Resource, node_at
from maskwright.frontends.json_schema.read.pointers import described, pointer_of, tokens_of
from maskwright.frontends.json_schema.read.resources import MalformedError, Resources
from maskwright.frontends.json_schema.read.unresolved import hint_for
from maskwright.support import json_mistakes
from maskwright.support.entrances import (
    A_DICT_OR_TEXT,
    A_SCHEMA,
    FROM_YAML,
    OF_A_LIST,
    OR_PASS_REGISTRY,
    USE_EBNF,
    USE_LARK,
)
from maskwright.support.interruption import interrupt_checkpoint

_DRAFTS: Final = {"draft-03": 3, "draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019, "2020-12": 2020}
_LATEST: Final = 2020
_LATEST_URI: Final = "https://json-schema.org/draft/2020-12/schema"
_DRAFT_NUMBER: Final = re.compile(r"draft[-_/. ]?0?([467])(?!\d)", re.IGNORECASE)
_OPENAPI: Final = re.compile(r"https?://spec\.openapis\.org/oas/3\.[1-9]")  # whose dialects are 2020-12 and annotations
_SCALARS: Final = frozenset((str, int, bool, float, type(None)))
_MAX_DEPTH: Final = 2_500
_MAX_CONTAINERS: Final = 1_000_000
_LONG: Final = 50_000  # characters
_LARK: Final = re.compile(r"\s*(?:[?!]?start\s*:|%(?:import|ignore)\b)")
_YAML: Final = re.compile(r"\s*(?:---\s*)?(?:\$schema|title|description|type|properties|enum|anyOf)\s*:")


def read_schema(schema: Any) -> Any:
    """Return the schema as data; a text is parsed, keeping its numbers exact.

    Raises:
        SchemaError: It is not valid JSON, or neither an object nor a boolean.
        LimitError: It nests too deep, or holds a number too long.
    """
    if isinstance(schema, str):
        schema = schema.removeprefix("\ufeff")  # with which some editors begin files
    if isinstance(schema, (str, bytes, bytearray)):
        try:
            hook = _checkpoint_at_object if len(schema) > _LONG else None
            schema = json.loads(schema, parse_float=Decimal, parse_constant=_refuse_constant, object_hook=hook)
        except RecursionError as error:
            hint = "nest fewer objects and arrays in each other"
            raise LimitError("the schema's text nests too deep", limit="recursion", hint=hint) from error
        except SchemaError:
            raise
        except json.JSONDecodeError as error:
            raise SchemaError(
                f"the schema is not valid JSON: {error.msg} (line {error.lineno} column {error.colno})",
                hint=what_else(schema, error.pos) or A_DICT_OR_TEXT,
            ) from error
        except InvalidOperation as error:
            hint = "use a number with a smaller exponent"
            raise LimitError(
                "a number of the schema has too large an exponent", limit="MAX_DIGITS", hint=hint
            ) from error
        except ValueError as error:
            raise SchemaError(f"the schema's text cannot be read: {error}") from error
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(
            f"a schema must be an object or a boolean, not {type(schema).__name__}",
            hint=OF_A_LIST if isinstance(schema, list) else A_SCHEMA,
        )
    check_size(schema)
    return schema


def what_else(text: str | bytes | bytearray, position: int) -> str | None:
    """A hint for text that is not JSON, if its kind or its mistake is recognised."""
    text = text.decode("utf-8", "replace") if not isinstance(text, str) else text
    if "::=" in text:
        return f"this looks like EBNF: {USE_EBNF}"
    if text.endswith(".json"):
        return "this looks like a file name: pass the file's contents"
    if _LARK.match(text):
        return f"this looks like Lark: {USE_LARK}"
    if _YAML.match(text):
        return f"this looks like YAML: {FROM_YAML}"
    return json_mistakes.hint_for(text, position)


def _checkpoint_at_object(made: dict[str, Any]) -> dict[str, Any]:
    interrupt_checkpoint()
    return made


def check_size(schema: Any) -> None:
    """Refuse data that is too deep or too large to work on, before any recursion or copy meets it.

    Parts that are shared count as often as they can be reached: written out, they would be.

    Raises:
        SchemaError: The key of an object is not a string.
        LimitError: There are more than a million objects and arrays, or they nest too deep.
    """
    if bytes_of(schema) is not None:
        return  # which larger or deeper data do not have
    _check_is_schema(schema)
    level, times = [schema], [1]  # parts, and how often each is there
    count, depth = 0, 0
    while level:
        depth += 1
        interrupt_checkpoint()
        below: list[Any] = []
        times_below: list[int] = []
        for whole, often in zip(level, times, strict=True):
            if isinstance(whole, dict):
                _check_keys(whole, schema)
            values = whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ()
            parts = [part for part in values if type(part) not in _SCALARS]
            below += parts
            times_below += [often] * len(parts)
        count += sum(times_below)
        level, times = _each_once(below, times_below)
        if depth > _MAX_DEPTH:
            hint = "nest schemas less deeply; one that contains itself is written with $ref"
            raise LimitError(f"the schema nests deeper than {_MAX_DEPTH} levels", limit="schema_depth", hint=hint)
        if count > _MAX_CONTAINERS:
            hint = "use a smaller schema, or write equal parts once and refer to them by $ref"
            raise LimitError(
                f"the schema has more than {_MAX_CONTAINERS} objects and arrays", limit="schema_size", hint=hint
            )


def _each_once(parts: list[Any], times: list[int]) -> tuple[list[Any], list[int]]:
    """The same parts, those that are shared once."""
    if len(set(map(id, parts))) == len(parts):
        return parts, times
    together: dict[int, int] = {}
    for part, often in zip(parts, times, strict=True):
        together[id(part)] = together.get(id(part), 0) + often
    return list({id(part): part for part in parts}.values()), list(together.values())


def _check_is_schema(schema: Any) -> None:
    """Refuse `{"name": str}`, which as a schema would admit anything."""
    if isinstance(schema, dict) and KEYWORDS.keys().isdisjoint(schema):
        for name, value in schema.items():
            if isinstance(value, type):
                raise SchemaError(
                    f"a dict of Python types is not a JSON Schema: {str(name)[:60]!r} is {type_name(value)}",
                    hint='write {"type": "object", "properties": {"name": {"type": "string"}}}, or pass a TypedDict',
                )


def _check_keys(whole: dict[Any, Any], root: Any) -> None:
    for key in whole:
        if not isinstance(key, str):
            message = f"the key {str(key)[:60]} is not a string"
            raise SchemaError(message, pointer=_pointer_to(whole, root), hint="JSON has strings as keys only")


def _pointer_to(whole: Any, root: Any) -> str:
    """The JSON pointer to a part of the data, whose keys above it are strings."""
    level: list[tuple[Any, Path]] = [(root, None)]
    while level:
        below: list[tuple[Any, Path]] = []
        for part, path in level:
            if part is whole:
                return pointer_of(path)
            if isinstance(part, dict):
                below.extend((value, (path, key)) for key, value in part.items())
            elif isinstance(part, list):
                below.extend((value, (path, str(i))) for i, value in enumerate(part))
        level = below
    return ""


def _refuse_constant(name: str) -> Any:
    raise SchemaError(f"{name} is not a JSON number")


def draft_of(schema: Any) -> int:
    """Return the draft by `$schema`; 2020-12 where it does not say."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    return (_named_draft(uri) if isinstance(uri, str) else None) or _LATEST


def name_of_draft(draft: int) -> str:
    """Return how a draft is called."""
    return f"draft {draft}" if draft < 2019 else {2019: "draft 2019-09", 2020: "draft 2020-12"}[draft]


def _named_draft(uri: str) -> int | None:
    for name, draft in _DRAFTS.items():
        if name in uri:
            return draft
    return None


def unsupported_draft(schema: Any, registry: Any) -> Finding | None:
    """Return what is reported of a `$schema` that names no supported draft, and no metaschema of the registry."""
    if type(schema) is not dict or "$schema" not in schema:
        return None
    uri = schema["$schema"]
    draft = _named_draft(uri) if isinstance(uri, str) else None
    if draft == 3:
        read_as = "the schema is read as draft 4; write it in a later draft"
    elif draft is not None or (isinstance(uri, str) and _is_dialect(uri, registry)):
        return None
    else:
        read_as = f"the schema is read as draft 2020-12; did you mean {_near_uri(uri)!r}?"
    return Finding("/$schema", "$schema", "annotation", f"{UNKNOWN_DRAFT}; {read_as}")


def _is_dialect(uri: str, registry: Any) -> bool:
    """Whether a URI names a dialect of the latest draft, or a metaschema of the caller's."""
    if uri.partition("://")[2].rstrip("#") == "json-schema.org/schema" or _OPENAPI.match(uri):
        return True
    return registry is not None and Document(True, registry).retrieved(uri) is not None


def _near_uri(uri: Any) -> str:
    """The URI of the supported draft that is most likely meant."""
    named = _DRAFT_NUMBER.search(uri) if isinstance(uri, str) else None
    return f"http://json-schema.org/draft-0{named[1]}/schema#" if named else _LATEST_URI


class Document:
    """The root schema, everything embedded in it, and what a registry knows.

    Args:
        root: The schema.
        registry: A `referencing.Registry` of other documents, or None.
        dynamic: Whether nodes remember the documents they were reached through, which `$dynamicRef` asks for.
    """

    def __init__(self, root: Any, registry: Any = None, dynamic: bool = False) -> None:
        self.root = root
        self.draft = draft_of(root)
        self.dynamic = dynamic
        self.id_keyword = "id" if self.draft < 6 else "$id"
        uri = root.get(self.id_keyword) if isinstance(root, dict) else None
        self._resources = Resources(self.draft, registry, dynamic)
        base = urldefrag(uri)[0] if isinstance(uri, str) and is_uri(uri) else ""
        self.resource = self._resources.root(base, root)
        self.node = Node(root, self.resource, None)
        self._targets: dict[tuple[str, int], Node] = {}
        self._ends: dict[tuple[str, int], Node] = {}  # of chains of references: as targets, by each that leads there

    def child(self, parent: Node, schema: Any, path: Path) -> Node:
        """Return the node of a sub-schema, which may be an embedded document."""
        if isinstance(schema, dict) and self.id_keyword in schema:
            return Node(schema, self._entered(parent.resource, schema), path)
        return node_at((schema, parent[1], path))

    def _entered(self, resource: Resource, schema: dict[str, Any], outer: Resource | None = None) -> Resource:
        """The document that a schema with an identifier opens."""
        uri = schema[self.id_keyword]
        # Up to draft 7 a `$ref` hides its siblings, and an `$id` that is only a fragment is an anchor.
        if not isinstance(uri, str) or uri.startswith("#") or (self.draft <= 7 and "$ref" in schema):
            return resource
        if not is_uri(uri):
            return resource  # an error is raised when it is looked up
        return self._resources.entered(urldefrag(urljoin(resource.uri, uri))[0], schema, outer or resource)

    def target(self, node: Node, keyword: str = "$ref") -> Node:
        """Return what a reference of a node points at.

        Raises:
            SchemaError: There is nothing there, or no schema.
        """
        uri = node.schema[keyword]
        if not isinstance(uri, str):
            raise self._error(
                node, f"{keyword} must be a string, not {type(uri).__name__}", "write a URI or #/pointer", keyword
            )
        key = (uri, id(node.resource))
        known = self._targets.get(key)
        if known is None:
            known = self._targets[key] = self._found(node, uri)
        return known

    def retrieved(self, uri: str) -> Any:
        """Return the document with this URI; None if there is none."""
        try:
            return self._resources.retrieved(urldefrag(uri)[0], "")[0]
        except (LookupError, MalformedError):
            return None

    def dynamic_target(self, node: Node) -> Node:
        """Return what a `$dynamicRef` points at: the outermost document on the way here that has such an anchor."""
        target = self.target(node, "$dynamicRef")
        name = urldefrag(node.schema["$dynamicRef"])[1]
        return self._resources.outermost_anchor(name, node, target)

    def recursive_target(self, node: Node) -> Node:
        """Return what a `$recursiveRef` points at: the outermost document of those that pass it on."""
        target = self.target(node, "$recursiveRef")
        return self._resources.outermost_recursive(node, target)

    def _found(self, node: Node, uri: str) -> Node:
        if uri == "#" or uri.startswith("#/"):
            resource, path = node.resource, (None, node.resource.uri)
            return self._by_pointer(node, uri, resource, uri[1:], None if resource.root is self.root else path)
        if not is_uri(uri):
            raise self._error(node, f"{uri:.60} is not a valid URI", "write #/pointer, #anchor or a URI")
        base, fragment = urldefrag(uri)
        base = urljoin(node.resource.uri, base) if base else node.resource.uri
        plain = fragment == "" or fragment.startswith("/")
        try:
            root, place = self._resources.retrieved(base, "" if plain else fragment)
        except MalformedError as error:
            raise self._malformed(node, uri) from error
        except LookupError as missing:  # a name of its own: compiled code gives a name one type in a function
            if self._has_wrong_base(node):
                raise self._malformed(node, uri) from missing
            hint = f"nothing is fetched from the network: embed the schema in $defs{OR_PASS_REGISTRY}"
            hint = hint_for(uri, node.resource.root) or hint
            raise self._error(node, f"{uri} cannot be resolved", hint) from missing
        self._check_dialect(node, uri, root)
        own_uri = root.get(self.id_keyword) if isinstance(root, dict) else None
        if isinstance(own_uri, str) and is_uri(own_uri) and urlsplit(own_uri).scheme:
            base = urldefrag(own_uri)[0]  # a document may be known by another URI as well
        resource = self._resources.entered(base, root, node.resource)
        if plain:
            return self._by_pointer(node, uri, resource, fragment, (None, uri))
        return self._checked(node, uri, Node(place, resource, (None, uri)))

    def _has_wrong_base(self, node: Node) -> bool:
        """Whether what a reference is relative to is the root's identifier, and that is not a URI."""
        own_uri = self.root.get(self.id_keyword) if isinstance(self.root, dict) else None
        return not node.resource.uri and isinstance(own_uri, str) and not is_uri(own_uri)

    def _check_dialect(self, node: Node, uri: str, root: Any) -> None:
        """Refuse a document whose keywords would mean less in the draft of the root schema, in which all are read."""
        if not isinstance(root, dict) or "$schema" not in root:
            return
        draft = draft_of(root)
        if draft > self.draft or (draft == 2019 != self.draft and "$recursiveAnchor" in root):
            raise UnsupportedSchemaError(
                f"{uri:.60} is a document of another draft, with keywords that this schema's draft does not have",
                pointer=pointer_of((node.path, "$ref")),
                keyword="$ref",
                hint="let $schema name the same draft in both",
            )

    def _malformed(self, node: Node, uri: str) -> SchemaError:
        part = malformed_part(self.root, None, self.id_keyword)
        if part is None:
            return self._error(
                node, f"{uri:.60} cannot be resolved: a document is malformed", "correct the documents of the registry"
            )
        message = f"{part.keyword} must be {part.expected}, not {described(part.value)}"
        return SchemaError(message, pointer=pointer_of(part.path), keyword=part.keyword, hint=f"write {part.expected}")

    def _by_pointer(self, node: Node, uri: str, resource: Resource, pointer: str, path: Path) -> Node:
        place: Any = resource.root
        for token in tokens_of(pointer):
            if isinstance(place, dict) and token in place:
                place = place[token]
            elif isinstance(place, list) and token.isdecimal() and int(token) < len(place):
                place = place[int(token)]
            else:
                hint = hint_for(uri, resource.root) or "define it, or correct the pointer"
                raise self._error(node, f"{uri} does not exist", hint)
            path = (path, token)
            if type(place) is dict and self.id_keyword in place:
                resource = self._entered(resource, place, node.resource)
        return self._checked(node, uri, Node(place, resource, path))

    def _checked(self, node: Node, uri: str, found: Node) -> Node:
        if not isinstance(found.schema, (dict, bool)):
            raise self._error(node, f"{uri} is not a schema", "let the reference point at an object or a boolean")
        return found

    def follow(self, node: Node) -> Node:
        """Follow `$ref`s until a node that asserts something of its own."""
        passed: set[tuple[str, int]] = set()
        while self.only_refers(node.schema):
            target = self.target(node)
            key = (node.schema["$ref"], id(node.resource))
            if key in passed:
                raise self._error(node, "these references lead in a circle", "let one of them point at a schema")
            passed.add(key)
            node = self._ends.get(key, target)
        if len(passed) > 1:
            self._ends.update(dict.fromkeys(passed, node))
        return node

    def only_refers(self, schema: Any) -> bool:
        """Whether a schema asserts nothing but what its `$ref` points at."""
        if type(schema) is not dict or "$ref" not in schema:
            return False
        return len(schema) == 1 or self.draft <= 7 or _SAYS_NOTHING.issuperset(schema)

    def _error(self, node: Node, message: str, hint: str, keyword: str | None = None) -> SchemaError:
        keyword = keyword or next((k for k in _REFERENCES if k in node.schema), "$ref")
        return SchemaError(message, pointer=pointer_of((node.path, keyword)), keyword=keyword, hint=hint)


_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_SAYS_NOTHING: Final = ANNOTATIONS | DEFINITIONS | {"$ref", "$schema", "$id", "$anchor"}
