"""`oneOf`, exactly: branches that exclude each other, and branches that overlap."""

from __future__ import annotations

from typing import Any

import pytest

from frontends.json_schema.checking import check
from maskwright.errors import UnsupportedSchemaError
from maskwright.frontends.json_schema import Finding, JsonSchemaOptions, schema_to_ir

A, B = {"required": ["a"]}, {"required": ["b"]}


def kind(name: str, **more: Any) -> Any:
    return {"properties": {"kind": {"const": name}, **more}, "required": ["kind"], "type": "object"}


OPTIONAL_KINDS = [
    {"properties": {"kind": {"enum": [f"k{i}"]}, f"m{i}": {"type": "integer"}}, "type": "object"} for i in range(9)
]
REQUIRED_KIND = {"type": "object", "required": ["kind"]}

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [1.5, None]),
    ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, [1.5], [1, "a"]),
    ({"oneOf": [{"const": 1}, {"enum": [2, "x"]}, {"type": "null"}]}, [1, 2, "x", None], [3]),
    ({"oneOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, [1, 3], [2, 4]),
    ({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ["a", "c"], ["b", "d"]),
    ({"oneOf": [{"maximum": 3}, {"minimum": 2}], "type": "number"}, [1, 4], [2, 2.5, 3]),
    ({"oneOf": [{"maximum": 3}, {"exclusiveMinimum": 3}], "type": "number"}, [1, 3, 3.1], []),
    (
        {
            "oneOf": [
                {"minimum": 20, "maximum": 25},
                {"type": "integer", "minimum": 0, "maximum": 10},
                {"maximum": 3},
                {"exclusiveMinimum": 10, "maximum": 20},
                {"minimum": 30},
                {"enum": [2.5, 22, 100]},
            ],
            "type": "number",
        },
        [-1, 0.5, 4, 10, 10.5, 21, 25, 30.5],
        [0, 2, 2.5, 3, 3.5, 20, 22, 26, 100],
    ),
    (
        {"oneOf": [{"type": "string", "pattern": "^a"}, {"enum": ["b", 1, "ab"]}, {"type": ["integer", "null"]}]},
        ["ac", "b", 2, None],
        ["ab", 1, "c", 1.5],
    ),
    ({"oneOf": [{"maxLength": 2}, {"minLength": 2}], "type": "string"}, ["a", "abc"], ["ab"]),
    ({"oneOf": [{"pattern": "^a"}, {"pattern": "b$"}], "type": "string"}, ["a", "b", "ac"], ["ab", "c"]),
    (
        {"oneOf": [{"format": "date"}, {"maxLength": 3}], "type": "string"},
        ["2020-01-01", "abc"],
        ["2020-13-01", "abcd"],
    ),
    ({"oneOf": [True, True]}, [], [1]),
    ({"oneOf": [True, False]}, [1], []),
    ({"oneOf": [{"type": "null"}]}, [None], [1]),
    (
        {"oneOf": [kind("x", a={"type": "integer"}), kind("y")]},
        [{"kind": "x", "a": 1}, {"kind": "y", "a": "s"}],
        [{"kind": "x", "a": "s"}, {"kind": "z"}],
    ),
    ({"type": "object", "oneOf": [A, B]}, [{"a": 1}, {"b": 1}], [{}, {"a": 1, "b": 1}]),
    (  # what tells the branches apart is required beside them
        {"allOf": [{"title": "t", "oneOf": OPTIONAL_KINDS}, {"properties": {"z": {"type": "null"}}}], **REQUIRED_KIND},
        [{"kind": f"k{i}", f"m{i}": i} for i in range(9)] + [{"kind": "k1", "z": None, "m2": "x"}],
        [{"kind": "k1", "m1": "x"}, {"m1": 1}, {"kind": "k1", "z": 1}, {"kind": "k9"}, 1],
    ),
    (  # or it is not
        {"type": "object", "allOf": [{"oneOf": OPTIONAL_KINDS[:2]}]},
        [{"kind": "k1", "m1": 1}, {"kind": "k0"}, {"m1": 1, "m0": "x"}],
        [{}, {"kind": "k1", "m1": "x"}, {"m1": 1}],
    ),
    (
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "oneOf": [A, B]},
        [{"a": 1, "c": 1}, {"b": 1}],
        [{"c": 1}, {"a": 1, "b": 1}],
    ),
    (
        {
            "properties": {"k": {"enum": [1, 2]}},
            "required": ["k"],
            "oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}],
        },
        [{"k": 1}, {"k": 2}],
        [{"k": 3}, {}, 5],
    ),
    (
        {"oneOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {"type": ["null", "string"]}}}]},
        [{"a": "x"}],
        [{"a": None}, {}, {"a": 1}],
    ),
    (
        {
            "oneOf": [{"items": {"type": "null"}, "minItems": 1}, {"items": {"type": "string"}, "minItems": 1}],
            "type": "array",
        },
        [[None], ["a"]],
        [[], [None, "a"]],
    ),
    ({"oneOf": [{"maxItems": 1}, {"minItems": 3}], "type": "array"}, [[], [1], [1, 2, 3]], [[1, 2]]),
    (
        {
            "oneOf": [
                {"type": "array", "prefixItems": [{"const": 1}], "minItems": 1},
                {"type": "array", "prefixItems": [{"const": 2}]},
            ]
        },
        [[1], [2], []],
        [[3]],
    ),
    (
        {"oneOf": [{"maxProperties": 1}, {"required": ["a", "b"]}], "type": "object"},
        [{}, {"x": 1}, {"a": 1, "b": 2}],
        [{"x": 1, "y": 2}],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES, ids=[str(c[0])[:80] for c in CASES])
def test_one_of(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    check(schema, valid, invalid)


def test_recursive_branches_are_told_apart() -> None:
    schema = {
        "$defs": {
            "e": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"not": {"$ref": "#/$defs/e"}},
                        "required": ["not"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"var": {"type": "string"}},
                        "required": ["var"],
                        "additionalProperties": False,
                    },
                ]
            }
        },
        "$ref": "#/$defs/e",
    }
    check(schema, [{"var": "x"}, {"not": {"not": {"var": "x"}}}], [{"not": {}}, {"var": 1}, {"not": 1}])


