"""`not` and `if`: complements by type."""

from __future__ import annotations

from typing import Any

import pytest

from frontends.json_schema.checking import check, check_texts
from maskwright.errors import UnsupportedSchemaError
from maskwright.frontends.json_schema import schema_to_ir
from maskwright.frontends.json_schema.normalise.complement import MAX_EXCLUSIONS


def closed(*required: str, **properties: Any) -> Any:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


INTEGER, STRING = {"type": "integer"}, {"type": "string"}
OPEN_A = {"type": "object", "properties": {"a": INTEGER}}
BY_NAME = [closed("a", a=INTEGER, n=STRING), closed("b", b=INTEGER, n=STRING), closed("c", "n", c=STRING, n=INTEGER)]
IN_COMMON = [closed("k", k={"const": i}, n=STRING, **{f"m{j}": INTEGER for j in range(9)}) for i in range(9)]

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    ({"not": {}}, [], [1, None]),
    ({"not": False}, [1, None, "a", [], {}], []),
    ({"not": {"type": "string"}}, [1, None, {}], ["a"]),
    ({"not": {"type": "integer"}}, [1.5, "a", -0.25], [1, -3]),
    ({"not": {"type": ["boolean", "null"]}}, [1, "a"], [True, None]),
    ({"not": {"const": True}}, [False, None, 1], [True]),
    ({"not": {"enum": [1, 2, "a"]}}, [0, 1.5, 3, "b", None], [1, 2, "a"]),
    ({"not": {"minimum": 2, "maximum": 5}}, [1, 6, 1.99], [2, 5, 3.3, "a"]),
    ({"type": "number", "not": {"exclusiveMinimum": 2}}, [2, -1], [2.1, 3]),
    ({"type": "string", "not": {"minLength": 2}}, ["", "a"], ["ab"]),
    ({"type": "string", "not": {"minLength": 2, "maxLength": 3}}, ["a", "abcd"], ["ab", "abc"]),
    ({"type": "string", "not": {"pattern": "^a"}}, ["", "ba"], ["a", "ab"]),
    ({"type": "string", "not": {"format": "ipv4"}}, ["x", "1.2.3"], ["1.2.3.4"]),
    ({"type": "string", "not": {"pattern": "^a", "maxLength": 2}}, ["b", "abc"], ["a", "ab"]),
    ({"not": {"not": {"minLength": 2, "uniqueItems": False}}}, ["ab", 1], ["a"]),
    ({"type": "object", "not": {"required": ["a", "b"]}}, [{}, {"a": 1}, {"b": 1}], [{"a": 1, "b": 1}]),
    (
        {"type": "object", "not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        [{}, {"c": 1}],
        [{"a": 1}, {"b": 1}],
    ),
    (
        {"type": "object", "properties": {name: {} for name in "abcn"}, "not": {"anyOf": BY_NAME}},
        [{}, {"a": "x"}, {"a": 1, "n": 1}, {"a": 1, "b": 1}, {"b": 1, "x": 1}, {"c": "x"}, {"c": "x", "n": "x"}],
        [{"a": 1}, {"a": 1, "n": "x"}, {"b": 1}, {"b": 1, "n": "x"}, {"c": "x", "n": 1}],
    ),
    (
        {"type": "object", "not": {"anyOf": IN_COMMON}},
        [{}, {"k": 9}, {"k": 8, "n": 1}, {"k": 0, "x": 1}, {"k": 3, "m4": "x"}, {"n": "x", "m1": 2}],
        [{"k": 8}, {"k": 0, "n": "x"}, {"k": 3, "n": "x", "m0": 1, "m8": 1}],
    ),
    (  # the second is all that they have in common
        {"type": "object", "not": {"anyOf": [{"required": ["a"], **OPEN_A}, OPEN_A]}},
        [{"a": "x"}, {"a": None, "b": 1}],
        [{}, {"a": 1}, {"b": 1}],
    ),
    ({"not": {"properties": {"a": {"const": 1}}}}, [{"a": 2}], [{"a": 1}, {}, 3]),
    ({"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}}, [{"a": 2}, {}], [{"a": 1}, 3]),
    ({"not": {"properties": {"a": False}}}, [{"a": 2}], [{}, 3]),
    ({"type": "array", "not": {"minItems": 2}}, [[], [1]], [[1, 2]]),
    ({"type": "array", "not": {"maxItems": 1}}, [[1, 2]], [[], [1]]),
    ({"type": "array", "not": {"prefixItems": [{"const": 1}]}}, [[2], [2, 1]], [[1], [], [1, 2]]),
    ({"type": "array", "not": {"items": False}}, [[2]], [[]]),
    ({"type": "array", "not": {"items": {"const": 1}, "maxItems": 2}}, [[2], [1, 2], [1, 1, 1]], [[1], [], [1, 1]]),
    ({"if": {"type": "string"}, "then": {"maxLength": 1}, "else": {"type": "null"}}, ["a", None], ["ab", 1]),
    ({"if": {"const": 1}, "then": False}, [2, "a"], [1]),
    ({"if": {"const": 1}, "else": False}, [1], [2, "a"]),
    ({"if": False}, [1], []),
    (
        {
            "type": "object",
            "properties": {"k": {"enum": ["x", "y"]}, "v": {}},
            "required": ["k"],
            "if": {"properties": {"k": {"const": "x"}}},
            "then": {"required": ["v"]},
            "else": {"properties": {"v": False}},
        },
        [{"k": "x", "v": 1}, {"k": "y"}],
        [{"k": "x"}, {"k": "y", "v": 1}, {"k": "z"}],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES, ids=[str(c[0])[:80] for c in CASES])
def test_complement(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


def test_many_conditions_on_one_member_do_not_multiply() -> None:
    rules = [
        {"if": {"properties": {"k": {"const": i}}, "required": ["k"]}, "then": {"properties": {"v": {"const": -i}}}}
        for i in range(1, 25)
    ]
    check(
        {"type": "object", "properties": {"k": {"type": "integer"}, "v": {}}, "allOf": rules},
        [{"k": 3, "v": -3}, {"k": 24, "v": -24}, {"k": 50, "v": "any"}, {"v": 1}],
        [{"k": 3, "v": 4}],
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"uniqueItems": True}},
        {"not": {"format": "idn-email"}},
        {"if": {"uniqueItems": True}, "then": {"type": "array"}},
    ],
    ids=str,
)
def test_what_has_no_exact_complement_is_refused(schema: Any) -> None:
    with pytest.raises(UnsupportedSchemaError):
        schema_to_ir(schema)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"not": {"minProperties": 1}}, [{}], [{"a": 1}, 1]),
        ({"not": {"maxProperties": 1}, "required": ["a"]}, [{"a": 1, "b": 1}], [{"a": 1}]),
        ({"not": {"additionalProperties": False, "properties": {"a": True}}}, [{"a": 1, "b": 1}], [{}, {"a": 1}]),
        ({"not": {"additionalProperties": {"type": "null"}}}, [{"a": None, "b": 1}], [{}, {"a": None}, 1]),
        ({"not": {"patternProperties": {"^a": {"type": "null"}}}}, [{"b": 1, "ax": 1}], [{"b": 1}, {"ax": None}]),
        ({"not": {"propertyNames": {"maxLength": 1}}}, [{"a": 1, "bb": 1}], [{}, {"a": 1}]),
        ({"not": {"propertyNames": {"not": {"const": "a"}}}}, [{"a": 1}, {"a": 1, "b": 2}], [{}, {"b": 1}]),
        (
            {"properties": {"a": {}, "b": {}}, "not": {"additionalProperties": {"type": "null"}}},
            [{"a": 1}, {"a": None, "b": 1}, {"x": None, "y": 1}],
            [{"a": None, "b": None, "x": None}],
        ),
    ],
    ids=str,
)
def test_some_member_violates(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


def test_no_later_member_takes_the_place_of_a_witness() -> None:
    schema = {"not": {"additionalProperties": {"type": "null"}}}
    check_texts(schema, ['{"a": null, "a": 1}'], ['{"a": 1, "a": null}', '{"a": 1, "b": null}'])


def test_what_might_be_in_a_format_is_not_outside_of_it() -> None:
    check({"type": "string", "not": {"format": "email"}}, ["", "a", "a@b c"], ["a@b.c", "a@xn--zca.de"])
    check({"type": "string", "not": {"format": "time"}}, ["24:00:00Z"], ["12:00:00Z", "12:07:60Z"])
    check({"not": {"not": {"format": "hostname"}, "type": "string"}}, ["a.b", 1], ["a..b"])
    check({"oneOf": [{"const": "xn--zca"}, {"type": "string", "format": "hostname"}]}, ["a"], ["xn--zca"])


@pytest.mark.parametrize("levels", [MAX_EXCLUSIONS, MAX_EXCLUSIONS + 1])
def test_strings_exclude_each_other_so_deep(levels: int) -> None:
    schema: Any = {"type": "string", "pattern": "^a{" + str(levels) + "}"}
    for length in reversed(range(levels)):
        schema = {"type": "string", "pattern": "^a{" + str(length) + "}", "not": schema}
    if levels > MAX_EXCLUSIONS:
        with pytest.raises(UnsupportedSchemaError, match="the negation of this schema cannot be expressed exactly"):
            schema_to_ir(schema)
    else:
        check(schema, ["", "aa", "b", "a" * levels], ["a", "aaa", "a" * (levels - 1)])


def test_one_member_may_violate_several_rules_at_once() -> None:
    def rule(most: int) -> dict[str, Any]:
        return {"type": "object", "patternProperties": {"^a": {"type": "integer", "maximum": most}}}

    neither = {"allOf": [{"not": rule(10)}, {"not": rule(100)}], "type": "object"}
    check(neither, [{"ax": 200}, {"ax": ""}], [{"ax": 50}, {}, {"x": 200}])
    check({"oneOf": [rule(10), rule(100)]}, [{"ax": 50}], [{"ax": 5}, {"ax": 200}, {}])
