"""Content of data: equal for equal data, different for others, none for what is no plain data; and the way back."""

from __future__ import annotations

import copy
import itertools
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright._kernel import canonical_bytes, from_canonical_bytes

DIFFERENT: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    0.0,
    -0.0,
    1.0,
    "",
    "1",
    "\0",
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**200,
    float("nan"),
    [],
    {},
    (),
    [[]],
    [[], []],
    [[[]]],
    [1, 2],
    [2, 1],
    (1, 2),
    ["12"],
    ["1", "2"],
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    {"a": {"b": 2}},
    {"a": True},
    {"a": 1.0},
    "é",
    "x" * 127,
    "x" * 128,
    ["a"] * 130,
]


def test_told_apart() -> None:
    contents = list(map(canonical_bytes, DIFFERENT))
    assert None not in contents
    for (a, x), (b, y) in itertools.combinations(zip(DIFFERENT, contents, strict=True), 2):
        assert x != y, (a, b)
    assert list(map(canonical_bytes, copy.deepcopy(DIFFERENT))) == contents


def test_sharing_does_not_count() -> None:
    part = {"a": [1, "x"]}
    assert canonical_bytes([part, part]) == canonical_bytes(json.loads(json.dumps([part, part])))


@pytest.mark.parametrize(
    "strange", [Decimal(1), b"x", {1: 2}, {None: 1}, {"a"}, object(), type("Str", (str,), {})("x"), "\ud800"]
)
def test_no_content(strange: Any) -> None:
    for data in (strange, [strange], {"a": strange}, ({"a": [strange]},)):
        assert canonical_bytes(data) is None


def test_limits() -> None:
    assert canonical_bytes([()] * 999_999) is not None
    assert canonical_bytes([()] * 1_000_000) is None
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    assert canonical_bytes(deep) is not None
    for _ in range(900):
        deep = {"a": deep}
    assert canonical_bytes(deep) is None
    shared: Any = "x"
    for _ in range(60):
        shared = [shared, shared]
    assert canonical_bytes(shared) is None
    cycle: list[Any] = []
    cycle.append(cycle)
    assert canonical_bytes(cycle) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_equal_iff_they_are_spelled_alike(a: Any, b: Any) -> None:
    assert (canonical_bytes(a) == canonical_bytes(b)) == (json.dumps(a) == json.dumps(b))
    assert canonical_bytes(a) == canonical_bytes(json.loads(json.dumps(a)))


@given(JSON)
def test_the_way_back(data: Any) -> None:
    content = canonical_bytes(data)
    assert content is not None
    assert json.dumps(from_canonical_bytes(content)) == json.dumps(data)


def test_the_way_back_of_all_kinds() -> None:
    for data in DIFFERENT:
        content = canonical_bytes(data)
        assert content is not None
        made = from_canonical_bytes(content)
        assert repr(made) == repr(data)  # also of -0.0 and nan
        assert canonical_bytes(made) == content
    deep: Any = []
    for _ in range(900):
        deep = {"a": [deep], "b": ()}
    content = canonical_bytes(deep["a"][0])
    assert content is None or canonical_bytes(from_canonical_bytes(content)) == content


def test_made_anew() -> None:
    content = canonical_bytes({"a": [[], {}]})
    assert content is not None
    assert from_canonical_bytes(content)["a"][0] is not from_canonical_bytes(content)["a"][0]


@given(st.binary(max_size=40))
def test_bytes_that_are_no_content(data: bytes) -> None:
    try:
        made = from_canonical_bytes(data)
    except ValueError:
        return
    assert len(repr(made)) < 1_000


def test_content_cut_short() -> None:
    whole = canonical_bytes({"a": [1, 2.5, "xyz", None, 2**80, (True, False)], "b": {"c": "x" * 200}})
    assert whole is not None
    for cut in (*(whole[:length] for length in range(len(whole))), whole + b"N"):
        with pytest.raises(ValueError, match="content"):
            from_canonical_bytes(cut)
