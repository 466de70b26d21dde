"""Lists of which no two elements may have the same text: every mask bit and every answer, against the oracle."""

from __future__ import annotations

import random

import pytest

import maskwright
from maskwright import ir
from maskwright.ir import (
    ANY_BYTE,
    EMPTY,
    UNBOUNDED,
    Expr,
    GrammarIR,
    alt,
    and_,
    bytes_in,
    distinct,
    literal,
    not_,
    optional,
    plus,
    ref,
    repeat,
    seq,
    star,
    tokens,
)
from oracle.comparing import compare_with_oracle, compile_fresh, scaled, seeded
from oracle.grammars import AB, A, B, grammar
from oracle.recognizer import matches
from oracle.vocabularies import SMALL, of, random_vocab, strings

COMMA, OPEN, CLOSE = literal(b","), literal(b"["), literal(b"]")
LISTS = of(
    *strings(b"ab,[]", 1), "[a", "[ab,", ",a", ",b", "a,b", "a,a", "b,ab", "ab]", ",ab]", "a]", "aa", "ba", "b,b,",
    "],[", "[a,b]", "[[a", "a]]", ",a,", stop=(b"</s>",), padding=3,
)  # fmt: skip
NAME = plus(AB)


def listed(element: Expr, minimum: int = 0, maximum: int = UNBOUNDED) -> Expr:
    return seq(OPEN, distinct(element, COMMA, minimum, maximum), CLOSE)


INNER = seq(OPEN, optional(seq(AB, star(seq(COMMA, AB)))), CLOSE)  # with the separator of the list around it
SHORT = seq(OPEN, optional(seq(A, COMMA)), AB, CLOSE)

CHOSEN = [
    grammar(listed(INNER)),
    grammar(listed(alt(NAME, INNER), 2)),
    grammar(listed(SHORT, 3, 4)),
    grammar(listed(SHORT, 4)),
    grammar(listed(seq(optional(seq(A, COMMA)), B))),
    grammar(listed(NAME)),
    grammar(listed(AB)),
    grammar(listed(AB, 2)),
    grammar(listed(AB, 3)),
    grammar(listed(AB, 1, 1)),
    grammar(listed(NAME, 2, 3)),
    grammar(listed(repeat(AB, 1, 2))),
    grammar(listed(repeat(AB, 1, 2), 6)),
    grammar(listed(repeat(AB, 1, 2), 7)),
    grammar(listed(repeat(AB, 1, 2), 5, 5)),
    grammar(listed(alt(literal(b"ab"), literal(b"aba"), B))),
    grammar(listed(alt(A, seq(A, plus(B))))),
    grammar(listed(seq(AB, CLOSE))),
    grammar(listed(and_(NAME, not_(literal(b"ab"))))),
    grammar(listed(repeat(AB, 2, 40), 1, 20)),
    grammar(distinct(NAME, COMMA, 1, UNBOUNDED)),
    grammar(distinct(AB, EMPTY, 1, UNBOUNDED)),
    grammar(distinct(NAME, optional(COMMA), 1, 3)),
    grammar(distinct(repeat(AB, 1, 2), star(COMMA), 1, 3)),
    grammar(distinct(AB, AB, 1, UNBOUNDED)),
    grammar(seq(distinct(NAME, COMMA, 1, UNBOUNDED), CLOSE, distinct(NAME, COMMA, 1, 2))),
    grammar(star(seq(listed(AB), COMMA))),
    grammar(seq(OPEN, distinct(NAME, seq(COMMA, optional(ref(1))), 1, UNBOUNDED), CLOSE), seq(OPEN, listed(B), CLOSE)),
    grammar(seq(OPEN, optional(ref(0)), distinct(AB, COMMA, 1, UNBOUNDED), CLOSE)),
    grammar(alt(listed(AB), seq(OPEN, star(AB), CLOSE))),
    grammar(alt(listed(NAME), listed(A), seq(OPEN, NAME, COMMA))),
    grammar(distinct(alt(A, literal(b"a,a"), literal(b"a,b")), COMMA, 1, UNBOUNDED)),
    grammar(listed(seq(B, star(A), B))),
    grammar(seq(star(A), distinct(plus(A), COMMA, 1, UNBOUNDED), star(B))),
    grammar(seq(OPEN, distinct(NAME, seq(COMMA, optional(tokens([3]))), 1, UNBOUNDED), CLOSE)),
    grammar(seq(OPEN, distinct(NAME, repeat(COMMA, 1, 20), 1, UNBOUNDED), CLOSE)),
    # Names with values: what stands between two names is a value, and another one follows the last name.
    *[
        grammar(
            seq(OPEN, distinct(names, seq(COMMA, ref(1), COMMA), minimum, maximum), COMMA, ref(1), CLOSE),
            alt(B, seq(OPEN, inner, CLOSE)),
        )
        for names, minimum, maximum in ((NAME, 2, UNBOUNDED), (AB, 1, UNBOUNDED), (plus(A), 2, 3))
        for inner in (ref(1), distinct(AB, COMMA, 1, UNBOUNDED), A)
    ],
]


@pytest.mark.parametrize("g", CHOSEN, ids=lambda g: g.rules[0].body.dump()[:60])
def test_chosen_grammars(g: GrammarIR) -> None:
    rng = seeded(g.dump())
    for vocab in (LISTS, SMALL):
        compare_with_oracle(g, vocab, rng, steps=12, walks=3)


