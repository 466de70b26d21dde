"""Rules with a parameter: every mask bit against the oracle, and how few instances a large one costs."""

from __future__ import annotations

import itertools
import random
import threading

import pytest

import maskwright
from maskwright import ir
from maskwright.ir import (
    EMPTY,
    Expr,
    GrammarIR,
    alt,
    call,
    guard,
    literal,
    never,
    optional,
    ref,
    repeat,
    seq,
    star,
    tokens,
)
from maskwright.ir.parameters import (
    SELF,
    bit_clear,
    bit_set,
    both,
    compare,
    compare_count,
    constant,
    contains,
    decrement,
    either,
    increment,
    is_ones,
    is_zeros,
    masked,
    set_bit,
)
from oracle.comparing import compare_with_oracle, compile_fresh, compile_ir, mask_of, scaled, seeded, walk
from oracle.grammars import AB, A, B, grammar, random_parametric_grammar
from oracle.model import Language
from oracle.vocabularies import BYTES, SMALL, of, strings

LETTERS = of(*strings(b"abcde", 2), "abcde", "edcba", ",a", "b,", stop=(b"</s>",), padding=1)


def permutation(items: list[Expr], required: int = 0, separator: Expr = EMPTY) -> Expr:
    """The body of rule 0: each item at most once, in any order, the required ones present."""
    first = is_zeros()
    taken = [
        guard(bit_clear(i), seq(alt(guard(first, EMPTY), guard(compare(">", 0), separator)), e, call(0, set_bit(i))))
        for i, e in enumerate(items)
    ]
    return alt(guard(contains(required), EMPTY), *taken)


@pytest.mark.parametrize("required", [0b00000, 0b01010, 0b11111])
def test_permutations_of_five_letters(required: int) -> None:
    """All prefixes of all permutations, each with its mask."""
    g = grammar(permutation([literal(bytes((b,))) for b in b"abcde"], required))
    language = Language(g)
    compiled = compile_fresh(g, LETTERS)
    matcher = maskwright.GrammarMatcher(compiled)
    for length in range(6):
        for word in itertools.permutations("abcde", length):
            text = "".join(word)
            assert matcher.accept_string(text)
            assert matcher.is_completed() == all(required >> "abcde".index(x) & 1 <= (x in word) for x in "abcde")
            rest = [
                t for t, data in enumerate(LETTERS.token_bytes) if data and language.viable((*text.encode(), *data))
            ]
            allowed = set(rest) - set(LETTERS.stop) | (set(LETTERS.stop) if matcher.is_completed() else set())
            assert mask_of(matcher, LETTERS.vocab_size) == allowed, text
            matcher.reset()
    for word in itertools.product("abcde", repeat=3):
        assert matcher.accept_string("".join(word)) == (len(set(word)) == 3)
        matcher.reset()


