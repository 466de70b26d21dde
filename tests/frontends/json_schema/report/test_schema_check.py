"""`maskwright.check`: what it says of a keyword is what compiling does with it."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from corpora import MASKBENCH
from maskwright.errors import LimitError, MaskwrightError, SchemaError, UnsatisfiableError, UnsupportedSchemaError
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.normalise.keywords import FUNCTIONS
from maskwright.frontends.json_schema.report.reached import reached_keywords
from maskwright.report.schema_report import SchemaReport, check
from oracle.comparing import scaled

STEP = max(1, 500 // scaled(100))
RELAX = JsonSchemaOptions(on_unsupported="relax")
OWN: list[Any] = [
    True,
    {"type": "object", "title": "t", "properties": {"a": {"default": 1, "minimum": 3}}, "minLenght": 2},
    {"type": "array", "uniqueItems": True, "items": {"maxProperties": 1}},
    {"type": "string", "uniqueItems": True},
    {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True},
    {"$defs": {"u": {"uniqueItems": True}}, "type": "integer"},
    {"$defs": {"u": {"uniqueItems": True, "items": {"maxItems": 2}, "$comment": "c"}}, "items": {"$ref": "#/$defs/u"}},
    {"type": "string", "pattern": r"(a)\2"},
    {"type": "string", "pattern": "("},
    {"type": "string", "pattern": "(?:(?=.*b)a)*"},
    {"type": "string", "pattern": "a++"},
    {"type": "object", "minProperties": 3, "additionalProperties": {"type": "null", "description": "d"}},
    {"type": "number", "multipleOf": 0.0000001, "minimum": 0.1},
    {"not": {"uniqueItems": True}},
    {"if": {"uniqueItems": True}, "then": {"maxItems": 3}, "else": {"title": "e"}},
    {"oneOf": [{"uniqueItems": True}, {"maxItems": 3}]},
    {"format": "email", "then": {"type": "null"}, "minContains": 2, "additionalItems": False},
    {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "type": "integer", "exclusiveMinimum": True},
    {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "minimum": 3, "definitions": {
        "a": {"type": "integer", "format": "no-such-format"}}},
    {"type": "integer", "minimum": 3, "maximum": 2},
    {"allOf": [{"$ref": "#"}]},
    {"type": "strin"},
    {"$ref": "#/nowhere"},
    {"if": {"properties": {"a": True}}, "properties": {"b": True}, "unevaluatedProperties": False},
    {"if": {"uniqueItems": True}, "type": "null"},
    {"$id": "http://e/x", "$dynamicAnchor": "n", "title": "t", "properties": {"c": {"$dynamicRef": "#n"}}},
    {"x-more": {"type": "null"}, "items": {"$ref": "#/x-more"}},
]  # fmt: skip


def schemas() -> Iterator[Any]:
    yield from OWN
    if MASKBENCH.exists():
        with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
            yield from (json.loads(line)["schema"] for line in islice(lines, 0, None, STEP))


def compile_error(schema: Any) -> MaskwrightError | None:
    try:
        schema_to_ir(schema)
    except (SchemaError, LimitError, UnsatisfiableError) as error:
        return error
    return None


def check_error(schema: Any) -> SchemaReport | SchemaError:
    try:
        return check(schema)
    except SchemaError as error:
        return error


def without(schema: Any, pointers: list[str]) -> Any:
    """The schema without these keywords, innermost first."""
    out = copy.deepcopy(schema)
    for pointer in sorted(pointers, key=len, reverse=True):
        *way, last = [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]
        place = out
        for token in way:
            place = place[int(token)] if isinstance(place, list) else place[token]
        del place[last]
    return out


def test_refused_if_and_only_if_compiling_raises() -> None:
    wrong, refused = [], 0
    for schema in schemas():
        error, report = compile_error(schema), check_error(schema)
        if isinstance(report, SchemaError):
            fits = isinstance(error, SchemaError)
        else:
            refused += report.verdict == "refused"
            fits = (report.verdict == "refused") == (error is not None)
            if isinstance(error, UnsupportedSchemaError):
                fits &= any(error.pointer.startswith(k.pointer) for k in report.keywords if k.outcome == "refused")
        if not fits:
            wrong.append((schema, error, report))
    assert wrong == []
    assert refused >= 8


def test_without_its_annotations_a_schema_means_the_same() -> None:
    wrong, compared = [], 0
    for schema in schemas():
        report = check_error(schema)
        if isinstance(report, SchemaError) or not report.complete or '"#/x-' in json.dumps(schema):
            continue
        # Next to a $ref they change how its rule is named.
        references = {k.pointer.rpartition("/")[0] for k in report.keywords if k.keyword == "$ref"}
        annotations = [k.pointer for k in report.keywords if k.outcome == "annotation"]
        pointers = [p for p in annotations if p.rpartition("/")[0] not in references]
        if pointers and not any("://" in p or p.startswith("/~") for p in pointers):
            bare = without(schema, pointers)
            try:
                same = schema_to_ir(bare, RELAX) == schema_to_ir(schema, RELAX)
            except SchemaError as error:
                same = "does not exist" in error.message  # a reference leads into an annotation
            compared += 1
            if not same:
                wrong.append((schema, pointers))
    assert wrong == []
    assert compared >= 8


def test_every_finding_is_of_a_keyword_that_was_reached_or_in_one() -> None:
    for schema in schemas():
        findings: list[Any] = []
        try:
            schema_to_ir(schema, RELAX, findings)
        except (SchemaError, LimitError, UnsatisfiableError):
            continue
        reached = {r.pointer for r in reached_keywords(schema)}
        for finding in findings:
            # Inside one: the front-end names complements and conjunctions that it made itself.
            place = finding.pointer
            while place and place not in reached:
                place = place.rpartition("/")[0]
            assert place, (finding, schema)


def test_every_keyword_with_a_schema_is_entered() -> None:
    """Whatever the value's form is, a format inside is found."""
    inner = {"format": "no-such-format"}
    for keyword in FUNCTIONS:
        for value in (inner, [inner], {"a": inner}):
            findings: list[Any] = []
            schema = {keyword: value, "then": True, "type": ["object", "array", "string"]}
            try:
                schema_to_ir(schema, RELAX, findings)
            except (SchemaError, UnsatisfiableError):
                continue
            assert {f.pointer for f in findings} <= {r.pointer for r in reached_keywords(schema)}, schema


