"""Patterns with a bound on the length: intersections of regular expressions with a counted repetition, every state.

    (pattern "c") & (character{m,n} "c")

Characters are one to three bytes long, so that counting characters is not counting bytes; patterns leave gaps between
the lengths that they allow, so that a state can be alive for some counts and dead for others.
"""

from __future__ import annotations

import itertools
import random

import pytest

import maskwright
from maskwright.ir import EMPTY, Expr, alt, and_, byte_range, bytes_in, literal, not_, plus, repeat, seq, star
from oracle import vocabularies
from oracle.comparing import compile_fresh, scaled, seeded, walk
from oracle.grammars import AB, A, B, expressions, grammar, random_regular
from oracle.model import Language

C = literal(b"c")
LONG_CHARACTER = alt(A, literal(b"ba"), literal(b"bba"), literal(b"bbb"))
CHARACTERS = (AB, LONG_CHARACTER)
PATTERNS = (
    star(AB),
    plus(A),
    star(literal(b"aa")),
    seq(star(AB), literal(b"ba"), star(AB)),
    alt(literal(b"aab"), repeat(literal(b"ba"), 3, -1)),
    seq(star(literal(b"bba")), A, repeat(AB, 2, 4)),
    alt(seq(A, A, A), star(seq(literal(b"bbb"), AB, AB))),
    repeat(plus(alt(A, literal(b"bb"))), 2, 20),
)
BOUNDS = ((0, 2), (2, 2), (3, 5), (0, 30), (17, 17), (18, 20), (19, -1), (40, 41))
VOCAB = vocabularies.of(*vocabularies.strings(b"abc", 3), b"aaaaaa", b"bbbbbbc", b"abababab", b"ca" * 4)


def counted(character: Expr, bounds: tuple[int, int]) -> Expr:
    return seq(repeat(character, *bounds), C)


def check(root: Expr, rng: random.Random, steps: int) -> None:
    language = Language(grammar(root))
    if not language.viable(()):
        with pytest.raises(maskwright.UnsatisfiableError):
            compile_fresh(language.grammar, VOCAB)
        return
    walk(compile_fresh(language.grammar, VOCAB), language, VOCAB, rng, steps)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("character", CHARACTERS)
def test_patterns_with_gaps(character: Expr, bounds: tuple[int, int]) -> None:
    rng = seeded(f"gaps {character} {bounds}")
    for pattern in PATTERNS:
        both = and_(seq(pattern, C), counted(character, bounds))
        check(rng.choice((both, seq(star(A), both, B), plus(both))), rng, scaled(6))


def test_all_small_patterns() -> None:
    rng = seeded("small patterns")
    patterns = [star(e) for size in (1, 2, 3) for e in expressions(size, 0) if e != EMPTY]
    cases = list(itertools.product(patterns, CHARACTERS, ((0, 2), (17, 18), (20, -1))))
    for pattern, character, bounds in rng.sample(cases, min(len(cases), scaled(120))):
        check(and_(seq(pattern, C), counted(character, bounds)), rng, 4)


def test_with_complements_and_several_patterns() -> None:
    rng = seeded("complements")
    for _ in range(scaled(80)):
        character, bounds = rng.choice(CHARACTERS), rng.choice(BOUNDS)
        operands = [seq(random_regular(rng, 2), C) for _ in range(rng.randint(0, 2))]
        operands += [not_(seq(random_regular(rng, 1), C)) for _ in range(rng.randint(0, 2))]
        check(and_(counted(character, bounds), *operands), rng, 4)


@pytest.mark.parametrize("others", [(5, 7), (5, 7, 11)])
def test_two_of_many_operands_exclude_each_other(others: tuple[int, ...]) -> None:
    """Lengths that leave 0 and 1 over when divided by three, in a product too large to be searched at a glance."""
    threes = star(literal(b"aaa"))
    multiples = [plus(literal(b"a" * n)) for n in others]
    rng = seeded(f"excluding {others}")
    for first, second in itertools.permutations((plus(literal(b"aaa")), seq(A, threes)), 2):
        nothing = and_(multiples[0], first, *multiples[1:], second)
        check(nothing, rng, 1)
        check(alt(seq(nothing, B), seq(nothing, counted(AB, (2, 3))), literal(b"ab")), rng, scaled(6))
    alive = and_(threes, plus(literal(b"aaaa")), plus(literal(b"a" * 7)), not_(literal(b"a" * 84)))
    check(seq(alive, B), rng, scaled(6))


