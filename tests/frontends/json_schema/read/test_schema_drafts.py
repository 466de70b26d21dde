"""`$schema`: what names a draft that is supported, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
from referencing.jsonschema import DRAFT202012

from maskwright import Grammar, SchemaWarning

LATEST = "https://json-schema.org/draft/2020-12/schema"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("end", ["", "#"])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "uri",
    [
        *[f"json-schema.org/draft-0{n}/schema" for n in (4, 6, 7)],
        *[f"json-schema.org/draft/{name}/schema" for name in ("2019-09", "2020-12")],
        "json-schema.org/draft-04/hyper-schema",
        "json-schema.org/schema",
        "spec.openapis.org/oas/3.1/dialect/base",
        "spec.openapis.org/oas/3.1/schema-base/2022-10-07",
    ],
)
def test_supported_drafts_and_dialects_are_not_reported(scheme: str, uri: str, end: str) -> None:
    assert Grammar.from_json_schema({"$schema": f"{scheme}://{uri}{end}", "type": "null"}).report == ()


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("http://foo/bar", f"the schema is read as draft 2020-12; did you mean {LATEST!r}?"),
        ("http://spec.openapis.org/oas/3.0/schema", f"the schema is read as draft 2020-12; did you mean {LATEST!r}?"),
        ("draft-7", f"the schema is read as draft 2020-12; did you mean {DRAFT_7!r}?"),
        ("https://json-schema.org/draft/07/schema", f"the schema is read as draft 2020-12; did you mean {DRAFT_7!r}?"),
        ("", f"the schema is read as draft 2020-12; did you mean {LATEST!r}?"),
        (7, f"the schema is read as draft 2020-12; did you mean {LATEST!r}?"),
        ("http://json-schema.org/draft-03/schema#", "the schema is read as draft 4; write it in a later draft"),
    ],
)
def test_all_others_are_reported_with_a_warning(uri: Any, said: str) -> None:
    with pytest.warns(SchemaWarning) as caught:
        report = Grammar.from_json_schema({"$schema": uri, "type": "null"}).report
    reason = f"$schema names no draft that is supported; {said}"
    assert report == (("/$schema", "$schema", "annotation", reason),)
    assert [str(each.message) for each in caught] == [f"at #/$schema: {reason}"]


def test_a_metaschema_of_the_registry_is_a_dialect() -> None:
    metaschema = DRAFT202012.create_resource({"$id": "http://foo/bar", "$vocabulary": {}})
    registry = referencing.Registry().with_resource("http://foo/bar", metaschema)
    assert Grammar.from_json_schema({"$schema": "http://foo/bar"}, registry=registry).report == ()
    with pytest.warns(SchemaWarning):
        Grammar.from_json_schema({"$schema": "http://foo/other"}, registry=registry)
