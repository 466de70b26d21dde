"""Sets of code points against Python's sets, and both encodings against the decoders of the standard library."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_matcher import matches

from maskwright import ir
from maskwright.frontends.charset import (
    ALL_CHARACTERS,
    NO_CHARACTERS,
    CodePointSet,
    json_string_chars,
    partition,
    utf8,
)
from maskwright.ir import star

# Where lengths and digits of the encodings change.
EDGES = [0, 0x1F, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF]
EDGES += [0x10000, 0x103FF, 0x10400, 0x1F600, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF]
CODE_POINTS = sorted(
    {c + d for c in EDGES for d in (-1, 0, 1) if 0 <= c + d <= 0x10FFFF and not 0xD800 <= c + d < 0xE000}
)

small_sets = st.lists(st.tuples(st.sampled_from(CODE_POINTS), st.integers(0, 300)), max_size=5).map(
    lambda pairs: CodePointSet.from_ranges([(a, min(a + n, 0x10FFFF)) for a, n in pairs])
)


def spellings(c: int) -> list[bytes]:
    """All ways to write a character inside a JSON string, from the words of RFC 8259."""
    units = chr(c).encode("utf-16-be")
    out = []
    if c >= 0x20 and chr(c) not in '"\\':
        out.append(chr(c).encode())
    short = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
    if chr(c) in short:
        out.append(b"\\" + short[chr(c)].encode())
    hexes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    cases = (str.lower, str.upper, str.title)
    return out + ["".join("\\u" + case(h) for h in hexes).encode() for case in cases]


@given(small_sets, small_sets)
def test_operations_are_those_of_sets(a: CodePointSet, b: CodePointSet) -> None:
    for c in CODE_POINTS:
        assert (c in a | b) == (c in a or c in b)
        assert (c in a & b) == (c in a and c in b)
        assert (c in a - b) == (c in a and c not in b)
        assert (c in ~a) == (c not in a)
    assert ~~a == a
    assert hash(a | b) == hash(b | a)
    assert a.isdisjoint(b) == (not a & b)
    assert (a & b).issubset(a)
    assert len(a) == len(list(a))


def test_ranges_are_canonical() -> None:
    assert CodePointSet.from_ranges([(5, 9), (1, 4), (7, 12), (20, 19)]).ranges == ((1, 12),)
    assert CodePointSet.from_ranges([(0xD000, 0xE010)]).ranges == ((0xD000, 0xD7FF), (0xE000, 0xE010))
    assert CodePointSet.from_ranges([(0xD800, 0xDFFF)]) == NO_CHARACTERS
    assert ALL_CHARACTERS.ranges == ((0, 0xD7FF), (0xE000, 0x10FFFF))
    assert len(ALL_CHARACTERS) == 0x110000 - 0x800
    assert "é" in CodePointSet.from_string("é")
    assert repr(CodePointSet.from_string("abc!")) == "CodePointSet(21, 61-63)"


@given(small_sets)
def test_utf8_is_what_the_decoder_says(chars: CodePointSet) -> None:
    expr = utf8(chars)
    for c in CODE_POINTS:
        assert matches(expr, chr(c).encode()) == (c in chars)


def test_utf8_of_all_is_all_valid_utf8_and_nothing_else() -> None:
    every = utf8(ALL_CHARACTERS)
    interesting = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED]
    interesting += [0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    for length in (1, 2, 3):
        for data in map(bytes, itertools.product(interesting, repeat=length)):
            assert matches(every, data) == is_one_character(data), data
    rng = random.Random(1)
    for _ in range(3000):
        data = bytes([rng.choice([0xF0, 0xF1, 0xF4, 0xF5]), *(rng.choice(interesting) for _ in range(3))])
        assert matches(every, data) == is_one_character(data), data


def is_one_character(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


@given(small_sets)
def test_json_spellings(chars: CodePointSet) -> None:
    expr = json_string_chars(chars)
    for c in CODE_POINTS:
        for spelling in spellings(c):
            assert matches(expr, spelling) == (c in chars), spelling


def test_json_strings_agree_with_the_json_module() -> None:
    string = star(json_string_chars(ALL_CHARACTERS))
    pieces = [
        "a",
        "\\",
        "u",
        "/",
        '"',
        "\n",
        "\x7f",
        "é",
        "d8",
        "3d",
        "DE",
        "00",
        "0",
        "b",
        "😀",
        "\\ud83d\\ude00",
        "\x1f",
    ]
    rng = random.Random(2)
    seen = {True: 0, False: 0}
    for _ in range(4000):
        inside = "".join(rng.choices(pieces, k=rng.randint(1, 6)))
        valid = is_json_string(inside)
        assert matches(string, inside) == valid, inside
        seen[valid] += 1
    assert min(seen.values()) > 400


def is_json_string(inside: str) -> bool:
    try:
        json.loads(f'"{inside}"').encode()  # a lone surrogate cannot be encoded
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("encode", [utf8, json_string_chars])
def test_encodings_are_prefix_free_and_unambiguous(encode) -> None:
    a, b = CodePointSet.from_string("ab\n\\😀"), CodePointSet.from_string("cé/")
    assert encode(NO_CHARACTERS) == ir.never()
    for c in a:
        for spelling in [chr(c).encode()] if encode is utf8 else spellings(c):
            assert matches(encode(a), spelling)
            assert not matches(encode(b), spelling)
            assert not any(matches(encode(ALL_CHARACTERS), spelling[:n]) for n in range(len(spelling)))


def test_expressions_stay_small() -> None:
    assert utf8(ALL_CHARACTERS).dump().count("|") == 7
    assert utf8(CodePointSet.from_string("é")).dump() == '"\\xc3\\xa9"'
    assert utf8(CodePointSet.from_ranges([(0x61, 0x7A), (0x30, 0x39)])).dump() == "[0-9a-z]"
    assert json_string_chars(CodePointSet.from_string("\u0001")).dump() == '"\\\\u0001"'
    scattered = CodePointSet.from_code_points(range(0x4E00, 0x6E00, 2))
    assert len(utf8(scattered).dump()) < 700


def test_results_are_kept() -> None:
    assert utf8(CodePointSet.from_string("xyz")) is utf8(CodePointSet.from_string("zyx"))


@given(st.lists(small_sets, max_size=4))
def test_sets_are_told_apart_by_classes_of_their_characters(sets: list[CodePointSet]) -> None:
    classes = partition(sets, 256)
    assert classes is not None
    assert set(classes) == set(sets)
    for one, other in itertools.product(classes, repeat=2):
        assert bool(classes[one] & classes[other]) == bool(one & other)
        assert (classes[one] & ~classes[other] == 0) == one.issubset(other)


def test_classes_of_characters_are_limited() -> None:
    singles = [CodePointSet.from_code_points([c]) for c in range(10)]
    assert partition(singles, 10) == {one: 1 << i for i, one in enumerate(singles)}
    assert partition(singles, 9) is None