def test_overlapping_branches_without_an_exact_form_are_refused_or_reported() -> None:
    schema = {"items": {"oneOf": [{"uniqueItems": True}, {"minItems": 1}]}}
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_ir(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("/items/oneOf", "oneOf")
    report: list[Finding] = []
    schema_to_ir(schema, JsonSchemaOptions(on_unsupported="relax"), report)
    assert "/items/oneOf" in [f.pointer for f in report]


def test_many_branches_by_name() -> None:
    schema = {"oneOf": [kind(f"k{i}", v={"const": i}) for i in range(150)]}
    check(schema, [{"kind": "k3", "v": 3}, {"kind": "k149", "v": 149}], [{"kind": "k3", "v": 4}, {"kind": "k150"}])


def test_branches_that_overlap_without_their_tag() -> None:
    def branch(i: int) -> dict[str, Any]:
        return {"properties": {"tag": {"const": i}, "name": {"maxLength": 5}, "value": {"minimum": i}}}

    schema = {"type": "object", "oneOf": [branch(i) for i in range(12)]}
    check(schema, [{"tag": 3, "value": 7}, {"value": 0}, {"tag": 0}], [{}, {"value": 5}, {"name": "a"}, {"tag": 12}])


def test_branches_that_overlap_only_where_their_tag_is_absent() -> None:
    names = "abcdef"

    def branch(i: int) -> dict[str, Any]:
        return {"properties": {"tag": {"const": i}, **{name: {"minimum": i} for name in names}}}

    tagged = {"type": "object", "dependentSchemas": {"tag": {"oneOf": [branch(i) for i in range(4)]}}}
    check(tagged, [{}, {"tag": 2, "a": 2}, {"a": -1}, {"tag": 0}], [{"tag": 2, "a": 1}, {"tag": 4}])
    required = {**tagged, "required": ["tag"]}
    check(required, [{"tag": 2, "a": 2}, {"tag": 0}], [{}, {"tag": 2, "a": 1}, {"tag": 4}])
    alternatives = {**required, "dependentSchemas": {"tag": {"anyOf": [branch(i) for i in range(4)]}}}
    assert len(schema_to_ir(required).rules) == len(schema_to_ir(alternatives).rules)


def test_branches_of_which_each_requires_a_member_of_its_own() -> None:
    schema = {"oneOf": [{"required": [name], "properties": {name: {"type": "integer"}}} for name in "abcdefghij"]}
    check({"type": "object", **schema}, [{"a": 1}, {"a": 1, "b": ""}], [{"a": 1, "b": 1}, {"a": ""}, {}])


def test_closed_branches_overlap_only_in_what_both_declare() -> None:
    branches = [
        {"properties": {f"k{i}": {"type": "null"}, "x": {}}, "additionalProperties": False, "type": "object"}
        for i in range(9)
    ]
    check({"oneOf": branches}, [{"k3": None}, {"k8": None, "x": 1}], [{}, {"x": 1}, {"k1": None, "k2": None}])


def test_members_written_alike_are_not_told_apart() -> None:
    def branch(**more: Any) -> dict[str, Any]:
        tags = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}  # its complement has no exact form
        return {"type": "object", "properties": {"tags": tags, **more}, "additionalProperties": False}

    schema = {"oneOf": [branch(a={"type": "null"}), branch(b={"type": "null"}), branch()]}
    check(schema, [{"a": None}, {"tags": [1], "b": None}], [{}, {"tags": [1]}, {"a": None, "b": None}, {"a": 1}])


