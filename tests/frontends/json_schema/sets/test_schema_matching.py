"""The matcher of names and enum values against `re` on all short texts."""

from __future__ import annotations

import itertools
import re

import pytest

from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.ir import EMPTY, Expr, alt, and_, bytes_in, literal, never, not_, repeat, seq, star

A, B = literal(b"a"), literal(b"b")
TEXTS = [bytes(t) for n in range(6) for t in itertools.product(b"ab", repeat=n)]

CASES: list[tuple[Expr, str]] = [
    (EMPTY, ""),
    (never(), "(?!)"),
    (literal(b"ab"), "ab"),
    (seq(A, star(B), alt(A, literal(b"ba"))), "ab*(a|ba)"),
    (seq(star(A), literal(b"aab"), star(A)), "a*aaba*"),
    (repeat(alt(A, literal(b"ab")), 1, 2), "(a|ab){1,2}"),
    (repeat(star(A), 3), "(a*){3,}"),
    (repeat(bytes_in(b"ab"), 2, 4), "[ab]{2,4}"),
    (seq(A, not_(star(B)), A), "a(?!b*a$).*a"),
    (and_(star(alt(A, B)), not_(seq(star(alt(A, B)), B))), "(.*a)?"),
    (seq(and_(repeat(alt(A, B), 2, 2), seq(A, star(alt(A, B)))), B), "a.b"),
    (not_(never()), ".*"),
    (not_(seq(A, not_(EMPTY))), "(?!a.).*"),
]


@pytest.mark.parametrize(("expr", "pattern"), CASES, ids=[c[1] for c in CASES])
def test_matches(expr: Expr, pattern: str) -> None:
    for text in TEXTS:
        assert matches(expr, text) == bool(re.fullmatch(pattern.encode(), text)), text
