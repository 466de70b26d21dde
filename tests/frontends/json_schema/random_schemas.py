"""Random schemas over every keyword, random values, and random spellings of a value.

Names, values and patterns are few, so that keywords meet: a schema's constants are values that the instances have, and
the patterns overlap on the names. Everything follows from the seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

NAMES = ["a", "b", "ab", "c", "é", "a/b"]
PATTERNS = ["^a", "b$", "^[ab]+$", "c", "^.$"]
FORMATS = ["date", "ipv4", "uuid", "time", "json-pointer", "duration", "ipv6"]
STRINGS = [
    *NAMES,
    *["", "abc", "aab", "x", "1", "\U0001f600", '"', "2024-02-29", "2023-02-29", "1.2.3.4", "::1", "12:00:00Z", "P1D"],
    "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
]
NUMBERS = [0, 1, 2, 3, 4, 6, 10, -1, -2, 100, *map(Decimal, ("0.5", "1.5", "-0.5", "0.1", "2.25", "1E+3", "1E-7"))]
BOUNDS = [0, 1, 2, 3, 5, -1, -3, 10, *map(Decimal, ("0.5", "1.5", "2.5", "-0.25"))]
MULTIPLES = [1, 2, 3, 5, 7, 10, 25, *map(Decimal, ("0.5", "0.1", "0.25", "1.5", "0.01"))]
SCALARS = [None, True, False, *NUMBERS, *STRINGS]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
DEFINITIONS = ["d0", "d1", "d2"]


class Maker:
    """Makes schemas of draft 2020-12, values, and texts."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.referable = DEFINITIONS  # from here, at the same instance: only forward, so that no circle has no end

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def document(self) -> dict[str, Any]:
        """A schema with definitions, which may refer to each other."""
        root = self.schema(self.rng.choice([1, 2, 2, 3]))
        root = root if isinstance(root, dict) else {"allOf": [root]}
        definitions = {}
        for i, name in enumerate(DEFINITIONS):
            self.referable = DEFINITIONS[i + 1 :]
            definitions[name] = self.schema(self.rng.randint(0, 2))
        return {**root, "$defs": definitions}

    def schema(self, depth: int) -> Any:
        if self.chance(0.06):
            return self.chance(0.6)
        if depth <= 0 or self.chance(0.2):
            return self.leaf()
        out: dict[str, Any] = {}
        groups: list[Callable[[dict[str, Any], int], None]] = [self.members, self.elements, self.branches]
        groups += groups
        groups += [self.condition, self.dependent, self.unevaluated, self.scalar, self.reference]
        for group in self.rng.sample(groups, self.rng.choice([1, 1, 2, 2, 3])):
            group(out, depth - 1)
        if self.chance(0.25):
            self.type(out)
        return out

    # Schemas without sub-schemas

    def leaf(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        self.rng.choice([self.type, self.type, self.finite, self.number, self.string, self.reference])(out)
        if self.chance(0.2):
            self.scalar(out)
        return out

    def scalar(self, out: dict[str, Any], _: int = 0) -> None:
        self.rng.choice([self.type, self.finite, self.number, self.string])(out)

    def type(self, out: dict[str, Any]) -> None:
        out["type"] = self.rng.choice(TYPES) if self.chance(0.6) else self.rng.sample(TYPES, self.rng.randint(1, 3))

    def finite(self, out: dict[str, Any]) -> None:
        if self.chance(0.4):
            out["const"] = self.constant()
        else:
            out["enum"] = [self.constant() for _ in range(self.rng.randint(1, 4))]

    def constant(self) -> Any:
        return self.value(2) if self.chance(0.25) else self.rng.choice(SCALARS)

    def number(self, out: dict[str, Any]) -> None:
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        for keyword in self.rng.sample(bounds, self.rng.choice([0, 1, 1, 2])):
            out[keyword] = self.rng.choice(BOUNDS)
        if self.chance(0.4):
            out["multipleOf"] = self.rng.choice(MULTIPLES)

    def string(self, out: dict[str, Any]) -> None:
        if self.chance(0.4):
            out["minLength"] = self.rng.randint(0, 3)
        if self.chance(0.4):
            out["maxLength"] = self.rng.randint(0, 4)
        if self.chance(0.4):
            out["pattern"] = self.rng.choice(PATTERNS)
        if self.chance(0.2):
            out["format"] = self.rng.choice(FORMATS)

    def reference(self, out: dict[str, Any], _: int = 0) -> None:
        if self.referable:
            out["$ref"] = f"#/$defs/{self.rng.choice(self.referable)}"

    # Sub-schemas

    def inner(self, depth: int) -> Any:
        """The schema of a member or an element."""
        here, self.referable = self.referable, DEFINITIONS
        made = self.schema(depth)
        self.referable = here
        return made

    def members(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.7):
            out["properties"] = {n: self.inner(depth) for n in self.rng.sample(NAMES, self.rng.randint(1, 3))}
        if self.chance(0.3):
            out["required"] = self.rng.sample(NAMES, self.rng.randint(1, 2))
        if self.chance(0.3):
            out["additionalProperties"] = self.inner(depth - 1)
        if self.chance(0.25):
            chosen = self.rng.sample(PATTERNS, self.rng.randint(1, 3))
            out["patternProperties"] = {pattern: self.inner(depth - 1) for pattern in chosen}
        if self.chance(0.15):
            out["minProperties"] = self.rng.randint(0, 3)
        if self.chance(0.2):
            out["maxProperties"] = self.rng.randint(0, 3)
        if self.chance(0.12):
            names: list[Any] = [{"maxLength": 1}, {"pattern": "^a"}, {"enum": ["a", "c"]}, {"not": {"const": "a"}}]
            out["propertyNames"] = self.rng.choice([*names, self.inner(0)])

    def elements(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.4):
            out["prefixItems"] = [self.inner(depth) for _ in range(self.rng.randint(1, 3))]
        if self.chance(0.4):
            out["items"] = self.inner(depth)
        if self.chance(0.4):
            out["contains"] = self.inner(depth)
            if self.chance(0.4):
                out["minContains"] = self.rng.randint(0, 2)
            if self.chance(0.4):
                out["maxContains"] = self.rng.randint(0, 2)
        if self.chance(0.2):
            out["minItems"] = self.rng.randint(0, 3)
        if self.chance(0.25):
            out["maxItems"] = self.rng.randint(0, 3)
        if self.chance(0.2):
            out["uniqueItems"] = True
            if self.chance(0.6):
                out["items"] = {"enum": self.rng.sample(SCALARS, 3)}

    def branches(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.25):
            out["not"] = self.schema(depth)
        else:
            keyword = self.rng.choice(["anyOf", "oneOf", "allOf"])
            out[keyword] = [self.schema(depth) for _ in range(self.rng.randint(1, 3))]

    def condition(self, out: dict[str, Any], depth: int) -> None:
        out["if"] = self.schema(depth)
        for keyword in ("then", "else"):
            if self.chance(0.7):
                out[keyword] = self.schema(depth)

    def dependent(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.5):
            out["dependentSchemas"] = {self.rng.choice(NAMES): self.schema(depth)}
        else:
            out["dependentRequired"] = {self.rng.choice(NAMES): self.rng.sample(NAMES, self.rng.randint(0, 2))}

    def unevaluated(self, out: dict[str, Any], depth: int) -> None:
        out[self.rng.choice(["unevaluatedProperties", "unevaluatedItems"])] = self.inner(depth - 1)

    # Values and texts

    def value(self, depth: int) -> Any:
        kind = self.rng.random()
        if depth <= 0 or kind < 0.3:
            return self.rng.choice(SCALARS)
        if kind < 0.65:
            return {name: self.value(depth - 1) for name in self.rng.sample(NAMES, self.rng.randint(0, 3))}
        return [self.value(depth - 1) for _ in range(self.rng.randint(0, 3))]

    def changed(self, value: Any) -> Any:
        """A value that differs a little: in one element, one member, or one scalar."""
        if isinstance(value, list) and (value or self.chance(0.5)):
            at = self.rng.randint(0, len(value))
            if at < len(value) and self.chance(0.6):
                return [*value[:at], *([self.changed(value[at])] if self.chance(0.7) else []), *value[at + 1 :]]
            return [*value[:at], self.rng.choice(value) if value and self.chance(0.5) else self.value(1), *value[at:]]
        if isinstance(value, dict) and (value or self.chance(0.5)):
            name = self.rng.choice([*value, self.rng.choice(NAMES)])
            rest = {n: v for n, v in value.items() if n != name}
            if name in value and self.chance(0.4):
                return rest
            return {**rest, name: self.changed(value[name]) if name in value else self.value(1)}
        return self.value(1)

    def text(self, value: Any) -> str:
        """One of a value's many texts: members in any order, escapes, white space, spellings of numbers."""
        if isinstance(value, dict):
            members = [f"{self.text(name)}{self.space()}:{self.space()}{self.text(v)}" for name, v in value.items()]
            return "{" + self.listed(self.rng.sample(members, len(members))) + "}"
        if isinstance(value, list):
            return "[" + self.listed(list(map(self.text, value))) + "]"
        if isinstance(value, str):
            return '"' + "".join(map(self.character, value)) + '"'
        if value is None or isinstance(value, bool):
            return json.dumps(value)
        return self.digits(Decimal(value))

    def listed(self, parts: list[str]) -> str:
        return self.space() + f"{self.space()},{self.space()}".join(parts) + self.space()

    def space(self) -> str:
        return self.rng.choice([" ", "\n", "\t", "  "]) if self.chance(0.15) else ""

    def character(self, character: str) -> str:
        if character in '"\\' or character < " " or self.chance(0.15):
            escaped = json.dumps(f"{character}\x7f")[1:-7] if character > "\x7f" else f"\\u{ord(character):04x}"
            return escaped.upper().replace("\\U", "\\u") if self.chance(0.5) else escaped
        return "\\/" if character == "/" and self.chance(0.3) else character

    def digits(self, value: Decimal) -> str:
        plain, form = f"{value:f}", self.rng.random()
        if form < 0.6:
            return plain
        if form < 0.75:
            return plain + ("0" if "." in plain else ".0")
        if form < 0.9:
            return f"{value:E}"
        shift = self.rng.randint(-3, 3)
        return f"{value.scaleb(-shift):f}{self.rng.choice('eE')}{shift}"


def plain_text(value: Any) -> str:
    """As `json.dumps(ensure_ascii=False)`, for exact numbers too, members in their order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain_text(name)}: {plain_text(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(plain_text, value)) + "]"
    return f"{value.normalize():f}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