def test_the_oracle_by_enumeration() -> None:
    """Of all short texts, a list of at most three distinct elements takes just those that look like one and are."""
    g = grammar(distinct(NAME, COMMA, 2, 3))
    for text in strings(b"ab,", 7):
        parts = text.split(b",")
        is_list = 2 <= len(parts) <= 3 and all(parts) and len(set(parts)) == len(parts)
        assert matches(g, text) == is_list, text


def random_list(rng: random.Random) -> Expr:
    element = rng.choice(
        (NAME, AB, repeat(AB, 1, 2), alt(A, literal(b"ab"), literal(b"abb")), seq(A, star(B)), repeat(AB, 1, 3))
    )
    if rng.random() < 0.2:
        element = and_(element, not_(rng.choice((A, literal(b"ab"), seq(A, NAME)))))
    separator = rng.choice((COMMA, COMMA, seq(COMMA, optional(COMMA)), B, alt(COMMA, CLOSE), optional(COMMA)))
    minimum = rng.choice((0, 1, 1, 2, 3))
    if separator == optional(COMMA):  # as many ways to read a text as to cut it into pieces
        return distinct(AB, separator, minimum, rng.choice((UNBOUNDED, 3)))
    return distinct(element, separator, minimum, rng.choice((UNBOUNDED, UNBOUNDED, minimum, minimum + 1, 4)))


def random_body(rng: random.Random, depth: int) -> Expr:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return random_list(rng)
    if kind < 0.5:
        return rng.choice((A, B, NAME, literal(b"ab"), EMPTY, CLOSE))
    if kind < 0.6:
        return ref(rng.randrange(2))
    inner = [random_body(rng, depth - 1) for _ in range(2)]
    return seq(*inner) if kind < 0.8 else alt(*inner) if kind < 0.92 else repeat(seq(OPEN, inner[0]), 0, UNBOUNDED)


def test_random_grammars() -> None:
    for i in range(scaled(200)):
        rng = seeded(f"distinct {i}")
        g = grammar(*(alt(random_body(rng, 3), literal(b"b")) for _ in range(2)))
        try:
            compare_with_oracle(g, rng.choice((LISTS, SMALL, random_vocab(rng))), rng, steps=7, walks=3)
        except maskwright.LimitError as error:
            assert error.limit == "left_recursive_repetition"  # noqa: PT017


def test_too_many_ways_to_cut_a_text_into_distinct_elements() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(distinct(NAME, EMPTY, 1, UNBOUNDED)), LISTS))
    with pytest.raises(maskwright.LimitError):
        matcher.accept_string("abbabaabbaababbabaababbaabbabaababbabaabbaababba")


def test_lists_of_words() -> None:
    """Letters that are many, so that masks are taken over whole and subtrees are passed over."""
    words = of(
        *strings(b"abcde", 2), "abcde", '"', '","', '"]', 'e"', 'abc",', '["', *map(chr, range(0x20, 0x7F)), padding=2
    )
    quote = literal(b'"')
    string = seq(quote, star(ir.byte_set(ir.ALL_BYTES & ~(1 << ord('"')))), quote)
    short = seq(quote, repeat(bytes_in(b"abcdefgh"), 0, 2), quote)
    rng = seeded("words")
    for element in (string, short, seq(quote, plus(ANY_BYTE), quote)):
        for _ in range(scaled(3)):
            compare_with_oracle(grammar(listed(element)), words, rng, steps=10, walks=3)


LETTERS, QUOTE = bytes_in(bytes(range(ord("a"), ord("z") + 1))), literal(b'"')
STRING = seq(QUOTE, star(LETTERS), QUOTE)
ENDLESS = (
    STRING,
    seq(QUOTE, star(alt(LETTERS, seq(literal(b","), QUOTE))), QUOTE),  # with what may also be its end
    plus(LETTERS),
    alt(plus(LETTERS), STRING, AB),
    alt(STRING, seq(QUOTE, CLOSE, star(alt(LETTERS, COMMA)), CLOSE)),
)


@pytest.mark.parametrize("element", ENDLESS, ids=lambda element: element.dump()[:40])
def test_masks_of_one_set_serve_others(element: Expr) -> None:
    """Endlessly many elements of few letters, so that some come again; tokens end one and begin others."""
    quoted = of(
        *strings(b'ab",', 2), '","', '"a"', '","a', '","a"', 'a",', 'a","', '"","', '"","b', '","",', '","a","', 'a"]',
        'ab"', "a,", ",a,", "a,b", "a,a", "a,b,", "a,b,a", ",a]", "[", "]", '["', '["a",', '[""', '["","a"', '"],["a',
        "],", stop=(b"</s>",), padding=2,
    )  # fmt: skip
    rng = seeded(element.dump())
    for body in (
        listed(element),
        listed(element, 2, 3),
        seq(OPEN, distinct(element, seq(COMMA, optional(COMMA)), 1, UNBOUNDED), CLOSE),
        seq(OPEN, distinct(element, seq(COMMA, star(ref(1))), 1, UNBOUNDED), CLOSE),
        seq(OPEN, distinct(element, seq(star(B), COMMA), 1, UNBOUNDED), COMMA, distinct(element, COMMA, 1, 2), CLOSE),
        star(seq(listed(element), COMMA)),
    ):
        compare_with_oracle(grammar(body, seq(A, COMMA)), quoted, rng, steps=12, walks=3)
