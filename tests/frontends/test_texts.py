"""Texts, substrings and dispatches against their definitions, on all short texts."""

from __future__ import annotations

import itertools

import pytest
from ir_matcher import matches

from maskwright.errors import LimitError
from maskwright.frontends.dispatch import tag_dispatch
from maskwright.frontends.regular import spelled_out
from maskwright.frontends.substrings import MAX_CHUNKS, substrings, words
from maskwright.frontends.texts import (
    complement,
    shortest,
    text_leading_to,
    text_of_length,
    text_until,
    text_without,
    texts_up_to,
)
from maskwright.ir import (
    Expr,
    IRBuilder,
    alt,
    and_,
    literal,
    plus,
    ref,
    seq,
    star,
    text,
)

TEXTS = ["".join(t) for n in range(7) for t in itertools.product("ab", repeat=n)]
STRINGS = [["a"], ["ab"], ["aa"], ["aba"], ["a", "ab"], ["ab", "ba"], ["b", "ab"], ["aab", "ab", "b"], ["abab", "bb"]]


@pytest.mark.parametrize("strings", [*STRINGS, []])
def test_text_without(strings: list[str]) -> None:
    expr = text_without([s.encode() for s in strings])
    for t in TEXTS:
        assert matches(expr, t) == (not any(s in t for s in strings)), t
    assert not matches(expr, b"\xff")


def test_strings_of_text_are_found_at_characters_only() -> None:
    texts = ["".join(t) for n in range(4) for t in itertools.product("éê\N{COMBINING ACUTE ACCENT}", repeat=n)]
    for strings in (["é"], ["ê", "éé"]):
        encoded = [s.encode() for s in strings]
        without, (first, *_) = text_without(encoded), texts_up_to(encoded)
        for t in texts:
            assert matches(without, t) == (not any(s in t for s in strings)), t
            assert matches(first, t) == (t.endswith(strings[0]) and ends_at(t, strings) == [len(t)]), t


@pytest.mark.parametrize("ends", STRINGS)
@pytest.mark.parametrize("excluded", [[], ["ba"]])
def test_text_leading_to_an_end(ends: list[str], excluded: list[str]) -> None:
    encoded, others = [end.encode() for end in ends], [each.encode() for each in excluded]
    closed = text_until(encoded, others)
    for end in ends:
        expr = text_leading_to(end.encode(), encoded, others)
        for t in TEXTS:
            longest = max((e for e in ends if (t + end).endswith(e)), key=len)
            assert matches(expr, t) == (longest == end and matches(closed, t + end)), (t, end)


@pytest.mark.parametrize("strings", STRINGS)
def test_text_until(strings: list[str]) -> None:
    end, excluded = strings[0], strings[1:]
    expr = text_until([end.encode()], [s.encode() for s in excluded])
    for t in TEXTS:
        before = t[: len(t) - len(end)]
        assert matches(expr, t) == (t.find(end) == len(before) >= 0 and not any(s in before for s in excluded)), t


SHORT = [t for t in TEXTS if 1 <= len(t) <= 3]


@pytest.mark.parametrize("end", SHORT)
def test_text_until_an_end_without_one_string(end: str) -> None:
    for excluded in SHORT:
        expr = text_until([end.encode()], [excluded.encode()])
        for t in TEXTS[:63]:
            before = t[: len(t) - len(end)]
            assert matches(expr, t) == (t.find(end) == len(before) >= 0 and excluded not in before), (t, excluded)


@pytest.mark.parametrize("ends", [ends for ends in STRINGS if len(ends) > 1])
@pytest.mark.parametrize("excluded", [["a"], ["ba"], ["bb", "ab"]])
def test_text_until_the_longest_of_ends_without_strings(ends: list[str], excluded: list[str]) -> None:
    expr = text_until([e.encode() for e in ends], [s.encode() for s in excluded])
    for t in TEXTS:
        before = t[: len(t) - max((len(end) for end in ends if t.endswith(end)), default=0)]
        assert matches(expr, t) == (ends_at(t, ends) == [len(t)] and not any(s in before for s in excluded)), t


@pytest.mark.parametrize("ends", [["é"], ["é>"], ["é", ">>"], [">é", "é"], [">>>", ">é>"]])
@pytest.mark.parametrize("length", [(0, 0), (1, 2), (2, None), (0, 3)])
def test_text_of_a_length_until_an_end(ends: list[str], length: tuple[int, int | None]) -> None:
    least, most = length
    encoded = [end.encode() for end in ends]
    expr, unbounded = text_until(encoded, [], length=length), text_until(encoded, [])
    counted = text_until(encoded, [], and_(text_of_length(1, 4), text_of_length(*length)))
    for t in ("".join(t) for n in range(7) for t in itertools.product("é>", repeat=n)):
        lengths = [len(t) - len(end) for end in ends if t.endswith(end)]
        fits = any(least <= n and (most is None or n <= most) for n in lengths)
        assert matches(expr, t) == (matches(unbounded, t) and fits), t
        if all(1 <= n <= 4 for n in lengths):
            assert matches(expr, t) == matches(counted, t), t
    assert not matches(expr, b"\xff\xc3\xa9")


def ends_at(t: str, strings: list[str]) -> list[int]:
    """The places where one of the strings ends."""
    return [i for i in range(1, len(t) + 1) if any(t[:i].endswith(s) for s in strings)]


@pytest.mark.parametrize("strings", STRINGS)
def test_texts_up_to(strings: list[str]) -> None:
    ending, others = strings[0], strings[1:]
    expr = texts_up_to([ending.encode()], [o.encode() for o in others])[0]
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
    assert [matches(and_(body, text_of_length(0, 3)), t) for t in ("", "ééé", "éab", "abab", "éééé")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert [matches(complement(text("a")), t) for t in ("", "a", "é", "aa")] == [True, False, True, True]
    assert not matches(complement(text("a")), b"\xff")


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
        ({"ab": "a", "bbb": "a"}, [], [], True),
        ({"ab": "b", "aab": "a"}, [], [], True),
        ({"aab": "b", "abb": ""}, ["ba"], ["bbb"], False),
        ({"aab": "b"}, ["abb"], [], True),
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


def test_ends_that_overlap_too_often() -> None:
    with pytest.raises(LimitError, match="overlaps with itself"):
        text_leading_to(b"a" * 100, [b"a" * 100], [])