def test_what_is_written_alike_may_refer_to_different_schemas() -> None:
    def branch(uri: str, target: Any) -> dict[str, Any]:
        alike = {"type": "array", "items": {"$ref": "#/$defs/t"}}
        return {"$id": uri, "$defs": {"t": target}, "required": ["a"], "properties": {"a": alike}}

    branches = [branch("http://one/", {"type": "null"}), branch("http://two/", {"type": ["null", "string"]})]
    check({"type": "object", "oneOf": branches}, [{"a": ["s"]}, {"a": [None, "s"]}], [{"a": [None]}, {"a": []}, {}])


def test_finite_sets_lose_what_other_branches_take() -> None:
    countries = {"type": "string", "enum": ["a", "b", "c", "d"]}
    branches = [{"properties": {"k": {"enum": [name]}}} for name in "abc"]
    schema = {"type": "object", "required": ["k"], "properties": {"k": countries}, "not": {"anyOf": branches}}
    check(schema, [{"k": "d"}], [{"k": "a"}, {"k": "c"}, {"k": "e"}, {}])
    open_set = {"type": "string", "minLength": 1, "not": {"enum": ["a", "b"]}, "allOf": [{"not": {"const": "c"}}]}
    check(open_set, ["d", "ab"], ["a", "b", "c", ""])


NAMES = [f"v{i}" for i in range(1000)]
PET = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"oneOf": [{"const": name, "title": name} for name in NAMES]}, ["v0", "v999"], ["v1000", 0]),
        ({"oneOf": [{"const": name} for name in [*NAMES, "v7"]]}, ["v6", "v8"], ["v7"]),
        ({"oneOf": [{"const": name} for name in NAMES] + [{"type": "integer"}]}, ["v1", 1], ["1", 1.5]),
        ({"oneOf": [{"const": i} for i in range(1000)] + [{"enum": [1, True]}]}, [0, 999, True], [1, 1000, False]),
        (
            {"oneOf": [kind(name, more={"type": "integer"}) for name in NAMES] + [{"type": "null"}]},
            [{"kind": "v0", "more": 1}, None],
            [{"kind": "v1000"}, {"kind": "v0", "more": "x"}],
        ),
        (
            {"oneOf": [{**PET, "properties": {"kind": {"const": i}}} for i in range(1000)]},
            [{"kind": 0}, {"kind": 999}],
            [{"kind": "0"}, {"kind": 1000}],
        ),
        (
            {"oneOf": [{"allOf": [{"$ref": "#/$defs/P"}, kind(name)]} for name in NAMES], "$defs": {"P": PET}},
            [{"kind": "v0"}, {"kind": "v999"}],
            [{"kind": "v1000"}, {}],
        ),
    ],
    ids=["strings", "one twice", "and integers", "numbers", "tags and null", "numbers as tags", "inherited tags"],
)
def test_hundreds_of_branches_are_told_apart(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    """As countries with their titles."""
    check(schema, valid, invalid)