@pytest.mark.parametrize(
    "g",
    [
        grammar(permutation([A, B, literal(b"c")], 0b101, literal(b","))),
        grammar(permutation([A, literal(b"aa"), literal(b"ab")])),
        grammar(permutation([optional(A), B, EMPTY], 0b111)),
        grammar(permutation([star(A), B], 0b01)),
        grammar(permutation([ref(1), seq(B, ref(1))], 0b01), alt(A, seq(literal(b"c"), ref(0), literal(b"c")))),
        grammar(alt(EMPTY, guard(compare("<", 3), seq(AB, call(0, increment()))))),
        grammar(seq(call(1, constant(3)), B), alt(guard(is_zeros(), EMPTY), seq(A, call(1, decrement((0, 2)))))),
        grammar(seq(call(1, constant(5)), call(1, constant(2))), alt(guard(bit_set(0), A), guard(bit_set(1), B))),
        grammar(
            alt(guard(compare_count(">=", 2), EMPTY), *(seq(x, call(0, set_bit(i))) for i, x in enumerate((A, B))))
        ),
        grammar(
            ref(1), alt(A, seq(B, call(2, constant(1)))), alt(guard(bit_set(0), ref(1)), guard(bit_clear(0), never()))
        ),
        grammar(alt(A, guard(bit_set(0), B), seq(A, call(0, constant(1))))),
        grammar(alt(guard(bit_set(2), EMPTY), seq(AB, call(0, masked(0b11, 0b100))), guard(is_ones((0, 2)), A))),
        grammar(
            seq(call(1, constant(1)), call(1, constant(2))),
            repeat(alt(guard(bit_set(0), A), guard(bit_set(1), B)), 2, 3),
        ),
        grammar(seq(call(1, constant(1)), B), repeat(alt(guard(bit_set(0), A), seq(B, call(1, constant(0)))), 2, 40)),
        grammar(seq(call(1, constant(1)), B), seq(repeat(alt(guard(bit_set(0), A), ref(2)), 2, 40), B), seq(A, ref(1))),
        grammar(seq(call(1, SELF), B), alt(guard(bit_clear(0), tokens([3])), A)),
        grammar(seq(call(1, constant(0)), B), seq(repeat(alt(EMPTY, guard(bit_set(0), A)), 2, 40), B)),
        grammar(seq(call(1, SELF), B), seq(repeat(alt(EMPTY, guard(bit_set(0), seq(A, call(1, SELF)))), 20, 40), B)),
    ],
    ids=lambda g: g.rules[0].body.dump()[:60],
)
def test_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(g.dump())
    for vocab in (SMALL, LETTERS):
        compare_with_oracle(g, vocab, rng, steps=6)


@pytest.mark.parametrize(
    "g",
    [
        grammar(alt(B, seq(call(0, SELF), A))),
        grammar(call(1, constant(2)), alt(guard(bit_set(1), B), seq(call(1, SELF), A))),
        grammar(
            call(1, constant(0)), alt(guard(compare("==", 3), B), guard(compare("<", 3), seq(call(1, increment()), A)))
        ),
        grammar(call(1, constant(1)), alt(A, seq(call(2, SELF), B)), alt(guard(bit_set(0), B), seq(call(1, SELF), A))),
        grammar(
            call(1, constant(1)),
            alt(A, seq(call(1, masked(1, 2)), B), guard(bit_set(1), seq(call(1, masked(1, 0)), A))),
        ),
        grammar(permutation([star(A), star(B), optional(literal(b"c"))])),
        grammar(alt(guard(compare("<", 4, (0, 3)), seq(call(0, increment((0, 3))), A)), B)),
        grammar(repeat(alt(A, seq(call(0, set_bit(0)), B)), 0, 30)),
        grammar(call(1, constant(1)), repeat(alt(A, guard(bit_set(0), seq(call(1, SELF), B))), 1, 30)),
    ],
    ids=lambda g: g.dump()[:70],
)
def test_left_recursion(g: GrammarIR) -> None:
    rng = seeded(g.dump())
    compare_with_oracle(g, SMALL, rng, steps=8)


def test_random_parametric_grammars() -> None:
    rng = seeded("parametric")
    edges = (3, SMALL.special[0], SMALL.stop[1])
    for _ in range(scaled(100)):
        compare_with_oracle(random_parametric_grammar(rng, edges), SMALL, rng, steps=5)


def test_instances_are_forgotten_and_made_again() -> None:
    """With a memory budget that is always exceeded, instances are left behind all the time."""
    rng = seeded("parametric flushes")
    flushes = 0
    for _ in range(scaled(12)):
        language = Language(random_parametric_grammar(rng))
        if not language.viable(()):
            continue
        compiled = compile_ir(language.grammar, maskwright.GrammarCompiler(SMALL.info(), grammar_limit_bytes=1))
        walk(compiled, language, SMALL, rng, steps=4)
        flushes += compiled._native.num_flushes
    assert flushes


def test_threads_make_instances_at_once() -> None:
    g = grammar(permutation([literal(bytes((b,))) for b in b"abcde"], 0b10101))
    language = Language(g)
    compiled = compile_fresh(g, LETTERS)
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        try:
            walk(compiled, language, LETTERS, seeded(f"parametric {seed}"), steps=8)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


