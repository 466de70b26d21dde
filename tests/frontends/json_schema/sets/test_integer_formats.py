"""Formats of integers are bounds: `int64` holds identifiers beyond what doubles count in ones."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from frontends.json_schema.checking import check_texts
from labels import label
from maskwright import Grammar, UnsatisfiableError, check
from maskwright.frontends.json_schema.sets.formats import INTEGER_FORMATS

SAFE = 2**53 - 1
LIMITS = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}


def texts(*numbers: int) -> list[str]:
    return [str(number) for number in numbers]


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("numbers", ["plain", "digits", "any"])
@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-04/schema#", None])
def test_they_are_bounds(name: str, numbers: Literal["plain", "digits", "any"], draft: str | None) -> None:
    low, high = LIMITS[name]
    schema = {"type": "integer", "format": name} | ({} if draft is None else {"$schema": draft})
    check_texts(schema, texts(low, 0, 1, high), texts(low - 1, high + 1, 10 * high), numbers=numbers)
    assert INTEGER_FORMATS.keys() == LIMITS.keys()


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer", "format": "int64", "minimum": 1}, texts(1, SAFE + 1, 2**63 - 1), texts(0, 2**63)),
        ({"minimum": 1, "format": "int64", "type": "integer"}, texts(1, SAFE + 1, 2**63 - 1), texts(0, 2**63)),
        ({"type": "integer", "format": "int32", "exclusiveMaximum": 7}, texts(-(2**31), 6), texts(7, -(2**31) - 1)),
        ({"exclusiveMaximum": 7, "type": "integer", "format": "int8"}, texts(-128, 6), texts(7, -129)),
        ({"type": "integer", "format": "uint8", "exclusiveMinimum": -1}, texts(0, 255), texts(-1, 256)),
        ({"type": ["integer", "null"], "format": "uint8"}, ["null", "255"], texts(256, -1)),
        ({"type": ["integer", "string"], "format": "uint8"}, ['"256"', "255"], texts(256, -1)),
        ({"not": {"type": "integer", "format": "uint8"}}, [*texts(256, -1), '"a"', "1.5"], texts(0, 255)),
        # not of integers only, or not integers
        ({"type": "number", "format": "int8"}, ["1.5", "128"], []),
        ({"type": ["integer", "number"], "format": "int8"}, ["1.5", "128"], []),
        ({"type": "string", "format": "int64"}, ['"x"'], []),
        ({"format": "int8"}, ['"x"', "128"], []),
    ],
    ids=label,
)
def test_beside_others(schema: Any, right: list[str], wrong: list[str]) -> None:
    check_texts(schema, right, wrong)


def test_as_annotations_they_are_none() -> None:
    schema = {"type": "integer", "format": "int8"}
    check_texts(schema, texts(1000), [], formats="annotate")
    assert [found.keyword for found in Grammar.from_json_schema(schema, formats="annotate").report] == ["format"]
    assert not Grammar.from_json_schema(schema).report
    assert [found.outcome for found in check(schema).keywords] == ["enforced", "enforced"]


def test_where_nothing_is_left_the_format_is_named() -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        Grammar.from_json_schema({"type": "integer", "format": "int8", "minimum": 128, "maximum": 999})
    assert caught.value.pointers == ("/type", "/format", "/minimum")
