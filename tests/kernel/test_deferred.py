"""Deferred subgrammars: made when an output comes to them, from whatever asks; answers are those of the grammar."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import maskwright
from maskwright import _kernel
from maskwright.ir import (
    Expr,
    GrammarIR,
    Promised,
    Rule,
    alt,
    call,
    deferred_subgrammar,
    plus,
    recall,
    ref,
    remember,
    repeat,
    scope,
    seq,
    span,
    star,
    subgrammar,
    text,
    tokens,
)
from maskwright.ir import capture as captured
from maskwright.ir.parameters import constant, increment
from oracle.comparing import mask_of

STOP = 260
WORDS = [b"a(", b"(x", b"ab", b"b(ab"]
INFO = maskwright.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), *WORDS, b"</s>"], stop_token_ids=[STOP])
CONTENTS = {
    "a": seq(text("("), plus(text("x")), text(")")),
    "b": alt(seq(text("("), ref(0), text(")")), text("(ab)")),
    "c": seq(text("("), captured("inner", repeat(alt(text("x"), text("yy")), 2, 40)), text(")")),
}


class Contents:
    """Deferred contents, of which it is known which were made."""

    def __init__(self, num_bytes: int = -1) -> None:
        self.made: list[str] = []
        self.fails = False
        self.promised = Promised(b"(", num_bytes=num_bytes)

    def of(self, name: str, body: Expr | None = None) -> Expr:
        def make() -> GrammarIR:
            self.made.append(name)
            if self.fails:
                raise OSError("out of luck")
            return GrammarIR((Rule(name, CONTENTS[name] if body is None else body),), 0)

        return deferred_subgrammar(make, self.promised)


def grammar(content: Callable[[str], Expr]) -> maskwright.Grammar:
    """Calls `a(...)`, `b(...)`, `c(...)` with `;` behind each."""
    calls = [seq(text(name), content(name), text(";")) for name in CONTENTS]
    return maskwright.Grammar(GrammarIR((Rule("root", star(captured("call", alt(*calls)))),), 0))


def eager(name: str) -> Expr:
    return subgrammar(GrammarIR((Rule(name, CONTENTS[name]),), 0))


def compiled(source: maskwright.Grammar) -> maskwright.CompiledGrammar:
    return maskwright.GrammarCompiler(INFO, cache_enabled=False).compile_grammar(source)


def matcher(source: maskwright.Grammar, **options: Any) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(compiled(source), **options)


def mask(it: maskwright.GrammarMatcher) -> set[int]:
    return mask_of(it, STOP + 1)


@pytest.mark.parametrize("seed", range(20))
def test_masks_are_those_of_the_whole_grammar(seed: int) -> None:
    rng = random.Random(seed)
    contents = Contents()
    late, whole = matcher(grammar(contents.of)), matcher(grammar(eager))
    for _ in range(40):
        if rng.random() < 0.7:
            assert mask(late) == mask(whole)
        token = rng.choice(sorted(mask(whole) - {STOP}))
        assert late.accept_token(token)
        assert whole.accept_token(token)
    assert late.get_captures() == whole.get_captures()
    assert late.fork().get_captures() == whole.get_captures()


def test_only_what_is_called_is_made() -> None:
    contents = Contents()
    it = matcher(grammar(contents.of))
    assert {ord("a"), ord("b"), ord("c"), 259} <= mask(it)  # of which one goes on into the content of b
    assert contents.made == ["a", "b"]
    assert it.accept_token(ord("c"))
    assert contents.made == ["a", "b"]
    assert mask(it) == {ord("("), 257}
    assert contents.made == ["a", "b", "c"]
    assert it.accept_string("(xyyx);")
    for _ in range(2):
        assert it.accept_string("c(xx);b((ab));")
    assert contents.made == ["a", "b", "c"]


Asks = Callable[[maskwright.GrammarMatcher], Any]
ASKS: dict[str, Asks] = {
    "accept_token": lambda m: m.accept_token(259),
    "accept_tokens": lambda m: m.accept_tokens([98, 40, 97, 98, 41, 59, 98]),
    "accept_string": lambda m: m.accept_string("b(((ab)));"),
    "validate_tokens": lambda m: m.validate_tokens([98, 40, 40, 41]),
    "fill": mask,
    "draft": lambda m: drafted(m, [98, 40, 40, 97, 98, 41, 41, 59]),
    "tree": lambda m: tree(m),
    "forced_token": lambda m: m.accept_token(98) and m.forced_token(),
    "forced_bytes": lambda m: m.accept_token(98) and m.forced_bytes(),
    "text_may_follow": lambda m: m.text_may_follow(),
    "captures": lambda m: m.accept_string("b(ab);") and m.get_captures(),
    "open captures": lambda m: m.accept_string("b(a") and m.get_open_captures(),
    "temperature": lambda m: m.temperature(),
    "precompute": lambda m: (m.precompute(10_000), mask(m))[1],
    "batch fill": lambda m: batch_mask([m]),
    "batch accept": lambda m: maskwright.BatchGrammarMatcher([m]).accept_token([259]),
    "batch accept_string": lambda m: maskwright.BatchGrammarMatcher([m]).accept_string(["b(ab);"]),
    "batch validate": lambda m: maskwright.BatchGrammarMatcher([m]).validate_tokens([[98, 40, 40, 41]]),
}


def drafted(it: maskwright.GrammarMatcher, line: list[int]) -> Any:
    rows = maskwright.allocate_token_bitmask(len(line) + 1, STOP + 1)
    return it.fill_draft_bitmask(line, rows), np.array(rows).tolist()


def tree(it: maskwright.GrammarMatcher) -> Any:
    rows = maskwright.allocate_token_bitmask(4, STOP + 1)
    living = it.traverse_draft_tree(
        np.array([1, 2, -1, -1]), np.array([-1, 3, -1, -1]), np.array([0, 98, 40, 99]), rows
    )
    return living, np.array(rows).tolist()


def batch_mask(matchers: list[maskwright.GrammarMatcher]) -> Any:
    rows = maskwright.allocate_token_bitmask(len(matchers), STOP + 1)
    maskwright.BatchGrammarMatcher(matchers).fill_next_token_bitmask(rows)
    return np.array(rows).tolist()


@pytest.mark.parametrize("ask", ASKS)
def test_whoever_asks(ask: str) -> None:
    assert ASKS[ask](matcher(grammar(Contents().of))) == ASKS[ask](matcher(grammar(eager)))


@pytest.mark.parametrize("ask", ASKS)
def test_whoever_asks_when_a_budget_comes_near(ask: str) -> None:
    """Then all of them are needed, those that the output did not come to as well."""
    contents = Contents(num_bytes=200)
    late, whole = (matcher(grammar(of), max_tokens=600) for of in (contents.of, eager))
    for it in (late, whole):
        assert it.accept_tokens(before := list(b"a(" + b"x" * 395 + b");")) == len(before)
    assert "c" not in contents.made
    assert ASKS[ask](late) == ASKS[ask](whole)
    assert mask(late) == mask(whole)
    assert "c" in contents.made


def test_ahead_of_time() -> None:
    for source in (compiled(grammar(Contents().of)), matcher(grammar(Contents().of))):
        source.precompute(0)
    contents = Contents()
    done = compiled(grammar(contents.of)).precompute(1_000_000)
    assert done.finished
    assert sorted(contents.made) == ["a", "b", "c"]


def test_a_batch_whose_sequences_need_different_ones() -> None:
    def batch(content: Callable[[str], Expr], num: int) -> list[maskwright.GrammarMatcher]:
        one = compiled(grammar(content))
        return [maskwright.GrammarMatcher(one) for _ in range(num)]

    contents = Contents()
    late, whole = batch(contents.of, 6), batch(eager, 6)
    for each in (late, whole):
        assert all(it.accept_token(ord("abc"[i % 3])) for i, it in enumerate(each))
    assert contents.made == []
    assert batch_mask(late) == batch_mask(whole)
    assert sorted(contents.made) == ["a", "b", "c"]
    late = batch(Contents().of, 6)
    texts = ["a(x);", "b(ab);", "c(xx);", "a()", "b(ab);", "a(x);b((ab));"]
    assert maskwright.BatchGrammarMatcher(late).accept_string(texts) == [True, True, True, False, True, True]


def test_a_budget_for_the_whole_output() -> None:
    for budget in (0, 4, 5, 7, 12):
        contents = Contents()
        late, whole = (matcher(grammar(of), max_tokens=budget or None) for of in (contents.of, eager))
        assert len(contents.made) == (3 if budget else 0)
        rng = random.Random(budget)
        for _ in range(12):
            assert mask(late) == mask(whole)
            if mask(late) <= {STOP}:
                break
            token = rng.choice(sorted(mask(late) - {STOP}))
            assert late.accept_token(token)
            assert whole.accept_token(token)


@pytest.mark.parametrize("num_bytes", [4, 6, 9])
def test_a_budget_that_is_far_needs_none_of_them(num_bytes: int) -> None:
    """With what is promised, they are made when an output comes to them, or to where the budget may be near."""
    for budget in (*range(1, 24), 600):
        contents = Contents(num_bytes)
        late, whole = (matcher(grammar(of), max_tokens=budget) for of in (contents.of, eager))
        is_far = budget == 600
        assert contents.made == (["a", "b"] if is_far else ["a", "b", "c"])  # tokens of the first mask go on into two
        rng = random.Random(budget)
        assert mask(late) == mask(whole)
        assert contents.made == (["a", "b"] if is_far else ["a", "b", "c"])
        while not late.is_terminated():
            token = rng.choice(sorted(mask(whole)))
            assert late.accept_token(token)
            assert whole.accept_token(token)
            assert mask(late) == mask(whole)


def test_a_budget_that_is_too_small_is_found_out_without_what_is_promised() -> None:
    contents = Contents(100)
    source = maskwright.Grammar(GrammarIR((Rule("root", seq(text("c"), contents.of("c"))),), 0))
    with pytest.raises(maskwright.UnsatisfiableError, match="needs 4 tokens, but max_tokens is 3"):
        matcher(source, max_tokens=3)
    assert mask(matcher(source, max_tokens=4)) == {ord("c")}
    assert contents.made == ["c"]


def test_budgets_of_rules_beside_it() -> None:
    def source(content: Callable[[str], Expr]) -> maskwright.Grammar:
        thought = span(star(text("t")), 3)
        root = seq(thought, text("b"), content("b"), span(seq(text("a"), content("a")), 5))
        return maskwright.Grammar(GrammarIR((Rule("root", root),), 0))

    late, whole = matcher(source(Contents().of)), matcher(source(eager))
    for token in b"ttb(ab)a(x)":
        assert mask(late) == mask(whole)
        assert late.accept_token(token) == whole.accept_token(token) is True
    assert mask(late) == {STOP}


def test_grammars_share_it_and_forget_it() -> None:
    contents = Contents()
    expr = contents.of("b")

    def source(before: str) -> maskwright.Grammar:
        return maskwright.Grammar(GrammarIR((Rule("root", seq(text(before), expr)),), 0))

    first, second = matcher(source("1")), matcher(source("2"))
    assert second.accept_string("2(")
    assert first.accept_string("1(ab")
    assert contents.made == ["b"]
    del first, second
    gc.collect()
    assert matcher(source("3")).accept_string("3((ab))")
    assert contents.made == ["b"]
    assert "b ::=" in source("4").dump()


def test_dump_makes_it() -> None:
    contents = Contents()
    source = grammar(contents.of)
    assert source.dump() == grammar(eager).dump()
    assert sorted(contents.made) == ["a", "b", "c"]
    assert matcher(source).accept_string("b((ab));")
    assert sorted(contents.made) == ["a", "b", "b", "c"]  # what was made is not kept


@pytest.mark.parametrize("ask", ["accept_token", "fill", "draft", "captures", "batch fill", "batch accept"])
def test_what_fails_while_it_is_made_changes_nothing(ask: str) -> None:
    contents = Contents()
    it = matcher(grammar(contents.of))
    contents.fails = True
    with pytest.raises(OSError, match="out of luck"):
        ASKS[ask](it)
    assert it.num_accepted_tokens == 0
    contents.fails = False
    assert ASKS[ask](it) == ASKS[ask](matcher(grammar(eager)))


def test_what_fails_leaves_batches_and_runs_of_tokens_as_they_were() -> None:
    contents = Contents()
    one = compiled(grammar(contents.of))
    contents.fails = True
    batch = [maskwright.GrammarMatcher(one) for _ in range(3)]
    for ask in (
        lambda b: b.accept_token([ord("c"), 259, ord("a")]),
        lambda b: b.accept_tokens([[ord("c")], [98, 40], [97]]),
        lambda b: b.accept_string(["c", "b(", "a"]),
    ):
        with pytest.raises(OSError, match="out of luck"):
            ask(maskwright.BatchGrammarMatcher(batch))
        assert [m.num_accepted_tokens for m in batch] == [0, 0, 0]
    with pytest.raises(OSError, match="out of luck"):
        batch[0].accept_tokens([98, 40])
    assert batch[0].num_accepted_tokens == 0
    contents.fails = False
    assert maskwright.BatchGrammarMatcher(batch).accept_string(["c", "b(", "a"]) == [True, True, True]


def test_nothing_is_left_of_drafts_that_failed() -> None:
    def tree_of_all(it: maskwright.GrammarMatcher) -> None:
        rows = maskwright.allocate_token_bitmask(4, STOP + 1)
        it.traverse_draft_tree(np.array([1, -1, -1, -1]), np.array([-1, 2, 3, -1]), np.array([0, *b"abc"]), rows)

    for _ in range(3):
        info = maskwright.TokenizerInfo.from_vocab(
            [*(bytes([b]) for b in range(256)), *WORDS, b"</s>"], stop_token_ids=[STOP]
        )
        contents = Contents()
        source = grammar(contents.of)
        contents.fails = True
        it = maskwright.GrammarMatcher(maskwright.GrammarCompiler(info, cache_enabled=False).compile_grammar(source))
        with pytest.raises(OSError, match="out of luck"):
            tree_of_all(it)
        del it, info, source
        gc.collect()
        tree_of_all(matcher(grammar(Contents().of)))


def test_one_in_another() -> None:
    contents = Contents()
    outer = seq(text("("), contents.of("a"), text(")"))

    def source(leaf: Expr) -> maskwright.Grammar:
        return maskwright.Grammar(GrammarIR((Rule("root", seq(span(star(text("t")), 2), text("n"), leaf)),), 0))

    late = source(contents.of("outer", outer))
    whole = source(subgrammar(GrammarIR((Rule("outer", seq(text("("), eager("a"), text(")"))),), 0)))
    for options in ({}, {"max_tokens": 7}):
        one, other = matcher(late, **options), matcher(whole, **options)
        for token in b"tn((x))":
            assert mask(one) == mask(other)
            assert one.accept_token(token) == other.accept_token(token)


def test_a_long_text_is_read_once() -> None:
    contents = Contents()
    long = "a(" + "x" * 20_000 + ");c(xx);"
    assert matcher(grammar(contents.of)).accept_string(long)
    assert sorted(contents.made) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "body",
    [
        text("[x]"),
        star(text("(")),
        seq(ref(1), text(")")),
        tokens([40]),
        seq(text("("), span(text("x"), 3)),
        seq(text("("), scope(seq(remember(plus(text("x")), 1), text(")"), recall(1)))),
    ],
    ids=[
        "begins with another byte",
        "may be empty",
        "begins in another rule",
        "is a token",
        "has a budget",
        "remembers",
    ],
)
def test_a_promise_that_is_broken_is_found(body: Expr) -> None:
    rules = (Rule("r", body), Rule("s", seq(text("("), ref(1), text("x"))), Rule("t", text("(")))
    leaf = deferred_subgrammar(lambda: GrammarIR(rules, 0), Promised(b"("))
    it = matcher(maskwright.Grammar(GrammarIR((Rule("root", seq(text("a"), leaf)),), 0)))
    with pytest.raises((RuntimeError, maskwright.UnsatisfiableError)):
        it.accept_string("a(x")


def test_text_that_is_remembered() -> None:
    repeated = seq(text("("), scope(seq(remember(plus(text("x")), 1), text(")"), recall(1))))
    leaf = deferred_subgrammar(lambda: GrammarIR((Rule("r", repeated),), 0), Promised(b"(", remembers=True))
    late = maskwright.Grammar(GrammarIR((Rule("root", seq(text("a"), leaf, text(";"))),), 0))
    whole = maskwright.Grammar(GrammarIR((Rule("root", seq(text("a"), repeated, text(";"))),), 0))
    for options in ({}, {"max_tokens": 7}, {"max_tokens": 9}):
        one, other = matcher(late, **options), matcher(whole, **options)
        for token in b"a(xx)xx;":
            assert mask(one) == mask(other)
            assert one.accept_token(token) == other.accept_token(token)


@pytest.mark.parametrize("max_tokens", [None, 5_000])
def test_instances_of_deferred_rules_are_left_behind(max_tokens: int | None) -> None:
    """Past its budget, a grammar links parametric rules again, and asks for the deferred ones once more."""
    starts = seq(text("("), alt(*(seq(text(str(i)), call(1, constant(10_000 * i))) for i in range(6))))
    counts = alt(text(";"), seq(text("x"), call(1, increment())))
    made: list[int] = []

    def make() -> GrammarIR:
        made.append(len(made))
        return GrammarIR((Rule("starts", starts), Rule("counts", counts)), 0)

    leaf = deferred_subgrammar(make, Promised(b"(", parametric=True, num_bytes=9))
    source = maskwright.Grammar(GrammarIR((Rule("root", seq(text("a"), leaf)),), 0))
    compiler = maskwright.GrammarCompiler(INFO, cache_enabled=False, grammar_limit_bytes=100_000)
    one = compiler.compile_grammar(source)
    for i in range(6):
        it = maskwright.GrammarMatcher(one, max_tokens=max_tokens)
        assert it.accept_tokens(list(b"a(%d" % i)) == 3
        for _ in range(500):
            assert mask_of(it, STOP + 1) == {ord("x"), ord(";")}
            assert it.accept_token(ord("x"))
    assert one.stats().num_flushes > 0
    assert one._native.num_instances < 2_000
    assert len(made) <= one.stats().num_flushes + 1
    again = maskwright.GrammarMatcher(compiler.compile_grammar(source))
    assert again.accept_bytes(b"a(3xx;")
    assert again.is_completed()


def test_many_threads_at_once() -> None:
    for _ in range(20):
        contents = Contents()
        one = compiled(grammar(contents.of))

        def run(seed: int, one: maskwright.CompiledGrammar = one) -> set[int]:
            it = maskwright.GrammarMatcher(one)
            assert it.accept_string(["a(x", "b((a", "c(xy"][seed % 3])
            return mask(it)

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(run, range(24)))
        assert all(found[i] == found[i % 3] for i in range(24))
        assert set(contents.made) == {"a", "b", "c"}


def test_without_sharing() -> None:
    _kernel.set_optimisations(sharing=False)
    try:
        assert ASKS["draft"](matcher(grammar(Contents().of))) == ASKS["draft"](matcher(grammar(eager)))
    finally:
        _kernel.set_optimisations()
