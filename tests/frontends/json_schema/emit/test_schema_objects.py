"""Objects: order, commas, names of undeclared members, counts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from frontends.json_schema.checking import check, check_texts
from maskwright.errors import UnsupportedSchemaError
from maskwright.frontends.json_schema import schema_to_ir
from timing import processor_seconds

A_INT = {"a": {"type": "integer"}}

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    ({"type": "object"}, [{}, {"a": 1}, {"a": {"b": [1]}}], [[], None]),
    ({"properties": A_INT}, [{}, {"a": 1}, {"a": 1, "b": "x"}, {"b": 2}, 3], [{"a": "x"}, {"b": 1, "a": "x"}]),
    ({"required": ["a"]}, [{"a": 0}, {"a": 0, "b": 1}, 5], [{}, {"b": 1}]),
    ({"required": ["a"], "additionalProperties": {"type": "null"}}, [{"a": None}], [{"a": 1}, {}]),
    ({"required": ["a"], "additionalProperties": False}, [[]], [{}, {"a": 1}]),
    ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
    ({"properties": {"a": False}, "required": ["a"]}, [1], [{}, {"a": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{}, {"x": 1, "y": 2}], [{"x": "1"}]),
    ({"properties": A_INT, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}, {"a": 1, "b": 1}]),
    ({"properties": {"": {"const": 1}, 'q"\\': {"const": 2}}}, [{"": 1, 'q"\\': 2}], [{"": 2}, {'q"\\': 1}]),
    ({"patternProperties": {"^x": {"const": 1}}}, [{}, {"x": 1, "y": 2, "xx": 1}], [{"x": 2}, {"xx": 3}]),
    (
        {"patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}}, "additionalProperties": False},
        [{"x": 1}, {"xy": 7}, {"y": 5.5}],
        [{"xy": 5.5}, {"xy": 4}, {"z": 1}],
    ),
    (
        {"properties": {"xa": {"minimum": 3}}, "patternProperties": {"^x": {"type": "integer"}}},
        [{"xa": 3}, {"xb": 1}, {"b": "x"}],
        [{"xa": 3.5}, {"xa": 2}, {"xb": 1.5}],
    ),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {}], [{"abc": 1}]),
    ({"propertyNames": {"enum": ["a"]}, "properties": {"b": {}}}, [{"a": 1}, {}], [{"b": 1}, {"c": 1}]),
    ({"propertyNames": False}, [{}], [{"a": 1}]),
    ({"minProperties": 1, "properties": A_INT}, [{"a": 1}, {"b": 1}], [{}]),
    ({"minProperties": 2, "required": ["a", "b"]}, [{"a": 1, "b": 1}], [{"a": 1}, {}]),
    (
        {"minProperties": 2, "properties": {"a": {}, "b": {}}, "additionalProperties": False},
        [{"a": 1, "b": 1}],
        [{"a": 1}],
    ),
    ({"minProperties": 3, "properties": A_INT, "additionalProperties": False}, [1], [{}, {"a": 1}]),
    ({"maxProperties": 0}, [{}, 1], [{"a": 1}]),
    ({"maxProperties": 1, "properties": A_INT}, [{}, {"a": 1}, {"b": "x"}], [{"a": 1, "b": 1}, {"a": "x"}]),
    ({"maxProperties": 1, "minProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 1}]),
    ({"maxProperties": 1, "required": ["a"], "properties": {"b": {}}}, [{"a": 1}], [{"a": 1, "b": 1}, {"b": 1}]),
    ({"maxProperties": 1, "required": ["a", "b"]}, [1], [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}, 3], [{"a": 1}, {"a": 1, "c": 1}]),
    ({"dependencies": {"a": ["b"], "c": {"minProperties": 1}}}, [{"c": 1}, {}], [{"a": 1}]),
    (
        {"dependentSchemas": {"a": {"properties": {"b": {"const": 1}}}}},
        [{"b": 2}, {"b": 1, "a": 0}],
        [{"b": 2, "a": 0}],
    ),
    (
        {"allOf": [{"properties": {"a": {"minimum": 1}}, "additionalProperties": False}, {"properties": {"b": {}}}]},
        [{"a": 1}, {}],
        [{"b": 1}, {"a": 0}],
    ),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{"a": 1}], [{"b": 1}]),
    (
        {"const": {"b": 1, "a": [True]}},
        [{"b": 1, "a": [True]}],
        [{"b": 1}, {"b": 1, "a": [1]}, {"b": 1, "a": [True], "c": 0}],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES, ids=[str(c[0])[:70] for c in CASES])
def test_object(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


@pytest.mark.parametrize("num_members", [1, 2, 3, 4])
@pytest.mark.parametrize("closed", [True, False])
def test_every_choice_of_members(num_members: int, closed: bool) -> None:
    names = "abcd"[:num_members]
    subsets = [s for n in range(num_members + 1) for s in itertools.combinations(names, n)]
    for required in subsets:
        schema: Any = {"type": "object", "properties": {n: {"const": 1} for n in names}, "required": list(required)}
        if closed:
            schema["additionalProperties"] = False
        extras = [{}, {"z": 1}, {"z": 1, "y": 2}]
        valid, invalid = [], []
        for subset in subsets:
            for extra in extras:
                ok = set(required) <= set(subset) and not (closed and extra)
                (valid if ok else invalid).append({**dict.fromkeys(subset, 1), **extra})
        check(schema, valid, invalid)


def test_members_come_in_declared_order_and_once() -> None:
    schema = {"properties": {"b": {}, "a": {}}, "required": ["a"], "additionalProperties": False}
    check_texts(schema, ['{"b":1,"a":2}'], ['{"a":1,"b":2}', '{"a":1,"a":2}', '{"b":1,"b":1,"a":1}', '{"a":1,}', "{,}"])


def test_an_extra_name_never_spells_a_declared_one() -> None:
    schema = {"properties": {"foo": {"type": "integer"}, "a/b": {"const": 1}, "é": {"const": 1}}}
    check_texts(
        schema,
        ['{"foo": 1, "a/b": 1, "é": 1}', '{"fo": "x"}', '{"fooo": "x"}', '{"\\u00e8": 2}', '{"a\\n": 2}', '{"😀": 1}'],
        [
            '{"foo": "x"}',
            '{"\\u0066oo": "x"}',
            '{"f\\u006fo": "x"}',
            '{"a\\/b": 2}',
            '{"\\u00e9": 2}',
            '{"\\u00E9": 2}',
        ],
    )


def test_an_extra_name_never_spells_a_pattern_either() -> None:
    schema = {"patternProperties": {"^é": {"type": "null"}}}
    check_texts(schema, ['{"éa": null}', '{"e": 1}'], ['{"éa": 1}', '{"\\u00e9a": 1}'])


def test_a_thousand_optional_members_are_no_trouble() -> None:
    schema = {"properties": {f"member{i}": {"type": "string"} for i in range(1000)}}
    assert processor_seconds(lambda: schema_to_ir(schema)) < 0.5
    grammar = schema_to_ir(schema)
    assert len(grammar.dump()) < 1_000_000
    check(schema, [{"member3": "x", "member997": "y", "z": 1}, {"member999": ""}], [{"member4": "", "member3": ""}])


def test_nested_optional_objects_stay_linear() -> None:
    sizes = []
    for depth in (10, 20, 40):
        schema: Any = {"type": "integer"}
        for _ in range(depth):
            schema = {"properties": {"a": schema, "b": {"type": "null"}}, "additionalProperties": False}
        sizes.append(len(schema_to_ir(schema).dump()))
    assert sizes[2] < 5 * sizes[1]


def test_very_many_members_come_in_almost_any_order() -> None:
    names = [f"m{i}" for i in range(76)]
    schema = {
        "properties": {name: {"const": i} for i, name in enumerate(names)},
        "required": ["m75"],
        "additionalProperties": False,
    }
    text = "{" + ", ".join(f'"m{i}": {i}' for i in (50, 30, 75, 9, 60, 40, 0)) + "}"
    twice, incomplete = text[:-1] + ', "m9": 9}', text.replace('"m75": 75, ', "")
    check_texts(schema, [text], [twice, incomplete, text.replace(": 50", ": 51")], any_order=True)
    check_texts(schema, [], [text])


def test_patterns_that_overlap_too_much_are_refused_before_all_pairs_are_compared() -> None:
    names = [f"^{a}.*{b}.*{c}$" for a, b, c in itertools.product("abcdef", repeat=3)]

    def refused() -> None:
        with pytest.raises(UnsupportedSchemaError, match="too many of its patterns"):
            schema_to_ir({"patternProperties": {name: {"pattern": name} for name in names}})

    assert processor_seconds(refused) < 1  # all pairs take three
