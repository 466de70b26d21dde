"""Random schemas and values against python-jsonschema: nothing wrong is accepted, and nothing valid is lost.

Schemas mix applicators, counts, references to what was evaluated, and rules for names, over a few names and values.
A valid value must be accepted in some order of its members, an invalid one in none.
"""

from __future__ import annotations

import os
import random
from itertools import islice
from typing import Any

import jsonschema
import pytest
from grammar_matcher import accepts_text
from suite import spellings

from maskwright.errors import LimitError, UnsatisfiableError, UnsupportedSchemaError
from maskwright.frontends.json_schema import schema_to_ir

ROUNDS = int(4 * float(os.environ.get("MASKWRIGHT_EXHAUSTIVE", "1")))
NAMES = ["a", "b", "ab", "c"]
SIMPLE: list[Any] = [
    True,
    False,
    {"type": "integer"},
    {"type": "string"},
    {"const": 1},
    {"enum": ["a", 2]},
    {"type": ["null", "string"]},
    {"minimum": 2},
    {"multipleOf": 2},
    {"type": "string", "maxLength": 1},
]


class Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def schema(self, depth: int) -> Any:
        if depth <= 0 or self.chance(0.15):
            return self.rng.choice(SIMPLE)
        out: dict[str, Any] = {}
        makers = [self.members, self.members, self.elements, self.elements, self.branches, self.branches]
        makers += [self.condition, self.dependent, self.unevaluated]
        for maker in self.rng.sample(makers, self.rng.choice([1, 1, 2, 2, 3])):
            maker(out, depth - 1)
        return out

    def members(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.7):
            out["properties"] = {n: self.schema(depth) for n in self.rng.sample(NAMES, self.rng.randint(1, 2))}
        if self.chance(0.3):
            out["required"] = self.rng.sample(NAMES, 1)
        if self.chance(0.3):
            out["additionalProperties"] = self.schema(depth - 1)
        if self.chance(0.2):
            out["patternProperties"] = {self.rng.choice(["^a", "b$"]): self.schema(depth - 1)}
        if self.chance(0.15):
            out["minProperties"] = self.rng.randint(0, 3)
        if self.chance(0.2):
            out["maxProperties"] = self.rng.randint(0, 3)
        if self.chance(0.1):
            names = [{"maxLength": 1}, {"pattern": "^a"}, {"enum": ["a", "c"]}, {"not": {"const": "a"}}]
            out["propertyNames"] = self.rng.choice(names)

    def elements(self, out: dict[str, Any], depth: int) -> None:
        if self.chance(0.4):
            out["prefixItems"] = [self.schema(depth) for _ in range(self.rng.randint(1, 2))]
        if self.chance(0.4):
            out["items"] = self.schema(depth)
        if self.chance(0.4):
            out["contains"] = self.schema(depth)
            if self.chance(0.4):
                out["minContains"] = self.rng.randint(0, 2)
            if self.chance(0.4):
                out["maxContains"] = self.rng.randint(0, 2)
        if self.chance(0.2):
            out["minItems"] = self.rng.randint(0, 2)
        if self.chance(0.2):
            out["maxItems"] = self.rng.randint(0, 3)
        if self.chance(0.15):
            out["uniqueItems"], out["items"] = True, {"enum": [1, "a", None]}

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
            out["dependentRequired"] = {self.rng.choice(NAMES): self.rng.sample(NAMES, 1)}

    def unevaluated(self, out: dict[str, Any], depth: int) -> None:
        out[self.rng.choice(["unevaluatedProperties", "unevaluatedItems"])] = self.schema(depth - 1)

    def value(self, depth: int) -> Any:
        kind = self.rng.random()
        if depth <= 0 or kind < 0.3:
            return self.rng.choice([None, True, 1, 2, "a", "ab", "x"])
        if kind < 0.65:
            return {name: self.value(depth - 1) for name in self.rng.sample(NAMES, self.rng.randint(0, 3))}
        return [self.value(depth - 1) for _ in range(self.rng.randint(0, 3))]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_schemas(seed: int) -> None:
    maker = Maker(seed)
    judged = 0
    for _ in range(60):
        schema = maker.schema(3)
        try:
            grammar = schema_to_ir(schema)
        except UnsatisfiableError:
            grammar = None
        except (UnsupportedSchemaError, LimitError):
            continue
        judge = jsonschema.Draft202012Validator(schema)
        for _ in range(10):
            value = maker.value(2)
            texts = islice(spellings(value), 200)
            accepted = [text for text in texts if grammar is not None and accepts_text(grammar, text)]
            assert bool(accepted) == judge.is_valid(value), (schema, value, accepted[:1])
        judged += 1
    assert judged >= 40