@pytest.mark.parametrize("required", [0, 0b1001 << 20, (1 << 60) - 1], ids=["none", "two", "all"])
def test_sixty_properties_in_any_order_need_few_instances(required: int) -> None:
    names = [f'"key {i}": 1'.encode() for i in range(60)]
    compiled = compile_fresh(grammar(permutation([literal(n) for n in names], required, literal(b","))), BYTES)
    matcher = maskwright.GrammarMatcher(compiled)
    order = list(range(60))
    random.Random(7).shuffle(order)
    assert compiled._native.num_instances == 1
    for position, i in enumerate(order):
        assert matcher.accept_string(b","[: position > 0] + names[i])
        mask_of(matcher, BYTES.vocab_size)
        assert matcher.is_completed() == (required & ~sum(1 << j for j in order[: position + 1]) == 0)
        assert compiled._native.num_instances <= 2 + position
    matcher.reset()
    assert all(matcher.accept_string(b","[: position > 0] + names[i]) for position, i in enumerate(order))
    assert compiled._native.num_instances <= 61


def test_grammars_share_instances() -> None:
    compiler = maskwright.GrammarCompiler(LETTERS.info(), cache_enabled=False)
    body = permutation([A, B, literal(b"c")])
    first = compile_ir(grammar(body), compiler)
    assert maskwright.GrammarMatcher(first).accept_string("abc")
    made = first._native.num_instances
    second = compile_ir(grammar(seq(literal(b"("), ref(1)), seq(ref(2), literal(b")")), body_of(body, 2)), compiler)
    assert maskwright.GrammarMatcher(second).accept_string("(acb)")
    third = compile_ir(GrammarIR(grammar(body).rules, 0), compiler)
    assert third._native.num_instances == made


def body_of(e: Expr, rule: int) -> Expr:
    """The same body as another rule's."""
    if e[0] == ir.OP_CALL:
        return call(rule, e[2])
    return Expr(body_of(part, rule) if isinstance(part, Expr) else part for part in e)


COUNTS_FOREVER = seq(A, call(0, increment()))


@pytest.mark.parametrize(
    ("g", "limit"),
    [
        (grammar(alt(guard(compare("==", 1 << 40), EMPTY), COUNTS_FOREVER)), "parametric_search"),
        (
            grammar(alt(guard(bit_set(63), EMPTY), *(seq(A, call(0, set_bit(i))) for i in range(50)))),
            "parametric_search",
        ),
        (grammar(alt(seq(call(0, increment()), A), B)), "parametric_left_calls"),
        (grammar(permutation([star(literal(bytes((b,)))) for b in range(97, 120)])), "parametric_left_calls"),
        (grammar(ir.and_(guard(bit_set(0), A), B)), "regular_operands"),
    ],
    ids=["counts too far", "too many sets", "left recursion grows", "all may be empty", "in an intersection"],
)
def test_explosions_are_refused(g: GrammarIR, limit: str) -> None:
    with pytest.raises(maskwright.LimitError) as error:
        compile_fresh(g, SMALL)
    assert error.value.limit == limit


def test_a_parameter_may_grow_forever() -> None:
    """One instance a step, and what piles up is left behind."""
    g = grammar(alt(B, seq(A, call(0, increment()))))
    compiled = compile_ir(g, maskwright.GrammarCompiler(SMALL.info(), grammar_limit_bytes=1 << 20))
    matcher = maskwright.GrammarMatcher(compiled)
    a = SMALL.token_bytes.index(b"a")
    for _ in range(3_000):
        assert matcher.accept_token(a)
    assert compiled._native.num_flushes > 0
    assert mask_of(matcher, SMALL.vocab_size) >= {a}


def test_conditions_too_deep_are_refused() -> None:
    condition = bit_set(0)
    for depth in range(200):
        condition = (both, either)[depth % 2](condition, bit_set(depth % 60), bit_clear(depth % 59))
    with pytest.raises(maskwright.LimitError) as error:
        compile_fresh(grammar(guard(condition, A)), SMALL)
    assert error.value.limit == "condition_depth"
