"""Schemas as formats hold them: nobody changes them, and those who read a format get the data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from maskwright import StructuralTagError
from maskwright.structural_tag import JSONSchemaFormat, QwenXMLParameterFormat
from maskwright.structural_tag.formats.schemas import OwnSchema


@pytest.mark.parametrize("data", [True, False, {}, {"type": "object", "properties": {"a": {"const": 1.0}}}])
def test_the_data_come_back(data: Any) -> None:
    schema = OwnSchema(data)
    assert schema.content is not None
    assert repr(schema.data) == repr(data)
    assert OwnSchema(schema.data).content == schema.content


def test_each_reader_has_data_of_his_own() -> None:
    data: dict[str, Any] = {"properties": {"a": {}}}
    for it in (JSONSchemaFormat(data), QwenXMLParameterFormat(data)):
        it.json_schema["properties"]["b"] = {}  # type: ignore[index]
        assert it.json_schema == {"properties": {"a": {}}}
    assert data == {"properties": {"a": {}}}


def test_data_that_are_not_plain_stay_the_callers() -> None:
    data = {"const": Decimal("1.5")}
    schema = OwnSchema(data)
    assert schema.content is None
    assert schema.data is data
    assert JSONSchemaFormat(data).json_schema is data


def test_formats_compare_by_what_they_hold() -> None:
    one, same, other = JSONSchemaFormat({"a": 1}), JSONSchemaFormat({"a": 1}), JSONSchemaFormat({"a": 2})
    assert one == same != other
    assert "{'a': 1}" in repr(one)
    with pytest.raises(AttributeError):
        one.json_schema = {}  # type: ignore[misc]
    with pytest.raises(StructuralTagError, match="expected a JSON Schema"):
        JSONSchemaFormat(3)  # type: ignore[arg-type]
