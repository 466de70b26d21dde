"""Selections in any order and in theirs against their enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

import maskwright
from maskwright.frontends.selections import MOST_ITEMS, Selection, ordered, permutation
from maskwright.ir import EMPTY, UNBOUNDED, Expr, GrammarIR, IRBuilder, literal, text
from oracle.comparing import compile_fresh, seeded
from oracle.recognizer import is_viable, matches
from oracle.vocabularies import BYTES


def grammar_of(builder: IRBuilder, body: Expr) -> GrammarIR:
    return builder.build(body)


@pytest.mark.parametrize("required", [(), (1,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize(
    ("minimum", "maximum"), [(0, UNBOUNDED), (2, UNBOUNDED), (0, 2), (1, 3), (3, 4), (2, 1), (0, 0)]
)
@pytest.mark.parametrize("extra", [None, text("x")])
@pytest.mark.parametrize(("select", "separator"), [(permutation, ","), (ordered, ","), (ordered, "")])
def test_each_at_most_once(
    select: Callable[..., Expr],
    separator: str,
    required: tuple[int, ...],
    minimum: int,
    maximum: int,
    extra: Expr | None,
) -> None:
    builder = IRBuilder()
    items = [text(c) for c in "abc"]
    selection = Selection(items, required, text(separator), extra, minimum, maximum)
    g = grammar_of(builder, select(builder, "p", selection))
    expected = set()
    for n in range(5):
        for word in itertools.product("abcx" if extra else "abc", repeat=n):
            plain = [c for c in word if c != "x"]
            good = len(set(plain)) == len(plain) and all("abc"[i] in word for i in required)
            if select is ordered:
                good = good and "".join(word) == "".join(plain) + "x" * (n - len(plain)) and plain == sorted(plain)
            if good and minimum <= n and (maximum == UNBOUNDED or n <= maximum):
                expected.add(separator.join(word).encode())
    if not expected:
        with pytest.raises(maskwright.UnsatisfiableError):
            compile_fresh(g, BYTES)
        return
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    for n in range(5):
        for word in itertools.product("abcx", repeat=n):
            data = separator.join(word).encode()
            assert matches(g, data) == (data in expected), (g.dump(), data)
            accepted = matcher.accept_string(data)
            assert accepted == is_viable(g, data), (g.dump(), data)
            assert (accepted and matcher.is_completed()) == (data in expected), (g.dump(), data)
            matcher.reset()


def test_counts_reach_far() -> None:
    builder = IRBuilder()
    extras = Selection([text("b")], extra=text("a"), minimum=5_000, maximum=5_001)
    g = grammar_of(builder, ordered(builder, "c", extras))
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    assert matcher.accept_string("b" + "a" * 4_998)
    assert not matcher.is_completed()
    assert matcher.accept_string("aa")
    assert matcher.is_completed()
    assert not matcher.accept_string("a")


def test_many_items_with_a_maximum_and_required_ones_last() -> None:
    """What is still required is kept room for, however the optional ones come."""
    builder = IRBuilder()
    items = [literal(bytes((b,))) for b in range(65, 65 + 50)]
    g = grammar_of(builder, permutation(builder, "p", Selection(items, range(40, 50), maximum=20)))
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    assert matcher.accept_string(bytes(range(65, 75)))
    assert not matcher.accept_string(b"L")
    assert matcher.accept_string(bytes(range(65 + 40, 65 + 50)))
    assert matcher.is_completed()
    assert not matcher.accept_string(b"L")


@pytest.mark.parametrize(
    ("count", "required", "extra", "maximum", "singles", "size"),
    [
        (64, (), False, UNBOUNDED, 64, 1),
        (70, (), False, UNBOUNDED, 52, 3),
        (70, (0, 69), True, 40, 32, 3),  # the number takes 6 bits
        (128, (5,), False, UNBOUNDED, 15, 7),
        (256, (), False, UNBOUNDED, 24, 31),
    ],
)
def test_too_many_items_come_in_groups(
    count: int, required: tuple[int, ...], extra: bool, maximum: int, singles: int, size: int
) -> None:
    """Optional items past the first `singles` come in groups of `size`, in their own order within each."""
    items = [chr(0x100 + i) for i in range(count)]
    builder = IRBuilder()
    selection = Selection([text(c) for c in items], required, EMPTY, text("x") if extra else None, 0, maximum)
    g = grammar_of(builder, permutation(builder, "p", selection, may_group=True))
    matcher = maskwright.GrammarMatcher(compile_fresh(g, BYTES))
    optional = [c for i, c in enumerate(items) if i not in required]
    groups = [[items[i]] for i in required] + [[c] for c in optional[:singles]]
    groups += [optional[i : i + size] for i in range(singles, len(optional), size)]
    assert (len(groups) < count) == (count > 64)
    for rng in (seeded(f"groups {n}") for n in range(3)):
        left = [group.copy() for group in groups]
        allowed = len(items) if maximum == UNBOUNDED else maximum
        while any(left):
            taken = rng.choice([c for group in left for c in group])
            needed = [group for group in left[: len(required)] if group]
            possible = bool(allowed > len(needed) or [taken] in needed)
            assert matcher.accept_string(taken) == possible
            if not possible:
                break
            allowed -= 1
            for group in left:
                if taken in group:
                    for passed in group[: group.index(taken) + 1]:
                        group.remove(passed)
                        assert not matcher.accept_string(passed)
            assert matcher.is_completed() == (not any(left[: len(required)]))
        matcher.reset()


def test_more_items_than_bits_are_refused() -> None:
    with pytest.raises(maskwright.LimitError):
        permutation(IRBuilder(), "p", Selection([text("a")] * (MOST_ITEMS + 1)), may_group=True)
    with pytest.raises(maskwright.LimitError):  # required items have a bit each
        permutation(IRBuilder(), "p", Selection([text("a")] * 65, range(65)), may_group=True)
    with pytest.raises(maskwright.LimitError) as error:
        permutation(IRBuilder(), "p", Selection([EMPTY] * 65))
    assert error.value.limit == "parameter_bits"
    with pytest.raises(maskwright.LimitError):
        permutation(IRBuilder(), "p", Selection([EMPTY] * 60, maximum=100, extra=text("x")))