def test_two_counts() -> None:
    rng = seeded("two counts")
    for _ in range(scaled(30)):
        first, second = rng.choice(BOUNDS), rng.choice(BOUNDS)
        check(and_(counted(AB, first), counted(LONG_CHARACTER, second)), rng, 4)


@pytest.mark.parametrize("terminator", [b"a", b"b", b"cc", b"ca"])
def test_what_ends_the_count_may_look_like_an_item(terminator: bytes) -> None:
    rng, end = seeded(f"terminator {terminator!r}"), literal(terminator)
    for pattern, bounds in itertools.product(PATTERNS[:4], ((0, 2), (18, 20))):
        check(and_(seq(pattern, end), seq(repeat(LONG_CHARACTER, *bounds), end)), rng, 4)


def test_the_count_of_one_rule_is_not_another_rules() -> None:
    """Two strings in a row, the first part of two readings with different counts."""
    rng = seeded("in a row")
    words, many = and_(seq(plus(A), C), counted(AB, (0, 18))), and_(seq(star(AB), C), counted(AB, (17, 20)))
    for root in (seq(words, many), alt(words, many), star(alt(seq(words, A), many)), repeat(seq(words, B), 2, 40)):
        check(root, rng, scaled(12))


def test_exact_lengths_of_a_pattern_that_admits_few() -> None:
    rng = seeded("few")
    for count in (17, 18, 19, 60, 61):
        check(and_(seq(star(seq(AB, AB, AB)), C), counted(AB, (count, count))), rng, scaled(6))


CHARACTER_VOCAB = vocabularies.of(
    *vocabularies.strings(b"ab\xc3\xa9.", 2),
    *("éa", "éé", "ééé", "é日é", "日日", "aéaé", "\xa0\xa0", "日\u2003a"),
    *(f"{'é' * count}." for count in range(1, 8)),
)


@pytest.mark.parametrize("length", [2, 3])
def test_an_item_may_end_inside_a_character(length: int) -> None:
    """Whole characters beside a count of their bytes: each counts as long as it is."""
    rng = seeded(f"inside {length}")
    lead = byte_range(0xC2, 0xDF) if length == 2 else byte_range(0xE1, 0xEC)
    characters = alt(
        byte_range(0, ord("-")), byte_range(ord("/"), 0x7F), seq(lead, *[byte_range(0x80, 0xBF)] * (length - 1))
    )
    no_dot = alt(byte_range(0, ord("-")), byte_range(ord("/"), 0xFF))
    for bounds in ((3, 6), (0, 18), (17, -1)):
        both = and_(seq(star(characters), literal(b".")), seq(repeat(no_dot, *bounds), literal(b".")))
        language = Language(grammar(both))
        walk(compile_fresh(language.grammar, CHARACTER_VOCAB), language, CHARACTER_VOCAB, rng, scaled(8))


HOSTILE = {
    "many lengths far apart": (star(alt(*[repeat(A, p, p) for p in (89, 97, 101)])), 100_000, 100_000),
    "a subset construction that explodes": (seq(star(AB), A, repeat(AB, 60, 60)), 90, 200),
    "an operand that is large when spelled out": (repeat(seq(A, B), 200_000, 200_000), 400_000, 400_000),
    "no length at all": (star(literal(b"aa")), 99_999, 99_999),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_patterns_end_in_an_answer_or_a_typed_error(name: str) -> None:
    pattern, minimum, maximum = HOSTILE[name]
    both = and_(seq(pattern, C), counted(bytes_in(b"abc" if "spelled" in name else b"ab"), (minimum, maximum)))
    try:
        matcher = maskwright.GrammarMatcher(compile_fresh(grammar(both), VOCAB))
        bitmask = maskwright.allocate_token_bitmask(1, VOCAB.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
        matcher.accept_string("a" * 50)
        matcher.fill_next_token_bitmask(bitmask)
    except (maskwright.LimitError, maskwright.UnsatisfiableError):
        pass


def test_far_from_the_bounds_the_count_does_not_matter() -> None:
    """As many masks as the pattern has states, not as the count has values."""
    letters = byte_range(ord("a"), ord("c"))
    both = and_(seq(plus(letters), literal(b".")), seq(repeat(letters, 0, 5_000), literal(b".")))
    compiled = compile_fresh(grammar(both), VOCAB)
    matcher = maskwright.GrammarMatcher(compiled)
    bitmask = maskwright.allocate_token_bitmask(1, VOCAB.vocab_size)
    memory = []
    for _ in range(40):
        assert matcher.accept_string("ab" * 10)
        matcher.fill_next_token_bitmask(bitmask)
        memory.append(compiled.memory_size_bytes)
    assert memory[-1] - memory[1] < 40 * 1_000