def test_reasons_and_suggestions() -> None:
    schema = {"type": "array", "items": {"maxItems": 2}, "uniqueItems": True, "minLenght": 1, "then": {}}
    found = {k.pointer: k for k in check(schema).keywords}
    assert found["/type"].outcome == "enforced"
    assert found["/uniqueItems"].outcome == "refused"
    assert "small enum" in (found["/uniqueItems"].reason or "")
    assert "scalars" in (found["/uniqueItems"].suggestion or "")
    assert found["/minLenght"][2:] == ("annotation", "unknown keyword 'minLenght'", "did you mean 'minLength'?")
    assert found["/then"][2:] == ("annotation", "there is no if next to it", "add if, or remove it")


def test_relaxed() -> None:
    report = check({"uniqueItems": True, "items": {"maxItems": 2}}, on_unsupported="relax")
    assert report.verdict == "relaxed"
    assert report.counts() == {"enforced": 2, "annotation": 0, "relaxed": 1, "refused": 0}


def test_a_lone_if_matters_only_to_what_is_unevaluated() -> None:
    def outcome(schema: Any) -> str:
        return next(k.outcome for k in check(schema).keywords if k.pointer == "/if")

    assert outcome({"if": {"minimum": 3}}) == "annotation"
    assert outcome({"if": {"properties": {"a": True}}, "unevaluatedProperties": False}) == "enforced"


def test_where_the_front_end_stops_nothing_is_called_enforced() -> None:
    report = check({"type": "string", "format": "no-such", "pattern": "(?:(?=.*b)a)*"})
    assert not report.complete
    assert [k.outcome for k in report.keywords] == ["annotation", "refused"]
    assert report.keywords[-1].pointer == "/pattern"
    assert check({"type": "integer", "minimum": 3, "maximum": 2}).keywords[0].pointer == ""


def test_deep_and_shared_schemas() -> None:
    deep: Any = True
    for _ in range(2_000):
        deep = {"items": deep}
    assert len(check(deep).keywords) == 2_000
    shared: Any = {"type": "null"}
    for _ in range(15):
        shared = {"properties": {"a": shared, "b": shared}}
    assert check(shared).verdict == "enforced"
    with pytest.raises(SchemaError, match="not int"):
        check(3)


def test_a_report_is_printed_as_the_command_line_shows_it() -> None:
    assert str(check({"title": "t", "requird": ["a"], "minimum": 3})) == (
        "enforced, 1 warning\n"
        "  annotation  #/title: it is an annotation\n"
        "  warning     #/requird: unknown keyword 'requird'\n"
        "              hint: did you mean 'required'?\n"
        "  enforced    #/minimum\n"
        "1 enforced, 2 annotation, 0 relaxed, 0 refused, 1 warning"
    )
