"""Misspelled formats give a warning; formats of somebody's own are only reported."""

from __future__ import annotations

import pytest

from maskwright import Grammar, SchemaWarning
from maskwright.frontends.json_schema.sets.formats import FORMATS
from maskwright.frontends.json_schema.sets.misspelled_formats import format_meant_by


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("datetime", "date-time"), ("date_time", "date-time"), ("dateTime", "date-time"), ("date-tiem", "date-time")),
        *(
            ("e-mail", "email"),
            ("emial", "email"),
            ("Email", "email"),
            ("url", "uri"),
            ("URL", "uri"),
            ("guid", "uuid"),
        ),
        *(("host_name", "hostname"), ("ipv_6", "ipv6"), ("iso-date-time", "date-time"), ("regexp", "regex")),
        *(("datetime-local", "date-time-local"), ("uuidv4", "uuid4"), ("base64-url", "base64url")),
    ],
)
def test_a_misspelled_format_gives_a_warning(name: str, meant: str) -> None:
    with pytest.warns(SchemaWarning) as caught:
        report = Grammar.from_json_schema({"properties": {"a": {"type": "string", "format": name}}}).report
    reason = f"misspelled format {name!r}; did you mean {meant!r}?"
    assert report == (("/properties/a/format", "format", "annotation", reason),)
    assert [str(each.message) for each in caught] == [f"at #/properties/a/format: {reason}"]


@pytest.mark.parametrize(
    "name",
    [
        *("int32", "int64", "float", "double", "byte", "binary", "password", "phone", "color", "style", "text", "path"),
        *("utc-millisec", "table", "number", "checkbox", "textarea", "decimal", "topic", ""),
        *(
            "multi-host-uri",
            "partial-date",
            "name-email",
            "file-path",
            "fraction",
            "json",
        ),
        "x" * 100_000,
    ],
    ids=lambda name: name[:20],
)
def test_a_format_of_somebodys_own_gives_none(name: str) -> None:
    [found] = Grammar.from_json_schema({"type": "string", "format": name}).report  # a warning would be an error here
    assert found.reason == f"unknown format {name[:60]!r}"


def test_no_format_is_taken_for_another() -> None:
    assert all(format_meant_by(name) == f"did you mean {name!r}?" for name in FORMATS if name != "host-name")


def test_formats_that_are_annotations_are_not_judged() -> None:
    [found] = Grammar.from_json_schema({"type": "string", "format": "datetime"}, formats="annotate").report
    assert not found.is_mistake
