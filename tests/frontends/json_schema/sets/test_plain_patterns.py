"""Plain patterns: what is found of them is a string that they match."""

from __future__ import annotations

import re

import pytest

from maskwright.frontends.json_schema import schema_to_ir
from maskwright.frontends.json_schema.sets.plain_patterns import length_of_match, witness
from maskwright.ir.emptiness import admits_nothing

PLAIN = [
    "^[A-Z]{3}$",
    "x",
    "",
    "^$",
    "^a|b$",
    "a{2,5}(?:b|c)+",
    r"^\d{4}-\d{2}-\d{2}T\d{2}$",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    "^(foo|bar)[-_]?[0-9]*$",
    r"^https?://[\w./-]+$",
]
OTHERS = [
    "(",
    "(?=a)b",
    r"\ba",
    "a^b",
    "a$b",
    "(^a)",
    "[^\\s\\S]",
    "^<a>$",
    "^[\\u4e00-\\u9fff]+$",
    '"',
    "^[^\\x00-\\x7f]$",
    "(?:a{100}){100}",
    "a" * 1001,
    "a{3000}",
]


@pytest.mark.parametrize("pattern", PLAIN)
def test_plain(pattern: str) -> None:
    found = witness(pattern)
    assert found is not None
    assert re.search(pattern, found)
    assert length_of_match(pattern) >= 0
    assert length_of_match(pattern) >= 0  # known by now
    assert not admits_nothing(schema_to_ir({"type": "string", "pattern": pattern}))


@pytest.mark.parametrize("pattern", OTHERS)
def test_not_plain(pattern: str) -> None:
    assert witness(pattern) is None
    assert length_of_match(pattern) == -1
