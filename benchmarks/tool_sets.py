"""Tools as servers meet them, as many as wanted and never the same twice: what benchmarks of tool calls compile.

    tools = tool_set(128, seed=7)          in the shape of Chat Completions
    tools = changed(tools, 5, seed=8)      the same with another one in the place of the sixth

The schemas are written as tools' authors and pydantic write them: mostly strings, numbers, booleans and enums with
descriptions; some formats, patterns, bounds, arrays, nested objects; members that may be null, as `anyOf` and as a
list of types; classes in `$defs`; now and then `const`, `oneOf`, a map, or something of another dialect. All names,
enums, descriptions and bounds come from the seed, so nothing that was made of one set is of use to the next but what
the schemas of any two servers share.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

_NOUNS = [
    "account",
    "address",
    "amount",
    "article",
    "author",
    "balance",
    "batch",
    "body",
    "branch",
    "budget",
    "calendar",
    "campaign",
    "card",
    "category",
    "channel",
    "city",
    "comment",
    "company",
    "contact",
    "content",
    "country",
    "currency",
    "customer",
    "date",
    "deadline",
    "department",
    "description",
    "destination",
    "device",
    "document",
    "domain",
    "email",
    "end",
    "event",
    "field",
    "file",
    "filter",
    "folder",
    "format",
    "group",
    "id",
    "image",
    "index",
    "invoice",
    "issue",
    "item",
    "key",
    "label",
    "language",
    "limit",
    "line",
    "link",
    "list",
    "location",
    "log",
    "member",
    "message",
    "metric",
    "mode",
    "model",
    "month",
    "name",
    "note",
    "number",
    "offset",
    "option",
    "order",
    "owner",
    "page",
    "path",
    "payload",
    "phone",
    "plan",
    "port",
    "price",
    "priority",
    "product",
    "profile",
    "project",
    "query",
    "range",
    "rate",
    "reason",
    "region",
    "report",
    "repository",
    "role",
    "room",
    "score",
    "search",
    "section",
    "sender",
    "service",
    "session",
    "size",
    "sort",
    "source",
    "start",
    "state",
    "status",
    "step",
    "subject",
    "table",
    "tag",
    "target",
    "task",
    "team",
    "template",
    "text",
    "thread",
    "time",
    "title",
    "token",
    "topic",
    "type",
    "unit",
    "url",
    "user",
    "value",
    "version",
    "view",
    "volume",
    "week",
    "width",
    "year",
    "zone",
]
_VERBS = [
    "add",
    "archive",
    "book",
    "cancel",
    "check",
    "create",
    "delete",
    "fetch",
    "find",
    "get",
    "list",
    "merge",
    "move",
    "open",
    "post",
    "read",
    "search",
    "send",
    "set",
    "update",
]
_FORMATS = ("date", "date-time", "email", "uri", "uuid", "time")
_PATTERNS = (
    "^[A-Z]{3}$",
    "^[a-z0-9_-]+$",
    r"^\d{4}-\d{2}$",
    "^#[0-9a-fA-F]{6}$",
    r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$",
)


class _Author:
    """Writes the schemas of one set."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.definitions: dict[str, Schema] = {}

    def word(self) -> str:
        return self.rng.choice(_NOUNS)

    def name(self) -> str:
        parts = [self.word() for _ in range(self.rng.choice((1, 1, 2, 2, 3)))]
        return "_".join(parts) + self.rng.choice(("", "", f"_{self.rng.randrange(1000)}"))

    def sentence(self) -> str:
        words = [self.word() for _ in range(self.rng.randrange(4, 16))]
        return f"The {' '.join(words)} ({self.seed}.{self.rng.randrange(10**6)})."

    def tool(self, name: str) -> Schema:
        self.definitions = {}
        parameters = self.object(self.rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 12)), 0)
        if self.definitions:
            parameters["$defs"] = self.definitions
        if self.rng.random() < 0.2:
            parameters["$schema"] = "http://json-schema.org/draft-07/schema#"
        function = {"name": name, "description": self.sentence(), "parameters": parameters}
        return {"type": "function", "function": function}

    def object(self, num_members: int, depth: int) -> Schema:
        properties = {self.name(): self.member(depth) for _ in range(num_members)}
        names = list(properties)
        required = [name for i, name in enumerate(names) if i == 0 or self.rng.random() < 0.5]
        schema: Schema = {"type": "object", "properties": properties, "required": required}
        if self.rng.random() < 0.08:
            del schema["required"]
        if self.rng.random() < 0.3:
            schema["additionalProperties"] = False
        return schema

    def member(self, depth: int) -> Schema:
        kinds = _KINDS if depth < 2 else _SCALARS
        write = self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        schema = write(self, depth)
        if self.rng.random() < 0.85 and "$ref" not in schema:
            schema["description"] = self.sentence()
        if self.rng.random() < 0.2:
            schema["title"] = self.word().title()
        return schema

    def string(self, _: int) -> Schema:
        return {"type": "string"}

    def integer(self, _: int) -> Schema:
        schema: Schema = {"type": "integer"}
        if self.rng.random() < 0.4:
            schema |= {"minimum": self.rng.randrange(3), "maximum": self.rng.randrange(10, 5000)}
        if self.rng.random() < 0.4:
            schema["default"] = self.rng.randrange(3, 10)
        return schema

    def number(self, _: int) -> Schema:
        kind: Schema = {"type": "number"}
        return kind | self.rng.choice(({}, {}, {"minimum": 0, "maximum": 1}, {"exclusiveMinimum": 0}))

    def boolean(self, _: int) -> Schema:
        return {"type": "boolean"} | self.rng.choice(({}, {"default": False}))

    def enum(self, _: int) -> Schema:
        values = sorted({self.name() for _ in range(self.rng.randrange(2, 8))})
        return {"type": "string", "enum": values} if self.rng.random() < 0.9 else {"enum": values}

    def constant(self, _: int) -> Schema:
        return {"const": self.name()} | self.rng.choice(({}, {"type": "string"}))

    def formatted(self, _: int) -> Schema:
        return {"type": "string", "format": self.rng.choice(_FORMATS)}

    def pattern(self, _: int) -> Schema:
        return {"type": "string", "pattern": self.rng.choice(_PATTERNS)}

    def bounded(self, _: int) -> Schema:
        return {"type": "string", "maxLength": self.rng.randrange(20, 400)} | self.rng.choice(({}, {"minLength": 1}))

    def nullable(self, depth: int) -> Schema:
        inner = self.rng.choice((self.string, self.integer, self.number, self.enum, self.formatted))(depth)
        if "enum" not in inner and self.rng.random() < 0.4:
            return inner | {"type": [inner["type"], "null"]}
        return {"anyOf": [inner, {"type": "null"}], "default": None}

    def array(self, depth: int) -> Schema:
        items = self.rng.choice((self.string, self.string, self.integer, self.enum))(depth)
        bounds = self.rng.choice(({}, {}, {"minItems": 1}, {"minItems": 1, "maxItems": self.rng.randrange(2, 20)}))
        return {"type": "array", "items": items, **bounds}

    def array_of_objects(self, depth: int) -> Schema:
        return {"type": "array", "items": self.object(self.rng.randrange(2, 5), depth + 1)}

    def nested(self, depth: int) -> Schema:
        return self.object(self.rng.randrange(1, 5), depth + 1)

    def reference(self, depth: int) -> Schema:
        name = self.name().title().replace("_", "")
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.object(self.rng.randrange(2, 5), 2) | {"title": name}
        target = {"$ref": f"#/$defs/{name}"}
        return self.rng.choice(
            (target, {"type": "array", "items": target}, {"anyOf": [target, {"type": "null"}], "default": None})
        )

    def map(self, depth: int) -> Schema:
        return {"type": "object", "additionalProperties": self.rng.choice((self.string, self.number))(depth)}

    def choice(self, depth: int) -> Schema:
        return {
            self.rng.choice(("oneOf", "anyOf")): [
                self.rng.choice((self.string, self.enum))(depth),
                {"type": "array", "items": self.string(depth)},
            ]
        }

    def unusual(self, _: int) -> Schema:
        pattern = {"type": "string", "pattern": self.rng.choice(_PATTERNS), "maxLength": 60}
        return self.rng.choice((pattern, {"type": "integer", "format": "int32"}, {"type": "string", "nullable": True}))

    def free(self, _: int) -> Schema:
        return self.rng.choice(({}, {"type": "object"}, {"type": "array"}))


