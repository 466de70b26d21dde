"""Drafts, linear and trees: every row is what the matcher would fill after the tokens up to it, and nothing changes."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest

import maskwright
from maskwright.ir import alt, seq, star
from oracle.comparing import compile_fresh, mask_of, scaled, seeded
from oracle.grammars import A, B, grammar, random_grammar
from oracle.vocabularies import SMALL

SIZE = SMALL.vocab_size


def random_matcher(rng: random.Random) -> maskwright.GrammarMatcher:
    while True:
        with contextlib.suppress(maskwright.UnsatisfiableError):
            return maskwright.GrammarMatcher(compile_fresh(random_grammar(rng, SMALL.special), SMALL))


def rows(bitmask: np.ndarray) -> list[set[int]]:
    bits = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in bits]


def dirty(num_rows: int) -> np.ndarray:
    return np.full((num_rows, (SIZE + 31) // 32), 0x5A5A5A5A, np.int32)


def masks_along(matcher: maskwright.GrammarMatcher, draft: list[int]) -> list[set[int]]:
    """What accepting one by one and filling between gives."""
    fork = matcher.fork()
    out = [mask_of(fork, SIZE)]
    for i, token in enumerate(draft):
        if not fork.accept_token(token):
            return out + [set()] * (len(draft) - i)
        out.append(mask_of(fork, SIZE))
    return out


def random_draft(matcher: maskwright.GrammarMatcher, rng: random.Random, length: int) -> list[int]:
    fork, out = matcher.fork(), []
    for _ in range(length):
        allowed = sorted(mask_of(fork, SIZE))
        out.append(rng.choice(allowed) if allowed and rng.random() < 0.8 else rng.randrange(-1, SIZE + 1))
        fork.accept_token(out[-1])
    return out


def test_linear_drafts() -> None:
    rng = seeded("linear drafts")
    for _ in range(scaled(60)):
        matcher = random_matcher(rng)
        for _ in range(6):
            draft = random_draft(matcher, rng, rng.randrange(6))
            expected = masks_along(matcher.fork(), draft)
            bitmask = dirty(len(draft) + 3)
            num_accepted = matcher.fill_draft_bitmask(draft, bitmask, 1)
            assert rows(bitmask[1:-1]) == expected
            assert (bitmask[[0, -1]] == 0x5A5A5A5A).all()
            assert num_accepted == matcher.validate_tokens(draft)
            assert mask_of(matcher, SIZE) == expected[0]
            if not matcher.accept_tokens(draft[:1]):
                break


def test_drafts_of_a_batch() -> None:
    rng = seeded("batch drafts")
    for _ in range(scaled(20)):
        matchers = [random_matcher(rng) for _ in range(5)]
        batch = maskwright.BatchGrammarMatcher(matchers)
        drafts = [random_draft(m, rng, rng.randrange(5)) for m in matchers]
        expected = [masks_along(m, d) for m, d in zip(matchers, drafts, strict=True)]
        bitmask = dirty(sum(map(len, expected)))
        accepted = batch.fill_draft_bitmask(drafts, bitmask)
        assert rows(bitmask) == [row for some in expected for row in some]
        assert accepted == batch.validate_tokens(drafts)
        bitmask = dirty(30)
        batch.fill_draft_bitmask(drafts, bitmask, [24, 0, 6, 12, 18])
        for begin, some in zip([24, 0, 6, 12, 18], expected, strict=True):
            assert rows(bitmask[begin : begin + len(some)]) == some


def test_rows_of_drafts_must_be_there_and_apart() -> None:
    compiled = compile_fresh(grammar(star(A)), SMALL)
    matchers = [maskwright.GrammarMatcher(compiled) for _ in range(2)]
    batch, bitmask = maskwright.BatchGrammarMatcher(matchers), dirty(4)
    for begins in ([0, 1], [3, 0], [-1, 2], [0], [0, 2, 4]):
        with pytest.raises((maskwright.BitmaskError, maskwright.MatcherError)):
            batch.fill_draft_bitmask([[0], [0]], bitmask, begins)
    with pytest.raises(maskwright.BitmaskError):
        batch.fill_draft_bitmask([[0], [0, 0]], bitmask)
    with pytest.raises(maskwright.BitmaskError):
        matchers[0].fill_draft_bitmask([0] * 4, bitmask)
    assert (bitmask == 0x5A5A5A5A).all()
    assert batch.fill_draft_bitmask([[0], [0]], bitmask, [2, 0]) == [1, 1]


def random_tree(rng: random.Random, size: int) -> tuple[list[int], list[int], list[int]]:
    """First children, next siblings, parents; parents need not come before their children."""
    names = [0, *rng.sample(range(1, size), size - 1)]
    first_child, next_sibling, parents = [-1] * size, [-1] * size, [-1] * size
    for i in range(1, size):
        parent, node = names[rng.randrange(i)], names[i]
        parents[node] = parent
        next_sibling[node], first_child[parent] = first_child[parent], node
    return first_child, next_sibling, parents


def path_to(node: int, parents: list[int]) -> list[int]:
    path = []
    while node > 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


def test_draft_trees() -> None:
    rng = seeded("draft trees")
    for _ in range(scaled(80)):
        matcher = random_matcher(rng)
        matcher.accept_tokens(random_draft(matcher, rng, 2))
        first_child, next_sibling, parents = random_tree(rng, rng.randint(1, 12))
        likely = [*sorted(mask_of(matcher, SIZE)), 0, 1, SMALL.stop[0]]
        tokens = [rng.choice(likely) if rng.random() < 0.9 else rng.choice((-1, SIZE, 2**40)) for _ in parents]
        before, bitmask = mask_of(matcher, SIZE), dirty(len(parents))
        num_living = matcher.traverse_draft_tree(
            np.array(first_child), np.array(next_sibling), np.array(tokens), bitmask
        )
        expected = []
        for node in range(len(parents)):
            fork, path = matcher.fork(), [tokens[i] for i in path_to(node, parents)]
            expected.append(mask_of(fork, SIZE) if fork.accept_tokens(path) == len(path) else None)
        assert rows(bitmask) == [mask or set() for mask in expected]
        assert num_living == sum(mask is not None for mask in expected)
        assert mask_of(matcher, SIZE) == before


def test_nodes_outside_the_tree_are_zero() -> None:
    matcher, bitmask = maskwright.GrammarMatcher(compile_fresh(grammar(star(A)), SMALL)), dirty(3)
    assert matcher.traverse_draft_tree([-1, 2, -1], [-1, -1, -1], [0, 0, 0], bitmask) == 1
    assert rows(bitmask)[1:] == [set(), set()]


def test_a_long_line_as_a_tree() -> None:
    size = 20_000
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(star(seq(A, B))), SMALL))
    first_child = np.arange(1, size + 1)
    first_child[-1] = -1
    bitmask = dirty(size)
    tokens = np.arange(1, size + 1) % 2  # a, b, a, b, ... from node 1 on
    assert matcher.traverse_draft_tree(first_child, np.full(size, -1), tokens, bitmask) == size


NO_TREES = {
    "no nodes": ([], [], []),
    "fewer children": ([-1], [-1, -1], [0, 0]),
    "fewer siblings": ([-1, -1], [-1], [0, 0]),
    "more tokens": ([-1, -1], [-1, -1], [0, 0, 0]),
    "a child that is not there": ([2, -1], [-1, -1], [0, 0]),
    "a sibling that is not there": ([1, -1], [-1, 7], [0, 0]),
    "below -1": ([1, -2], [-1, -1], [0, 0]),
    "too large for an index": ([2**62, -1], [-1, -1], [0, 0]),
    "too large for an int64": ([2**70, -1], [-1, -1], [0, 0]),
    "its own child": ([1, 1], [-1, -1], [0, 0]),
    "the root as a child": ([1, 0], [-1, -1], [0, 0]),
    "its own sibling": ([1, -1], [-1, 1], [0, 0]),
    "a cycle": ([1, 2, 1], [-1, -1, -1], [0, 0, 0]),
    "two parents": ([1, 3, 3, -1], [-1, 2, -1, -1], [0, 0, 0, 0]),
    "a sibling of the root": ([-1, -1], [1, -1], [0, 0]),
}


@pytest.mark.parametrize("name", NO_TREES)
def test_no_trees(name: str) -> None:
    matcher, bitmask = maskwright.GrammarMatcher(compile_fresh(grammar(star(alt(A, B))), SMALL)), dirty(4)
    with pytest.raises(maskwright.MatcherError):
        matcher.traverse_draft_tree(*NO_TREES[name], bitmask)
    assert (bitmask == 0x5A5A5A5A).all()
    assert matcher.accept_token(0)


def test_arrays_of_other_kinds() -> None:
    torch = pytest.importorskip("torch")
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(seq(A, B)), SMALL))
    tree = ([1, 2, -1], [-1, -1, -1], [9, 0, 1])
    for make in (list, tuple, np.array, torch.tensor, lambda x: np.array(x, np.int32), lambda x: iter(x)):
        bitmask = dirty(3)
        assert matcher.traverse_draft_tree(*map(make, tree), bitmask) == 3
        assert rows(bitmask) == masks_along(matcher, [0, 1])
    for wrong in (np.array([1.0, 2.0, -1.0]), np.zeros((3, 1), np.int64), None, "abc"):
        with pytest.raises((TypeError, maskwright.MatcherError)):
            matcher.traverse_draft_tree(wrong, tree[1], tree[2], dirty(3))


def warm_matcher(**options: float) -> maskwright.GrammarMatcher:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    source = 'root ::= "a" hot "c" cold\nhot[temperature=1.5] ::= [ab]+\ncold[temperature=0.25] ::= "a" [ab]'
    return maskwright.GrammarMatcher(compiler.compile_grammar(source), **options)


@pytest.mark.parametrize("options", [{}, {"default_temperature": 0.75}], ids=["none", "default"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_temperatures_of_a_tree_are_those_of_its_nodes(library: str, options: dict[str, float]) -> None:
    make = np.zeros if library == "numpy" else pytest.importorskip("torch").zeros
    rng, matcher, found = seeded("temperatures"), warm_matcher(**options), set()
    dtype = np.float32 if library == "numpy" else pytest.importorskip("torch").float32
    for _ in range(scaled(40)):
        first_child, next_sibling, parents = random_tree(rng, rng.randint(1, 12))
        tokens = [rng.choice((0, 1, 14, 14, SMALL.stop[0])) for _ in parents]
        temperatures = make(len(parents) + 1, dtype=dtype)
        matcher.traverse_draft_tree(first_child, next_sibling, tokens, dirty(len(parents)), temperatures=temperatures)
        for node in range(len(parents)):
            fork, path = matcher.fork(), [tokens[i] for i in path_to(node, parents)]
            lives = fork.accept_tokens(path) == len(path)
            expected = fork.temperature() if lives else None
            assert temperatures[node] == (-1 if expected is None else expected)
            found.add(expected)
        assert temperatures[len(parents)] == 0
    assert found >= {None, 1.5, *options.values()}


def test_a_tree_that_takes_too_long() -> None:
    """Nothing is said of the nodes then; with time enough, or no limit, all is."""
    matcher, tree = warm_matcher(), ([1, 2, -1], [-1, -1, -1], [0, 0, 1])
    expected = masks_along(matcher, [0, 1])
    bitmask, temperatures = dirty(3), np.ones(3, np.float32)
    assert matcher.traverse_draft_tree(*tree, bitmask, 1e-12, temperatures) == 0
    assert not bitmask.any()
    assert (temperatures == -1).all()
    for enough in (60.0, 1e300, float("inf"), 0.0, -1.0, float("nan")):
        bitmask = dirty(3)
        assert matcher.traverse_draft_tree(*tree, bitmask, time_threshold=enough) == 3
        assert rows(bitmask) == expected
    assert matcher.num_accepted_tokens == 0


def test_temperatures_of_other_forms() -> None:
    torch = pytest.importorskip("torch")
    matcher, read_only = warm_matcher(), np.zeros(1, np.float32)
    read_only.flags.writeable = False
    for wrong in (
        np.zeros(1),
        np.zeros((1, 1), np.float32),
        np.zeros(0, np.float32),
        np.zeros(4, np.float32)[::2],
        read_only,
        [0.0],
        3,
        torch.zeros(1, dtype=torch.float16),
        torch.zeros(1, device="meta"),
    ):
        bitmask = dirty(1)
        with pytest.raises(maskwright.BitmaskError, match="temperatures must be a one-dimensional float32"):
            matcher.traverse_draft_tree([-1], [-1], [0], bitmask, temperatures=wrong)
        assert (bitmask == 0x5A5A5A5A).all()


def test_default_temperatures() -> None:
    compiler = maskwright.GrammarCompiler(SMALL.info())
    compiled = compiler.compile_grammar('root ::= "a" warm\nwarm[temperature=0.5] ::= "b"')
    matcher = maskwright.GrammarMatcher(compiled, default_temperature=0)
    assert matcher.temperature() == 0
    assert matcher.accept_token(0)
    assert matcher.fork().temperature() == 0.5
    assert matcher.accept_token(1)
    batch = maskwright.BatchGrammarMatcher([matcher, maskwright.GrammarMatcher(compiled)])
    assert batch.temperature() == [0, None]
    for wrong in (-0.1, float("inf"), float("nan")):
        with pytest.raises(maskwright.OptionError, match="default_temperature must be finite and >= 0"):
            maskwright.GrammarMatcher(compiled, default_temperature=wrong)
