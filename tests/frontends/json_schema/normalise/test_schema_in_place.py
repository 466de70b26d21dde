"""Sub-schemas in place nest as deep as a schema may be large."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from frontends.json_schema.checking import check
from maskwright import check as report_of
from maskwright.errors import LimitError, MaskwrightError, SchemaError
from maskwright.frontends.json_schema import schema_to_ir

LEVELS = 900


def nested(levels: int, wrap: Callable[[Any], Any], schema: Any) -> Any:
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def chain(levels: int) -> Any:
    definitions = {f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}, {"const": i}]} for i in range(levels)}
    return {"$defs": {**definitions, f"a{levels}": {"type": "null"}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("wrap", "valid", "invalid"),
    [
        (lambda inner: {"anyOf": [inner, {"const": "x"}]}, [None, "x"], ["y", 0]),
        (lambda inner: {"allOf": [inner, {"type": ["object", "null"]}]}, [None], ["x", {}]),
        (lambda inner: {"not": inner}, [None], ["x"]),
        (lambda inner: {"oneOf": [inner, {"type": "string", "minLength": 3}]}, [None], ["ab", "abc"]),
        (lambda inner: {"dependentSchemas": {"a": inner}}, [{"b": 1}, "x"], [{"a": 1}]),
        (lambda inner: {"if": {"type": "string"}, "then": inner, "else": {"type": "integer"}}, [5], ["x", None]),
    ],
)
def test_keywords_in_place_nest_deep(wrap: Callable[[Any], Any], valid: list[Any], invalid: list[Any]) -> None:
    check(nested(LEVELS, wrap, {"type": "null"}), valid, invalid)


def test_references_in_place_nest_deep() -> None:
    check(chain(LEVELS), [None, 0, LEVELS - 1], [LEVELS, "x"])
    assert report_of(chain(LEVELS)).verdict == "enforced"


def test_a_long_circle_is_still_one() -> None:
    definitions = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{(i + 1) % LEVELS}"}]} for i in range(LEVELS)}
    with pytest.raises(SchemaError, match="refers to itself at the same instance"):
        schema_to_ir({"$defs": definitions, "allOf": [{"$ref": "#/$defs/a0"}]})


@pytest.mark.parametrize("draft", ["draft-04", "draft-07", "draft/2020-12"])
@pytest.mark.parametrize("length", [1, 2])
def test_a_circle_beside_what_a_reference_hides(draft: str, length: int) -> None:
    """Up to draft 7, what stands next to each `$ref` is looked at, in search of its end."""
    definitions = {f"a{i}": {"$ref": f"#/definitions/a{(i + 1) % length}"} for i in range(length)}
    schema = {"$schema": f"http://json-schema.org/{draft}/schema#", "definitions": definitions, "title": "a"}
    for part in ({"$ref": "#/definitions/a0"}, {"items": {"$ref": "#/definitions/a0", "type": "object"}}):
        with pytest.raises(SchemaError, match=r"lead in a circle|refers to itself at the same instance"):
            schema_to_ir({**schema, **part})


def test_a_mistake_deep_inside_has_its_pointer() -> None:
    schema = nested(LEVELS, lambda inner: {"anyOf": [inner]}, {"type": "nul"})
    with pytest.raises(SchemaError) as caught:
        schema_to_ir(schema)
    assert caught.value.pointer == "/anyOf/0" * LEVELS + "/type"


def test_work_is_limited() -> None:
    with pytest.raises(LimitError):
        schema_to_ir(nested(LEVELS, lambda inner: {"anyOf": [inner, {"not": inner}]}, {"type": "null"}))


ARRAYS = {"type": "array", "items": {"type": "string"}, "minItems": 1}


def outcome(schema: Any) -> str:
    try:
        schema_to_ir(schema)
    except LimitError as error:
        return error.limit
    except MaskwrightError as error:
        return type(error).__name__
    return "result"


@pytest.fixture
def little_stack() -> Iterator[Callable[[int], None]]:
    before = sys.getrecursionlimit()
    yield lambda frames: sys.setrecursionlimit(len(inspect.stack(0)) + frames)
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"oneOf": [{"type": "array", "items": inner, "minItems": 1}, ARRAYS]},
        lambda inner: {
            "oneOf": [
                {"type": "object", "properties": {"a": inner}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            ]
        },
        lambda inner: {"not": {"oneOf": [{"type": "array", "items": inner}, {"type": "array", "minItems": 1}]}},
        lambda inner: {"not": {"type": "object", "properties": {"a": {"not": inner}}, "required": ["a"]}},
        lambda inner: {"type": "array", "contains": {"not": inner}, "minContains": 2},
        lambda inner: {"type": "object", "propertyNames": {"not": {"const": "a"}}, "additionalProperties": inner},
        lambda inner: {"type": "string", "pattern": "^a", "not": inner},
    ],
)
@pytest.mark.parametrize("levels", [30, 400])
def test_half_of_the_stack_suffices(
    levels: int, wrap: Callable[[Any], Any], little_stack: Callable[[int], None]
) -> None:
    schema = nested(levels, wrap, {"type": "integer"})
    expected = outcome(schema)
    assert expected != "recursion"
    little_stack(500)
    assert outcome(schema) == expected


def test_a_stack_that_is_used_up_is_told(little_stack: Callable[[int], None]) -> None:
    schema = nested(30, lambda inner: {"oneOf": [{"type": "array", "items": inner, "minItems": 1}, ARRAYS]}, True)
    little_stack(60)
    assert outcome(schema) in {"recursion", "result"}  # compiled front-ends need none of Python's stack
