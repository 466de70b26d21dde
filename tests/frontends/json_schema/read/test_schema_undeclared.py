"""Required members that are declared under nearly the same name only."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
from labels import label
from maskwright import Grammar, SchemaWarning
from maskwright.frontends.json_schema.read.undeclared import undeclared


def schema(declared: list[str], required: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(declared, True), "required": required, **more}


@pytest.mark.parametrize(
    ("declared", "required", "found"),
    [
        (["first_name"], ["firstName"], [(0, "firstName", "first_name")]),
        (["id", "repostitory"], ["id", "repository"], [(1, "repository", "repostitory")]),
        (["City", "zip-code"], ["zipCode", "city"], [(0, "zipCode", "zip-code"), (1, "city", "City")]),
    ],
)
def test_near_misses_give_a_warning(
    declared: list[str], required: list[str], found: list[tuple[int, str, str]]
) -> None:
    made = schema(declared, required)
    assert undeclared(made) == found
    with pytest.warns(SchemaWarning, match="required, but not declared"):
        report = Grammar.from_json_schema({"items": made}).report
    assert report == tuple(
        (
            f"/items/required/{i}",
            "required",
            "enforced",
            f"required, but not declared: {name!r}; did you mean {meant!r}?",
        )
        for i, name, meant in found
    )
    assert [k.pointer for k in maskwright.check({"items": made}).warnings] == ["/items/required"]


@pytest.mark.parametrize(
    "made",
    [
        schema(["first_name"], ["first_name"]),
        schema(["distances"], ["distances", "distance"]),
        schema(["max_date"], ["min_date"]),
        schema(["line1"], ["line2"]),
        schema(["start_date"], ["end_date"]),
        schema(["latitude"], ["longitude"]),
        schema([], ["a"]),
        schema(["first_name"], ["firstName"], patternProperties={"^first": True}),
        schema(["first_name"], ["firstName"], anyOf=[{"properties": {"firstName": {"type": "null"}}}, True]),
        schema(["a" * 100_000], ["a" * 99_999]),
        {"required": ["a"]},
    ],
    ids=label,
)
def test_what_may_be_meant_gives_none(made: dict[str, Any]) -> None:
    assert undeclared(made) == []
    assert Grammar.from_json_schema(made).report == ()


def test_of_many_names_some_are_compared() -> None:
    names = [f"name_of_{i}" for i in range(20_000)]
    assert len(undeclared(schema([f"{name}_x" for name in names], names))) == 8
