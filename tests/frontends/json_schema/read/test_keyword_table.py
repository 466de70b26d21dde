"""The table of keywords is that of the standard's metaschemas, and whoever knows keywords agrees with it."""

from __future__ import annotations

from typing import Any

import jsonschema_specifications
import pytest

from maskwright._kernel import canonical_bytes
from maskwright.frontends.json_schema.normalise.deferral import deferral_of
from maskwright.frontends.json_schema.normalise.keywords import BY_DRAFT, FUNCTIONS
from maskwright.frontends.json_schema.read.keyword_table import ANNOTATIONS, ASSERTING, EXTENSIONS, KEYWORDS, READ_BY

VOCABULARIES = {
    "core": "core",
    "applicator": "applicator",
    "unevaluated": "unevaluated",
    "validation": "validation",
    "format-annotation": "format",
    "meta-data": "meta-data",
    "content": "content",
}
DRAFTS = {
    4: "http://json-schema.org/draft-04/schema",
    6: "http://json-schema.org/draft-06/schema",
    7: "http://json-schema.org/draft-07/schema",
}


def metaschema(uri: str) -> Any:
    return jsonschema_specifications.REGISTRY[uri].contents


@pytest.mark.parametrize("name", VOCABULARIES)
def test_vocabularies_are_those_of_the_standard(name: str) -> None:
    standard = set(metaschema(f"https://json-schema.org/draft/2020-12/meta/{name}")["properties"]) - {"$comment"}
    ours = {keyword for keyword, row in KEYWORDS.items() if row.vocabulary == VOCABULARIES[name]}
    later = {"id", "definitions", "$recursiveRef", "$recursiveAnchor", "additionalItems", "$comment"}
    assert ours - later == standard


@pytest.mark.parametrize("draft", DRAFTS)
def test_drafts_have_the_keywords_that_they_define(draft: int) -> None:
    standard = set(metaschema(DRAFTS[draft])["properties"])
    assert standard <= KEYWORDS.keys()
    assert {keyword for keyword in standard if KEYWORDS[keyword].since > draft} <= ANNOTATIONS
    assert BY_DRAFT[draft].keys() - {"$ref", *EXTENSIONS} <= standard  # which the metaschema of draft 4 does not define


def test_every_keyword_that_asserts_has_a_function() -> None:
    assert FUNCTIONS.keys() == ASSERTING - READ_BY.keys()


def test_a_keyword_stands_next_to_the_one_that_reads_it() -> None:
    assert set(READ_BY.values()) <= FUNCTIONS.keys()


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_the_scan_for_deferral_ignores_annotations_only(keyword: str) -> None:
    """The kernel's binding has a list of its own, of what it understands; `null` goes with no more than its type."""
    content = canonical_bytes({"type": "object", "properties": {"a": {"type": "null", keyword: {}}}})
    assert content is not None
    assert (deferral_of(content) is not None) == (keyword in ANNOTATIONS)
