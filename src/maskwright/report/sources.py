"""What a grammar was read from: enough to read it again when somebody asks what in it decides.

    >>> rule_places(Source("ebnf", 'root ::= item\\nitem ::= "a"'))["item"]
    (2, 1)

Tested by tests/report/test_explain.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from maskwright.errors import Span


@dataclass(frozen=True)
class Source:
    """The text of a grammar or a pattern, the schema, or the tag; and the options it was read with.

    `is_certain`: the grammar was made of this very content, which nobody can have changed since.
    """

    kind: Literal["json_schema", "ebnf", "lark", "regex", "structural_tag"]
    text: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    is_certain: bool = False


_HEADS = {
    "ebnf": re.compile(r"^[ \t\ufeff]*([A-Za-z0-9_.\-]+)(?:\s*\[[^\n]*?\])?\s*::=", re.MULTILINE),
    "lark": re.compile(r"^[ \t\ufeff]*[?!]*([A-Za-z_][A-Za-z0-9_]*)[^\n:\"'/]*?:", re.MULTILINE),
}


def rule_places(source: Source) -> dict[str, tuple[int, int]]:
    """Return the line and the column of the definition of each rule of a grammar in EBNF or Lark, from 1."""
    text: str = source.text
    places: dict[str, tuple[int, int]] = {}
    line, counted = 1, 0
    for head in _HEADS[source.kind].finditer(text):
        start = head.start(1)
        line, counted = line + text.count("\n", counted, start), start
        places.setdefault(head[1], (line, start - text.rfind("\n", 0, start)))
    return places


def span_of_rule(text: str, rule: str, place: tuple[int, int]) -> Span:
    """Where a rule's name stands in a text, given its line and column, from 1."""
    line, column = place
    start = sum(map(len, text.split("\n")[: line - 1])) + line - 1 + column - 1
    return Span(start, start + len(rule))