_Kinds = tuple[tuple[Callable[[_Author, int], Schema], int], ...]
_SCALARS: _Kinds = (
    (_Author.string, 36),
    (_Author.integer, 12),
    (_Author.number, 6),
    (_Author.boolean, 10),
    (_Author.enum, 9),
    (_Author.formatted, 3),
    (_Author.pattern, 2),
    (_Author.bounded, 2),
    (_Author.nullable, 5),
    (_Author.constant, 1),
)
_KINDS: _Kinds = (
    *_SCALARS,
    (_Author.array, 7),
    (_Author.array_of_objects, 2),
    (_Author.nested, 3),
    (_Author.reference, 2),
    (_Author.map, 1),
    (_Author.choice, 1),
    (_Author.free, 1),
    (_Author.unusual, 1),
)


def tool_set(count: int, seed: int) -> list[Schema]:
    """Return tools, all with different names."""
    author = _Author(seed)
    return [_tool(author, i) for i in range(count)]


def changed(tools: list[Schema], index: int, seed: int) -> list[Schema]:
    """Return the tools with a new one in the place of one of them."""
    return [*tools[:index], _tool(_Author(seed), index), *tools[index + 1 :]]


def renamed(tools: list[Schema], mark: object, index: int | None = None) -> list[Schema]:
    """Return the tools with new names and descriptions of their arguments: all of them, or one."""
    out = list(tools)
    for i in range(len(tools)) if index is None else (index,):
        function = tools[i]["function"]
        parameters = function["parameters"] | {"description": f"Renamed ({mark})."}
        out[i] = tools[i] | {"function": function | {"name": f"{function['name']}_{mark}", "parameters": parameters}}
    return out


def _tool(author: _Author, number: int) -> Schema:
    return author.tool(f"{author.rng.choice(_VERBS)}_{author.name()}_{author.seed}_{number}")
