"""Options: checked when made, and what they change."""

from __future__ import annotations

from typing import Any

import pytest
from checking import check

from maskwright.frontends.json_schema import JsonSchemaOptions


@pytest.mark.parametrize(
    "wrong",
    [
        {"on_unsupported": "ignore"},
        {"max_whitespace_cnt": -1},
        {"indent": -1},
        {"separators": (";", ":")},
        {"separators": (",", "x:")},
        {"separators": (",",)},
    ],
    ids=str,
)
def test_wrong_options_are_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).split("_")[0]):
        JsonSchemaOptions(**wrong)


def test_options_are_values() -> None:
    assert JsonSchemaOptions() == JsonSchemaOptions(True, 32, None, None, False, "error")
    assert hash(JsonSchemaOptions()) == hash(JsonSchemaOptions())


def test_strict_mode_closes_what_is_declared() -> None:
    schema = {"properties": {"a": {"type": "null"}}}
    check(schema, [{"a": None}, {}], [{"b": 1}, {"a": None, "b": 1}], strict_mode=True)
    check({**schema, "additionalProperties": True}, [{"a": None, "b": 1}], [], strict_mode=True)
    check({"type": "object"}, [{"a": 1}], [], strict_mode=True)
    check({"prefixItems": [{"const": 1}]}, [[1], []], [[1, 2]], strict_mode=True)
    check({"prefixItems": [{"const": 1}], "items": True}, [[1, 2]], [], strict_mode=True)
    both = {"allOf": [schema, {"properties": {"b": {"const": 1}}}]}
    check(both, [{"a": None, "b": 1}], [{"b": 2}, {"c": 1}], strict_mode=True)
