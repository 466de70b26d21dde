"""Free text, shortest texts, substrings and dispatches, against their definitions on all short texts."""

from __future__ import annotations

import itertools

import pytest
from ir_matcher import matches

from maskwright.errors import LimitError
from maskwright.frontends.dispatch import tag_dispatch
from maskwright.frontends.substrings import MAX_CHUNKS, substrings, words
from maskwright.frontends.text import (
    at_most_chars,
    complement,
    first_bytes,
    is_regular,
    shortest,
    spelled_out,
    text_up_to,
    text_without,
)
from maskwright.ir import (
    EMPTY,
    Expr,
    IRBuilder,
    alt,
    and_,
    byte_range,
    literal,
    never,
    not_,
    plus,
    ref,
    repeat,
    seq,
    star,
    text,
    tokens,
)

TEXTS = ["".join(t) for n in range(7) for t in itertools.product("ab", repeat=n)]
STRINGS = [["a"], ["ab"], ["aa"], ["aba"], ["a", "ab"], ["ab", "ba"], ["b", "ab"], ["aab", "ab", "b"], ["abab", "bb"]]


@pytest.mark.parametrize("strings", [*STRINGS, []])
def test_text_without(strings: list[str]) -> None:
    expr = text_without(strings)
    for t in TEXTS:
        assert matches(expr, t) == (not any(s in t for s in strings)), t
    assert not matches(expr, b"\xff")


def ends_at(t: str, strings: list[str]) -> list[int]:
    """The places where one of the strings ends."""
    return [i for i in range(1, len(t) + 1) if any(t[:i].endswith(s) for s in strings)]


@pytest.mark.parametrize("strings", STRINGS)
def test_text_up_to(strings: list[str]) -> None:
    ending, others = strings[0], strings[1:]
    expr = text_up_to(ending, others)
    for t in TEXTS:
        longer = any(t.endswith(o) for o in others if o.endswith(ending) and o != ending)
        assert matches(expr, t) == (t.endswith(ending) and ends_at(t, strings) == [len(t)] and not longer), t


@pytest.mark.parametrize(
    "body",
    [star(text("a")), plus(text("ab")), alt(text("a"), text("ab")), seq(star(alt(text("a"), text("b"))), text("ba"))],
)
def test_shortest(body: Expr) -> None:
    for t in TEXTS:
        is_first = not any(matches(body, t[:i]) for i in range(len(t)))
        assert matches(shortest(body), t) == (matches(body, t) and is_first), t


def test_limits_and_complements() -> None:
    body = star(alt(text("é"), text("ab")))
    assert [matches(at_most_chars(body, 3), t) for t in ("", "ééé", "éab", "abab", "éééé")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert [matches(complement(text("a")), t) for t in ("", "a", "é", "aa")] == [True, False, True, True]
    assert not matches(complement(text("a")), b"\xff")


def test_first_bytes() -> None:
    for body in (
        text("ab"),
        alt(text("a"), EMPTY),
        seq(star(text("a")), text("b")),
        and_(text("a"), not_(text("b"))),
        never(),
    ):
        possible = {t[0] for t in TEXTS if t and matches(body, t)}
        assert all(first_bytes(body) >> ord(c) & 1 for c in possible)
    assert first_bytes(seq(repeat(text("a"), 0, 3), byte_range(0x62, 0x63))) == 0b1110 << 96


def test_spelling_out() -> None:
    bodies = {0: text("x"), 1: seq(ref(0), star(ref(0))), 2: alt(ref(2), EMPTY), 3: tokens([1])}
    spelled = spelled_out(seq(ref(1), text("y"), ref(1)), bodies.get)
    assert spelled is not None
    assert is_regular(spelled)
    assert matches(spelled, "xxyx")
    for recursive in (ref(2), ref(3), ref(7), seq(ref(1), ref(2))):
        assert spelled_out(recursive, bodies.get) is None


@pytest.mark.parametrize("chunks", [list("abab"), list("aaaa"), ["a", "ba", "b", "a"], [], ["ab", "", "ab"]])
def test_substrings(chunks: list[str]) -> None:
    builder = IRBuilder()
    grammar = builder.build(substrings(chunks, builder))
    expr = spelled_out(ref(grammar.root), lambda i: grammar.rules[i].body)
    expected = {"".join(chunks[i:j]) for i in range(len(chunks) + 1) for j in range(i, len(chunks) + 1)}
    assert expr is not None
    assert {t for t in TEXTS if matches(expr, t)} == expected
    assert len(grammar.rules) <= 2 * len(chunks) + 1


def test_substrings_are_limited_and_words_are_cut() -> None:
    with pytest.raises(LimitError):
        substrings(["a"] * (MAX_CHUNKS + 1), IRBuilder())
    assert words("to  be, x_1!") == ["to", "  ", "be", ",", " ", "x_1", "!"]
    assert "".join(words("é\n… a")) == "é\n… a"


def dispatched(
    t: str, tags: dict[str, str], marks: list[str], loops: bool, endings: list[str], ends_anywhere: bool
) -> bool:
    """The meaning, read from left to right: free text up to the first mark, the longest there is at that place."""
    places = ends_at(t, marks)
    if not places:
        return ends_anywhere
    mark = max((m for m in marks if t[: places[0]].endswith(m)), key=len)
    rest = t[places[0] :]
    if mark in endings:
        return not rest
    if mark not in tags or not rest.startswith(tags[mark]):
        return False
    rest = rest[len(tags[mark]) :]
    return dispatched(rest, tags, marks, loops, endings, ends_anywhere) if loops else not rest


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize(
    ("tags", "endings", "excluded", "ends_anywhere"),
    [
        ({"ab": "a"}, [], [], True),
        ({"aa": "b", "ab": "b"}, [], [], True),
        ({"b": "a", "ab": "b"}, [], [], True),
        ({"ab": "b"}, ["ba"], [], False),
        ({"ba": ""}, ["aab"], [], True),
        ({"bb": "a"}, [], ["aba"], True),
        ({}, ["ab"], ["bb"], False),
    ],
)
def test_dispatch(
    tags: dict[str, str], endings: list[str], excluded: list[str], ends_anywhere: bool, loops: bool
) -> None:
    expr = tag_dispatch(
        [(tag, text(rule)) for tag, rule in tags.items()],
        loops=loops,
        ends_anywhere=ends_anywhere,
        endings=endings,
        excluded=excluded,
    )
    marks = [*tags, *endings, *excluded]
    for t in TEXTS:
        assert matches(expr, t) == dispatched(t, tags, marks, loops, endings, ends_anywhere), t
    assert not matches(expr, literal(b"\xff")[1])
